// Sources made to break a parser: each is answered within a second, by an error or a program, without deep recursion.
#include <catch2/catch.hpp>
#include <ctime>
#include <random>
#include <thread>

#include "grammar/parser.h"

using namespace tercet;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double seconds_allowed = 20;
constexpr size_t scale = 10;  // smaller texts: sanitizers look for other faults than slowness
#else
constexpr double seconds_allowed = 1;
constexpr size_t scale = 1;
#endif

std::string repeat(std::string_view text, size_t n) {
  std::string out;
  out.reserve(text.size() * n);
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

/// Kind of the first diagnostic, "" for none.
std::string outcome(const std::string& text) {
  SourceMap sources;
  const SourceFile& file = sources.add("t.tct", text);
  std::clock_t begin = std::clock();  // processor time: other work on the machine does not count
  std::string kind;
  {
    ParseResult r = parse(file);
    kind = r.diagnostics.empty() ? "" : name_of(r.diagnostics[0].kind);
    for (const Diagnostic& d : r.diagnostics) render(d, sources);
  }
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < seconds_allowed);
  return kind;
}

constexpr size_t ten_thousand = 10'000, hundred_thousand = 100'000 / scale, million = 1'000'000 / scale;

}  // namespace

TEST_CASE("10,000 nested brackets", "[grammar][limits]") {
  for (auto [open, close] : {std::pair{"(", ")"},
                             {"[", "]"},
                             {"{", "}"},
                             {"f(", ")"},
                             {"x[", "]"},
                             {"([{", "}])"},
                             {"(x => ", ")"},
                             {"if a {", "}"},
                             {"fn f(", ") = 1"},
                             {"let (", ")"},
                             {"jit(", ")"}}) {
    INFO(open);
    CHECK(outcome(repeat(open, ten_thousand) + repeat(close, ten_thousand)) == "limit");
    CHECK(outcome(repeat(open, ten_thousand)) == "limit");
    CHECK(outcome(repeat(close, ten_thousand)) == "syntax");
  }
  CHECK(outcome(repeat("([)]{", ten_thousand)) == "syntax");
  CHECK(outcome(repeat("vmap[", hundred_thousand)) == "limit");
}

TEST_CASE("brackets nest up to the bound", "[grammar][limits]") {
  CHECK(outcome(repeat("(", 200) + "x" + repeat(")", 200)) == "");
  CHECK(outcome(repeat("(", 201) + "x" + repeat(")", 201)) == "limit");
  CHECK(outcome(repeat("f(", 200) + "x" + repeat(")", 200)) == "");
  CHECK(outcome(repeat("fn f() {", 100) + repeat("}", 100)) == "");
}

TEST_CASE("100,000 operators in a row", "[grammar][limits]") {
  for (const char* op : {"+", "-", "*", "/", "//", "%", "@", "|>", "and", "or", "|", "^", "&", "<<", ">>"}) {
    INFO(op);
    CHECK(outcome("x" + repeat(std::string(" ") + op + " x", hundred_thousand)) == "");
  }
  for (const char* op : {"==", "<", ".."})
    CHECK(outcome("x" + repeat(std::string(" ") + op + " x", hundred_thousand)) == "syntax");
  for (const char* prefix : {"-", "- ", "+", "~", "not ", "x=>", "()=>", "vmap ", "jit vmap[0] ", "x**"}) {
    INFO(prefix);
    CHECK(outcome(repeat(prefix, hundred_thousand) + "x") == "limit");
  }
  for (const char* suffix : {".a", "(x)", "[0]", "()", ".f()"}) {
    INFO(suffix);
    CHECK(outcome("x" + repeat(suffix, hundred_thousand)) == "limit");
  }
  CHECK(outcome("if a {b}" + repeat(" else if a {b}", hundred_thousand)) == "limit");
  CHECK(outcome("if a {b}" + repeat(" else if a {b}", 200)) == "");
  CHECK(outcome("let a = b" + repeat(" = b", hundred_thousand)) == "syntax");
}

TEST_CASE("every level of precedence in every bracket", "[grammar][limits]") {
  CHECK(outcome(repeat("(a or b and c == d | e ^ f & g << h + i * -j ** ", 190) + "1" + repeat(")", 190)) == "limit");
  CHECK(outcome(repeat("(a or b and c == d | e ^ f & g << h + i * -j ** ", 15) + "1" + repeat(")", 15)) == "");
}

TEST_CASE("long sources", "[grammar][limits]") {
  CHECK(outcome("[" + repeat("1,", million / 2) + "]") == "");
  CHECK(outcome("1" + repeat("+1", million / 2)) == "");
  CHECK(outcome(repeat("a", million)) == "");
  CHECK(outcome(repeat("let x = f(a, b) + 1;", million / 20)) == "");
  CHECK(outcome(repeat("let x = f(a, b) + 1\n", million / 20)) == "");
  CHECK(outcome(repeat("let x: f32 = 1;", million / 15)) == "syntax");
  CHECK(outcome(repeat("if x:;", million / 6)) == "syntax");
  CHECK(outcome(repeat("if x:\n  y;z\n", million / 12)) == "syntax");
  CHECK(outcome(repeat("a && b ", million / 7)) == "syntax");
  CHECK(outcome("\"" + repeat("中", million / 3) + "\"") == "");
  CHECK(outcome(repeat("é", million / 2)) == "");
  CHECK(outcome(repeat("'", million)) == "syntax");
  CHECK(outcome(repeat("\"", million + 1)) == "syntax");
  CHECK(outcome(repeat("?", million)) == "syntax");
  CHECK(outcome(repeat(";", million)) == "");
  CHECK(outcome(repeat(".", million)) == "syntax");
  CHECK(outcome(repeat("1.", million / 2)) == "syntax");
  CHECK(outcome(repeat("1", million)) == "syntax");
  CHECK(outcome(std::string(million, '\0')) == "syntax");
  CHECK(outcome("/*" + repeat("x ", million / 2)) == "syntax");
}

TEST_CASE("formatted strings with many braces", "[grammar][limits]") {
  CHECK(outcome("f\"" + repeat("{", ten_thousand) + "\"") == "");
  CHECK(outcome("f\"" + repeat("{", ten_thousand + 1) + "\"") == "syntax");
  CHECK(outcome("f\"" + repeat("{x}", hundred_thousand) + "\"") == "");
  CHECK(outcome("f\"" + repeat("{", ten_thousand) + repeat("x", 9) + repeat("}", ten_thousand) + "\"") == "");
  CHECK(outcome("f\"{" + repeat("(", ten_thousand) + "}\"") == "limit");
}

TEST_CASE("any text is answered", "[grammar][limits]") {
  const std::vector<std::string> pieces{
      "let ",    "fn ",   "if ",      "else ", "for ", "in ",  "jit ",  "vmap", "(",  ")",  "[",   "]",  "{",
      "}",       ",",     ";",        "\n",    "=",    "==",   "=>",    "->",   "|>", "..", "...", ".",  ":",
      "+",       "-",     "**",       "//",    "not ", "and ", "x",     "y ",   "_",  "1",  "1.5", "0x", "\"",
      "\"a\"",   "f\"",   "f\"{x}\"", "r\"",   "\\",   "'",    "#",     "##",   "&&", "!",  "?",   "é",  "\xEF\xBB\xBF",
      "return ", "break", "import ",  "as ",   "none", "True", "elif ", "def ", "+=", "++", "/*",  "*/", "%",
      "@",       " ",     "\t",       "\r\n"};
  std::mt19937 random(20261130);
  for (int round = 0; round < int(20'000 / scale); ++round) {
    std::string text;
    for (size_t n = random() % 30; n > 0; --n) text += pieces[random() % pieces.size()];
    SourceMap sources;
    ParseResult r = parse(sources.add("t.tct", text));
    for (const Diagnostic& d : r.diagnostics) {
      INFO(text);
      REQUIRE(d.kind != Kind::Internal);
      REQUIRE(d.span.end <= text.size());
      REQUIRE(d.span.begin <= d.span.end);
      REQUIRE(!render(d, sources).empty());
    }
    REQUIRE(r.diagnostics.size() <= 10);
  }
}

TEST_CASE("any bytes are answered", "[grammar][limits]") {
  std::mt19937 random(20261130);
  for (int round = 0; round < int(5'000 / scale); ++round) {
    std::string text;
    for (size_t n = random() % 40; n > 0; --n) text += static_cast<char>(random());
    SourceMap sources;
    for (const Diagnostic& d : parse(sources.add("t.tct", text)).diagnostics) REQUIRE(d.kind != Kind::Internal);
  }
}

TEST_CASE("threads may parse at the same time", "[grammar][limits]") {
  std::vector<std::thread> threads;
  std::vector<size_t> counts(4);
  for (size_t t = 0; t < counts.size(); ++t)
    threads.emplace_back([&counts, t] {
      for (int i = 0; i < 50; ++i) {
        SourceMap sources;
        counts[t] += parse(sources.add("t.tct", "let a = f\"{x}\" |> f(é)\nfn g(x) { x } )")).program.statements.size();
      }
    });
  for (std::thread& t : threads) t.join();
  for (size_t count : counts) CHECK(count == 100);
}
