// Reading files: lines, JSON lines, and what is wrong with malformed ones.
#include "interpreter/runtime/files.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "interpreter/runtime/line_stream.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/unicode.h"

using namespace tercet;

namespace {

/// A file that is there for the length of a test.
struct TemporaryFile {
  explicit TemporaryFile(std::string_view text) {
    path = (std::filesystem::temp_directory_path() / ("tercet_files_test_" + std::to_string(::getpid()))).string();
    write_text(path, text);
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string path;
};

template <class F> std::string failure_of(F f) {
  try {
    f();
  } catch (const Failure& failure) {
    const Diagnostic& d = failure.diagnostics().front();
    return std::string(name_of(d.kind)) + ": " + d.message;
  }
  return "none";
}

std::string lines_shown(std::string_view text) {
  TemporaryFile file(text);
  return format_inside(read_lines(file.path));
}

std::string table_shown(std::string_view text, const std::vector<std::string>& columns = {}) {
  TemporaryFile file(text);
  std::string out;
  for (auto& [name, column] : read_jsonl(file.path, columns))
    out += name + " " + name_of(column.dtype) + " " + format_inside(column) + "; ";
  return out;
}

std::string jsonl_failure(std::string_view text, const std::vector<std::string>& columns = {}) {
  TemporaryFile file(text);
  std::string message = failure_of([&] { read_jsonl(file.path, columns); });
  if (size_t at = message.find(file.path); at != std::string::npos) message.replace(at, file.path.size(), "F");
  return message;
}

}  // namespace

TEST_CASE("lines", "[files]") {
  CHECK(lines_shown("") == "[]");
  CHECK(lines_shown("a") == R"(["a"])");
  CHECK(lines_shown("a\n\nb\r\nlast one without a break") == R"(["a", "", "b", "last one without a break"])");
  CHECK(lines_shown("\xEF\xBB\xBFmark\n") == R"(["mark"])");
  TemporaryFile file("é\n");
  CHECK(format(read_text(file.path)) == "é\n");
}

TEST_CASE("files that cannot be read are an error `io`", "[files]") {
  CHECK(failure_of([] { read_text("/no/such/file"); }) == R"(io: cannot read "/no/such/file": No such file or directory)");
  CHECK(failure_of([] { read_lines("/"); }) == R"(io: cannot read "/": Is a directory)");
  CHECK(failure_of([] { write_text("/no/such/file", ""); }) == R"(io: cannot write "/no/such/file": No such file or directory)");
}

TEST_CASE("malformed UTF-8 names its place", "[files]") {
  TemporaryFile file("good\nb\xC3\xA9\xFFx\n");
  std::string message = failure_of([&] { read_lines(file.path); });
  CHECK(message.find("byte 0xff at line 2, byte 4 of the line (offset 8 in the file)") != std::string::npos);
}

TEST_CASE("an endless file meets the memory limit", "[files]") {
  BudgetScope scope(std::make_shared<MemoryBudget>(8 << 20));
  CHECK(failure_of([] { read_text("/dev/zero"); }).substr(0, 6) == "limit:");
}

TEST_CASE("JSON lines become columns", "[files]") {
  CHECK(table_shown("{\"a\": \"x\", \"n\": 1, \"f\": 1, \"b\": true}\n\n{\"n\": -2, \"f\": 2.5, \"b\": false, \"a\": \"a \\u00e9 text that is long\"}\n") ==
        R"(a str ["x", "a é text that is long"]; n i64 [1, -2]; f f64 [1.0, 2.5]; b bool [true, false]; )");
  CHECK(table_shown("{\"f\": 1.5}\n{\"f\": 2}\n{\"f\": 1e3}") == "f f64 [1.5, 2.0, 1000.0]; ");
  CHECK(table_shown("{\"a\": 1, \"b\": null}\n{\"c\": [], \"a\": 2}", {"a"}) == "a i64 [1, 2]; ");
  CHECK(table_shown("{\"a\": 9223372036854775807}") == "a i64 [9223372036854775807]; ");
}

TEST_CASE("many JSON lines keep their order", "[files]") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "{\"i\": " + std::to_string(i) + ", \"t\": \"text of some length " + std::to_string(i) + "\"}\n";
  TemporaryFile file(text);
  Columns columns = read_jsonl(file.path);
  REQUIRE(columns[0].second.shape[0] == 5000);
  int wrong = 0;
  for (int i = 0; i < 5000; ++i) {
    wrong += columns[0].second.data<int64_t>()[i] != i;
    wrong += columns[1].second.data<StringRef>()[i].view() != "text of some length " + std::to_string(i);
  }
  CHECK(wrong == 0);
  CHECK(jsonl_failure(text + "{\"i\": \"x\", \"t\": \"\"}\n") == R"(io: "F": line 5001 has text under "i", where line 1 has whole number)");
}

TEST_CASE("what is wrong with JSON lines is named with its line", "[files]") {
  CHECK(jsonl_failure("") == R"(io: "F" holds no JSON object to learn the columns from)");
  CHECK(jsonl_failure("{\"a\": 1}\n{\"b\": 1}").find("line 2 has a key \"b\", which the first object does not have") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 1, \"b\": 2}\n\n{\"a\": 1}").find("line 3 has no key \"b\"") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 1}\n{\"a\": \"x\"}").find("line 2 has text under \"a\", where line 1 has whole number") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 1}\n{\"a\": null}").find("line 2 has null under \"a\"") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": [1]}").find("line 1 has an array or object under \"a\"") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 1, \"a\": 2}").find("has the key \"a\" twice") != std::string::npos);
  CHECK(jsonl_failure("[1]").find("line 1 holds no JSON object") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 1}\n[1]").find("line 2 holds no JSON object") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 1} 7").find("line 1") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 99999999999999999999}").find("i64 cannot hold") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 9007199254740993}\n{\"a\": 0.5}").find("cannot hold exactly") != std::string::npos);
  CHECK(jsonl_failure("{\"a\": 1}", {"z"}).find("has no key \"z\"") != std::string::npos);
  for (std::string_view broken : {"{\"a\": ", "{\"a\": tru}", "{\"a\": 1", "{", "{\"a\": 01}", "{\"a\" 1}", "{\"a\": \"\\ud800\"}", "{\"a\": \"x}"}) {
    CAPTURE(broken);
    CHECK(jsonl_failure(broken).substr(0, 3) == "io:");
    CHECK(jsonl_failure("{\"a\": 1}\n" + std::string(broken)).find("line 2") != std::string::npos);
  }
}

TEST_CASE("malformed UTF-8 is replaced when asked", "[files]") {
  // The Unicode Standard, tables 3-8 to 3-11: maximal subparts.
  const std::pair<const char*, const char*> cases[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "????????A"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "????????A"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "?????A??B"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "????A"},
      {"a\xF1\x80\x80\xE1\x80\xC2" "b\x80" "c\x80\xBF" "d", "a???b?c??d"},
      {"\xE4\xB8\xAD\xE4\xB8", "\xE4\xB8\xAD?"}, {"\xF0\x9F\x98\x80\xF0\x9F\x98", "\xF0\x9F\x98\x80?"}, {"\xC3", "?"}, {"", ""}, {"plain", "plain"}};
  for (auto [bytes, marks] : cases) {
    std::string expected;
    for (const char* c = marks; *c; ++c) expected += *c == '?' ? "\xEF\xBF\xBD" : std::string(1, *c);
    CHECK(replace_invalid_utf8(bytes) == expected);
  }
  // A long text whose pieces end inside characters: nothing but the bad byte changes.
  std::string text, expected;
  for (int i = 0; i < 50'000; ++i) text += i == 40'000 ? "\xFF" : "x\xC3\xA9", expected += i == 40'000 ? "\xEF\xBF\xBD" : "x\xC3\xA9";
  CHECK(replace_invalid_utf8(text) == expected);

  TemporaryFile file("\xEF\xBB\xBF" "a,b\nx\xFFy,1\n\xC3,2\n");
  CHECK(format_inside(read_lines(file.path, InvalidBytes::Replace)) == "[\"a,b\", \"x\uFFFDy,1\", \"\uFFFD,2\"]");
  CHECK(format(read_text(file.path, InvalidBytes::Replace)) == "a,b\nx\uFFFDy,1\n\uFFFD,2\n");
  Columns table = read_csv(file.path, ',', true, InvalidBytes::Replace);
  CHECK(format_inside(table[0].second) == "[\"x\uFFFDy\", \"\uFFFD\"]");
  CHECK(format_inside(table[1].second) == "[1, 2]");
  LineChunk chunk = read_line_chunk(file.path, 0, 2, InvalidBytes::Replace);
  CHECK(format_inside(chunk.lines) == "[\"a,b\", \"x\uFFFDy,1\"]");
  CHECK(format_inside(read_line_chunk(file.path, chunk.next, 2, InvalidBytes::Replace).lines) == "[\"\uFFFD,2\"]");
  CHECK(failure_of([&] { read_line_chunk(file.path, 0, 5); }).find("byte 0xff at line 2, byte 2 of the line (offset 8 in the text)") != std::string::npos);
  TemporaryFile json("{\"a\": \"long enough to lie outside \xF0\x9F\x98\"}\n");
  CHECK(format_inside(read_jsonl(json.path, {}, InvalidBytes::Replace)[0].second) == "[\"long enough to lie outside \uFFFD\"]");
}

TEST_CASE("tables written as comma-separated values are read back as they were", "[files]") {
  std::mt19937 random(3);
  const std::string_view pieces[] = {"\"", ",", ";", "\n", "\r", "\r\n", " ", "a", "é", "1", ".", "-", "+", "true", "nan", "e5", "\xEF\xBB\xBF"};
  for (int round = 0; round < 300; ++round) {
    const char separator = ",;\t"[random() % 3];
    const bool header = random() % 2;
    const auto rows = 1 + random() % 4;
    Columns table;
    for (size_t k = 0; k < 1 + random() % 3; ++k) {
      std::vector<std::string> texts(rows);
      for (std::string& t : texts)
        for (size_t n = random() % 4; n > 0; --n) t += pieces[random() % std::size(pieces)];
      std::vector<std::string_view> views(texts.begin(), texts.end());
      table.emplace_back(header && k == 1 ? "a \"b\", c" : "c" + std::to_string(k), Array::strings(views));
    }
    std::vector<double> numbers(rows, 0.1 * static_cast<double>(random() % 1000));
    table.emplace_back("c" + std::to_string(table.size()), Array::vector<double>(numbers));
    TemporaryFile file(csv_text(table, separator, header));
    Columns again = read_csv(file.path, separator, header);
    INFO(csv_text(table, separator, header));
    REQUIRE(again.size() == table.size());
    for (size_t k = 0; k < table.size(); ++k) {
      CHECK(again[k].first == table[k].first);
      const bool text = table[k].second.dtype == DType::Str;
      if (text) CHECK(format_inside(again[k].second) == format_inside(table[k].second));
      else CHECK(format_inside(again[k].second) == format_inside(table[k].second));
    }
  }
}
