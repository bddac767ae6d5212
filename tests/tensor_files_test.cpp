// Files of arrays, tables and lines: what is written is read back; damaged files are errors and nothing worse.
#include <catch2/catch.hpp>

#include <fstream>
#include <random>

#include "interpreter/engine/session.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/byte_stream.h"
#include "interpreter/runtime/files.h"
#include "interpreter/runtime/line_stream.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/subwords.h"
#include "interpreter/runtime/tensor_files.h"
#include "interpreter/runtime/unicode.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace tercet {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// Every prefix of a file, and the file with bytes changed at random: reading ends well or with an error `io` or `limit`.
template <class Read> void survives_damage(const std::string& path, Read read) {
  const std::string good = content_of(path);
  auto attempt = [&](const std::string& bytes) {
    put(path, bytes);
    try {
      read(path);
    } catch (const Failure& failure) {
      const Kind kind = failure.diagnostics()[0].kind;
      CHECK((kind == Kind::Io || kind == Kind::Limit));
      CHECK((kind == Kind::Limit || failure.diagnostics()[0].message.find(path) != std::string::npos));
    }
  };
  for (size_t n = 0; n < good.size(); n += good.size() > 3000 ? 7 : 1) attempt(good.substr(0, n));
  std::mt19937 random(1);
  for (int i = 0; i < 1500; ++i) {
    std::string bad = good;
    for (int k = 0; k < 1 + i % 4; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    attempt(bad);
  }
}

NamedArrays some_arrays() {
  NamedArrays out;
  for (DType t : {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64, DType::F16, DType::F32, DType::F64})
    out.emplace_back(name_of(t), counting(t, {2, 3}));
  out.emplace_back("scalar", counting(DType::F32, {}));
  out.emplace_back("nothing", counting(DType::I32, {0, 4}));
  return out;
}
void require_equal(const NamedArrays& a, const NamedArrays& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].first == b[i].first);
    CHECK(a[i].second.dtype == b[i].second.dtype);
    CHECK(test::same_elements(a[i].second, b[i].second));
  }
}

}  // namespace

TEST_CASE("arrays in files come back", "[files]") {
  test::TemporaryFolder folder;
  const std::string npy = folder.path() + "/a.npy", npz = folder.path() + "/a.npz", st = folder.path() + "/a.safetensors";
  for (auto& [name, array] : some_arrays()) {
    save_npy(npy, array);
    CHECK(test::same_elements(load_npy(npy), array));
  }
  save_npz(npz, some_arrays());
  require_equal(load_npz(npz), some_arrays());
  NamedArrays more = some_arrays();
  more.emplace_back("half", counting(DType::BF16, {3}));
  save_safetensors(st, more);
  require_equal(load_safetensors(st), more);
  CHECK_THROWS_AS(save_npy(npy, counting(DType::BF16, {3})), Failure);
}

TEST_CASE("damaged files of arrays are errors", "[files]") {
  test::TemporaryFolder folder;
  const std::string npy = folder.path() + "/a.npy", npz = folder.path() + "/a.npz", st = folder.path() + "/a.safetensors";
  save_npy(npy, counting(DType::F32, {3, 4}));
  survives_damage(npy, load_npy);
  save_npz(npz, {{"a", counting(DType::F32, {3})}, {"b", counting(DType::I8, {2, 2})}});
  survives_damage(npz, load_npz);
  save_safetensors(st, {{"a", counting(DType::F32, {3})}, {"b", counting(DType::I8, {2, 2})}});
  survives_damage(st, load_safetensors);
}

TEST_CASE("compressed text is text, and damage is found", "[files]") {
  test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i * 37 % 101) + " h\xC3\xA9\n";
  for (const char* ending : {".txt", ".txt.gz", ".txt.zst"}) {
    const std::string path = folder.path() + "/a" + ending;
    write_text(path, text);
    CHECK(read_lines(path).count() == 300);
    CHECK(read_text(path).data<StringRef>()->view() == text);
    if (std::string(ending) != ".txt") {
      CHECK(content_of(path).size() < text.size() / 2);
      survives_damage(path, [](const std::string& p) { read_lines(p); });
    }
  }
}

TEST_CASE("lines in chunks are the lines", "[files]") {
  test::TemporaryFolder folder;
  std::string text = "\xEF\xBB\xBF" "first\r\n\nthird";
  for (int i = 0; i < 5000; ++i) text += "\nline number " + std::to_string(i);
  for (const char* ending : {".txt", ".txt.gz", ".txt.zst"})
    for (int64_t count : {1, 3, 1000, 100000}) {
      const std::string path = folder.path() + "/a" + ending;
      write_text(path, text);
      Array whole = read_lines(path);
      int64_t at = 0;
      for (int64_t place = 0; place >= 0;) {
        LineChunk chunk = read_line_chunk(path, place, count);
        for (int64_t i = 0; i < chunk.lines.count(); ++i) REQUIRE(chunk.lines.data<StringRef>()[i].view() == whole.data<StringRef>()[at + i].view());
        at += chunk.lines.count();
        place = chunk.next;
      }
      CHECK(at == whole.count());
      CHECK(read_line_chunk(path, 2, 1).lines.data<StringRef>()[0].view() == "third");   // a place that no stream stands at
    }
  const std::string bad = folder.path() + "/bad.txt";
  put(bad, "good\nb\xFF" "d\n");
  CHECK(read_line_chunk(bad, 0, 1).next == 1);
  CHECK_THROWS_WITH(read_line_chunk(bad, 1, 1), Catch::Contains("line 2, byte 2 of the line (offset 6 in the text)"));
  put(bad, "");
  CHECK(read_line_chunk(bad, 0, 1).lines.count() == 0);
}

TEST_CASE("a file is read in the memory of its chunks", "[files]") {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/big.txt.zst";
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "the quick brown fox jumps over the lazy dog, number " + std::to_string(i) + "\n";   // 11 MB
  write_text(path, text);
  SessionOptions options;
  options.memory_bytes = 4 << 20;
  std::string printed;
  options.write = [&](std::string_view out) { printed += out; };
  Session session(options);
  auto ends_well = [&](const std::string& program) { return session.run(session.add_source("test", program)).ok(); };
  CHECK_FALSE(ends_well("len(read_lines(\"" + path + "\"))"));
  REQUIRE(ends_well("var n = 0\nfor lines in stream_lines(\"" + path + "\", 2000) { n += sum(lengths(tokenize(lines))) }\nprint(n)"));
  CHECK(printed == "2200000\n");
}

TEST_CASE("vocabularies in files keep their entry for unknown tokens", "[files]") {
  test::TemporaryFolder folder;
  Session session(SessionOptions{});
  auto ends_well = [&](const std::string& program) { return session.run(session.add_source("test", program)).ok(); };
  for (const char* unknown : {"", ", unknown=\"<unk>\""}) {
    const std::string path = "\"" + folder.path() + "/voc.jsonl\"", all = std::string("let v = vocab([\"b\", \"a\", \"a\"]") + unknown + ")\n";
    REQUIRE(ends_well(all + "save_vocab(v, " + path + ")"));
    REQUIRE(ends_well("let w = load_vocab(" + path + ")"));
    CHECK(ends_well(std::string("let x = [\"z\", \"b\", \"a\"]\nassert(all(encode(w, x) == encode(v, x)) and len(encode(w, x)) == ") + (*unknown ? "3" : "2") + ", \"another vocabulary\")"));
  }
}

TEST_CASE("tables of comma-separated values", "[files]") {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.csv";
  put(path, "name,n,x,ok,id\r\nann,1,1.5,true,\"1\"\r\n\r\n\"b, \"\"c\"\"\nd\",-2,2,false,\"2\"\n");
  Columns t = read_csv(path, ',', true);
  REQUIRE(t.size() == 5);
  CHECK(t[0].second.data<StringRef>()[1].view() == "b, \"c\"\nd");
  CHECK(t[1].second.dtype == DType::I64);
  CHECK(t[1].second.data<int64_t>()[1] == -2);
  CHECK(t[2].second.dtype == DType::F64);
  CHECK(t[3].second.dtype == DType::Bool);
  CHECK(t[4].second.dtype == DType::Str);   // quoted numbers are texts
  survives_damage(path, [](const std::string& p) { read_csv(p, ',', true); });
  for (auto [bytes, what] : {std::pair{"a,b\n1\n", "line 2: 1 fields, and the first line has 2"}, std::pair{"a,a\n1,2\n", "line 1: two columns are called \"a\""},
                             std::pair{"a\n\"x\n", "line 2: a quoted field is never closed"}, std::pair{"a\nx\"y\n", "line 2: a quote inside a field"},
                             std::pair{"a\n\"x\"y\n", "line 2: text behind the closing quote"}}) {
    put(path, bytes);
    CHECK_THROWS_WITH(read_csv(path, ',', true), Catch::Contains(what));
  }
}

TEST_CASE("rows as JSON lines come back", "[files]") {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.jsonl";
  std::vector<std::string_view> texts{"a \"b\" \\ \n\t\x01", "", "h\xC3\xA9"};
  Columns columns{{"text", Array::strings(texts)}, {"n", counting(DType::I64, {3})}};
  write_text(path, json_lines(columns));
  Columns back = read_jsonl(path);
  REQUIRE(back.size() == 2);
  for (int64_t i = 0; i < 3; ++i) CHECK(back[0].second.data<StringRef>()[i].view() == texts[static_cast<size_t>(i)]);
  CHECK(test::same_elements(back[1].second, columns[1].second));
}

TEST_CASE("any bytes are text when what is wrong is replaced", "[files]") {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/mixed.txt";
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    const char* const parts[] = {"a", "\n", "\r\n", "\xC3", "\xA9", "\xE4\xB8", "\xAD", "\xF0\x9F", "\x98\x80", "\xFF", "\"", ",", "\xEF\xBB\xBF", "1"};
    for (uint32_t n = random() % 40; n > 0; --n) bytes += parts[random() % std::size(parts)];
    put(path, bytes);
    Array lines = read_lines(path, InvalidBytes::Replace);
    CHECK(is_valid_utf8(read_text(path, InvalidBytes::Replace).data<StringRef>()->view()));
    int64_t streamed = 0;
    for (int64_t at = 0; at >= 0;) {
      LineChunk chunk = read_line_chunk(path, at, 1 + round % 3, InvalidBytes::Replace);
      for (int64_t i = 0; i < chunk.lines.count(); ++i, ++streamed) {
        REQUIRE(streamed < lines.count());
        CHECK(chunk.lines.data<StringRef>()[i].view() == lines.data<StringRef>()[streamed].view());
      }
      at = chunk.next;
    }
    CHECK(streamed == lines.count());
    try {
      read_csv(path, ',', true, InvalidBytes::Replace);
    } catch (const Failure& failure) {
      CHECK(failure.diagnostics()[0].kind == Kind::Io);
    }
  }
}

TEST_CASE("damaged models of sub-words are an error", "[files]") {
  const std::string good = content_of("tests/data/subwords_unigram.model");
  REQUIRE(good.size() > 1000);
  std::mt19937 random(3);
  auto attempt = [](const std::string& bytes) {
    Array a = Array::make(DType::U8, {static_cast<int64_t>(bytes.size())});
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(a.raw()));
    std::string_view text = "the library for python";
    try {
      encode_subwords(*subword_model(a), Array::strings({&text, 1}));
      return true;
    } catch (const Failure& failure) {
      CHECK(failure.diagnostics()[0].kind == Kind::Value);
      return false;
    }
  };
  CHECK(attempt(good));
  CHECK_FALSE(attempt(""));
  CHECK_FALSE(attempt("no model"));
  for (int round = 0; round < 200; ++round) {
    std::string bytes = good;
    if (round % 4 == 0) bytes.resize(random() % bytes.size());
    for (int k = 0; k < 3 && !bytes.empty(); ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    attempt(bytes);
  }
}

}  // namespace tercet
