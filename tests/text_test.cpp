// Text operations: case, splitting, tokens, vocabularies, rows.
#include "interpreter/runtime/text.h"

#include <catch2/catch.hpp>
#include <random>

#include "interpreter/runtime/print.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/unicode.h"
#include "interpreter/runtime/vocab.h"

using namespace tercet;

namespace {

Array texts(std::initializer_list<std::string_view> list) {
  return Array::strings(std::span<const std::string_view>(list.begin(), list.size()));
}
Array one(std::string_view text) { return texts({text}).row(0); }
std::string shown(const Array& a) { return format_inside(a); }

template <class F> Kind kind_of(F f) {
  try {
    f();
  } catch (const Failure& failure) {
    return failure.diagnostics().front().kind;
  }
  return Kind::Internal;
}

}  // namespace

TEST_CASE("UTF-8 is checked as RFC 3629 says", "[text]") {
  for (std::string_view good : {"", "a", "é", "中文", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"})
    CHECK(is_valid_utf8(good));
  struct Bad { std::string_view text; size_t at; };
  for (Bad bad : {Bad{"\x80", 0}, Bad{"ab\xC3", 2}, Bad{"\xC0\x80", 0}, Bad{"a\xC1\xBF", 1}, Bad{"\xE0\x80\x80", 0},
                  Bad{"\xED\xA0\x80", 0}, Bad{"é\xF5\x80\x80\x80", 2}, Bad{"\xF4\x90\x80\x80", 0}, Bad{"\xE4\xB8", 0},
                  Bad{"\xF0\x9F\x98", 0}, Bad{"a\xFF", 1}})
    CHECK(find_invalid_utf8(bad.text) == bad.at);
}

TEST_CASE("case mapping goes beyond ASCII", "[text]") {
  CHECK(shown(upper(texts({"héllo wörld", "", "a b c", "straße", "ﬁn", "ŉ", "\u0390"}))) ==
        "[\"HÉLLO WÖRLD\", \"\", \"A B C\", \"STRASSE\", \"FIN\", \"ʼN\", \"\u0399\u0308\u0301\"]");
  CHECK(shown(lower(texts({"ÀÉ Straße", "İ", "ΟΔΟΣ ΟΣΑ Σ", "ПРИВЕТ", "ALREADY plain ASCII TEXT"}))) ==
        R"(["àé straße", "i̇", "οδος οσα σ", "привет", "already plain ascii text"])");
  CHECK(lower(one("ABC")).rank() == 0);
}

TEST_CASE("case mapping of every code point gives valid text", "[text]") {
  int wrong = 0;
  for (uint32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text, out;
    append_code_point(text, c);
    append_lower(out, text);
    append_upper(out, text);
    wrong += !is_valid_utf8(out) || out.empty();
  }
  CHECK(wrong == 0);
}

TEST_CASE("strip, replace and searches", "[text]") {
  CHECK(shown(strip(texts({"  a b \n", "", " \t ", "\u00a0x\u3000", "é"}))) == R"(["a b", "", "", "x", "é"])");
  CHECK(shown(replace(texts({"a-b-c", "", "--", "a long text - with dashes"}), "-", " → ")) ==
        R"(["a → b → c", "", " →  → ", "a long text  →  with dashes"])");
  CHECK(shown(replace(texts({"aaa"}), "aa", "b")) == R"(["ba"])");
  CHECK(kind_of([] { replace(texts({"a"}), "", "b"); }) == Kind::Value);
  Array t = texts({"héllo", "", "a longer text than twelve bytes"});
  CHECK(shown(starts_with(t, "hé")) == "[true, false, false]");
  CHECK(shown(ends_with(t, "bytes")) == "[false, false, true]");
  CHECK(shown(contains(t, "")) == "[true, true, true]");
  CHECK(shown(find(t, "l")) == "[2, -1, 2]");
  CHECK(shown(text_lengths(t)) == "[5, 0, 31]");
  CHECK(shown(matches(t, "^h.llo$")) == "[true, false, false]");
  CHECK(kind_of([&] { matches(t, "(a"); }) == Kind::Value);
}

TEST_CASE("words are runs of letters, marks and digits with inner apostrophes", "[text]") {
  CHECK(shown(tokenize(texts({"the cat sat", "a dog", ""}), "words")) == R"([["the", "cat", "sat"], ["a", "dog"], []])");
  CHECK(shown(tokenize(one("It's 中文, e-mail 3.5x don''t 'quoted' rock’n’roll"), "words")) ==
        R"(["It's", "中", "文", "e", "mail", "3", "5x", "don", "t", "quoted", "rock’n’roll"])");
  CHECK(shown(tokenize(one("ひらカタカナ हिन्दी e\u0301 x_y"), "words")) == "[\"ひ\", \"ら\", \"カタカナ\", \"हिन्दी\", \"e\u0301\", \"x\", \"y\"]");
  CHECK(shown(tokenize(one("!?"), "words")) == "[]");
  Array long_word = tokenize(texts({"an extraordinarily-long antidisestablishmentarianism"}), "words");
  CHECK(shown(long_word) == R"([["an", "extraordinarily", "long", "antidisestablishmentarianism"]])");
}

TEST_CASE("characters, bytes and patterns", "[text]") {
  CHECK(shown(tokenize(texts({"aé", ""}), "chars")) == R"([["a", "é"], []])");
  CHECK(shown(tokenize(texts({"aé", ""}), "bytes")) == "[[97, 195, 169], []]");
  CHECK(shown(code_points(texts({"aé😀", ""}))) == "[[97, 233, 128512], []]");
  CHECK(shown(text_bytes(one("é"))) == "[195, 169]");
  CHECK(shown(tokenize(one("a1 b22 c"), R"(\d+)")) == R"(["1", "22"])");
  CHECK(shown(tokenize(one("k=v; x=y"), R"((\w+)=)")) == R"(["k", "x"])");
  CHECK(shown(tokenize(one("abéab"), "b*")) == R"(["b", "b"])");
  CHECK(kind_of([] { tokenize(one("a"), "["); }) == Kind::Value);
  CHECK(shown(split(texts({"a,b,,c", "", ","}), ",")) == R"([["a", "b", "", "c"], [""], ["", ""]])");
  CHECK(shown(join(split(texts({"a,b,,c", ""}), ","), ", ")) == R"(["a, b, , c", ""])");
  CHECK(shown(text_from_code_points(code_points(texts({"aé😀", ""})))) == R"(["aé😀", ""])");
  CHECK(shown(text_from_bytes(text_bytes(texts({"aé", ""})))) == R"(["aé", ""])");
  Array bad = Array::vector<uint8_t>(std::vector<uint8_t>{0xC3});
  CHECK(kind_of([&] { text_from_bytes(bad); }) == Kind::Value);
  Array surrogate = Array::vector<int32_t>(std::vector<int32_t>{0xD800});
  CHECK(kind_of([&] { text_from_code_points(surrogate); }) == Kind::Value);
}

TEST_CASE("many rows give on several threads what one row gives", "[text]") {
  std::vector<std::string> owned;
  for (int i = 0; i < 20000; ++i) owned.push_back("Ünique TEXT number " + std::to_string(i) + std::string(static_cast<size_t>(i % 50), 'X'));
  std::vector<std::string_view> views(owned.begin(), owned.end());
  Array all = Array::strings(views);
  Array low = lower(all), tokens = tokenize(low, "words");
  CHECK(tokens.ragged->offsets[0].back() == 80000);
  int wrong = 0;
  for (int i = 0; i < 20000; i += 37) {
    wrong += shown(low.row(i)) != shown(lower(one(owned[static_cast<size_t>(i)])));
    wrong += tokens.data<StringRef>()[4 * i + 2].view() != "number";
  }
  CHECK(wrong == 0);
}

TEST_CASE("results keep the text alive that they refer to", "[text]") {
  Array tokens = tokenize(lower(texts({"SOMETHING LONGERTHANTWELVEBYTES"})), "words");
  CHECK(shown(tokens) == R"([["something", "longerthantwelvebytes"]])");
}

TEST_CASE("rows of tokens are a second ragged axis", "[text]") {
  Array lines = split(texts({"a b,c", "d"}), ",");
  Array tokens = tokenize(lines, "words");
  CHECK(to_string(tokens.shape) == "(2, *, *)");
  CHECK(shown(tokens) == R"([[["a", "b"], ["c"]], [["d"]]])");
  CHECK(shown(row_lengths(tokens)) == "[[2, 1], [1]]");
  CHECK(shown(row_lengths(lines)) == "[2, 1]");
}

TEST_CASE("a vocabulary numbers by falling count, ties by first appearance", "[vocab]") {
  Array tokens = tokenize(texts({"b a c a", "c d b a"}), "words");
  auto v = Vocab::build(tokens, {});
  CHECK(shown(v->tokens()) == R"(["a", "b", "c", "d"])");
  CHECK(shown(v->counts()) == "[3, 2, 2, 1]");
  CHECK(shown(encode(*v, tokens)) == "[[1, 0, 2, 0], [2, 3, 1, 0]]");
  CHECK(shown(decode(*v, encode(*v, tokens))) == shown(tokens));
  CHECK(shown(Vocab::build(tokens, {.max_size = 2})->tokens()) == R"(["a", "b"])");
  CHECK(shown(Vocab::build(tokens, {.min_count = 2})->tokens()) == R"(["a", "b", "c"])");
  CHECK(Vocab::build(texts({}), {})->size() == 0);
}

TEST_CASE("unknown tokens are left out, or numbered 0 when asked for", "[vocab]") {
  auto v = Vocab::build(texts({"a", "b", "a"}), {});
  CHECK(shown(encode(*v, tokenize(texts({"a x b", "x", "b"}), "words"))) == "[[0, 1], [], [1]]");
  CHECK(shown(encode(*v, texts({"x", "b"}))) == "[1]");
  CHECK(kind_of([&] { encode(*v, one("x")); }) == Kind::Value);
  auto u = Vocab::build(texts({"a", "b", "<unk>", "a"}), {.max_size = 2, .unknown = "<unk>"});
  CHECK(shown(u->tokens()) == R"(["<unk>", "a"])");
  CHECK(shown(u->counts()) == "[2, 2]");
  CHECK(shown(encode(*u, texts({"x", "b", "a"}))) == "[0, 0, 1]");
  CHECK(shown(encode(*u, one("zzz"))) == "0");
  Array out_of_range = Array::vector<int32_t>(std::vector<int32_t>{0, 2});
  CHECK(kind_of([&] { decode(*u, out_of_range); }) == Kind::Index);
  CHECK(kind_of([] { Vocab::build(texts({"a"}), {.max_size = -5}); }) == Kind::Value);
}

TEST_CASE("a large vocabulary does not depend on threads", "[vocab]") {
  std::vector<std::string> owned;
  for (int i = 0; i < 300000; ++i) owned.push_back((i % 3 ? "w" : "a rather long token ") + std::to_string(int64_t{i} * 7919 % 5003));
  std::vector<std::string_view> views(owned.begin(), owned.end());
  Array tokens = Array::strings(views);
  auto v = Vocab::build(tokens, {});
  std::vector<std::string> first;       // by brute force: tokens in order of first appearance
  std::unordered_map<std::string, int64_t> counts;
  for (const std::string& t : owned)
    if (counts[t]++ == 0) first.push_back(t);
  std::stable_sort(first.begin(), first.end(), [&](auto& a, auto& b) { return counts[a] > counts[b]; });
  REQUIRE(v->size() == static_cast<int64_t>(first.size()));
  int wrong = 0;
  for (size_t i = 0; i < first.size(); ++i)
    wrong += v->tokens().data<StringRef>()[i].view() != first[i] || v->counts().data<int64_t>()[i] != counts[first[i]];
  CHECK(wrong == 0);
  CHECK(shown(decode(*v, encode(*v, tokens))) == shown(tokens));
}

TEST_CASE("hashes tell texts of every length apart", "[vocab]") {
  StringTable table;
  std::vector<std::string> owned;
  for (size_t n = 0; n < 70; ++n)
    for (char c : {'a', 'b', '\0'}) owned.push_back(std::string(n, 'x') + c);
  for (const std::string& s : owned) table.insert(StringRef(s));
  CHECK(table.size() == static_cast<int64_t>(owned.size()));
  for (size_t i = 0; i < owned.size(); ++i) CHECK(table.find(StringRef(std::string_view(owned[i]))) == static_cast<int64_t>(i));
  CHECK(table.find(StringRef("not there, and long")) == -1);
}

TEST_CASE("padding fills or cuts rows", "[ragged]") {
  Array r = ragged_rows(Array::vector<int32_t>(std::vector<int32_t>{1, 2, 3, 4}), {3, 0, 1});
  CHECK(shown(pad_rows(r, -1, Array::scalar(0))) == "[[1, 2, 3], [0, 0, 0], [4, 0, 0]]");
  CHECK(shown(pad_rows(r, 2, Array::scalar(-1))) == "[[1, 2], [-1, -1], [4, -1]]");
  CHECK(shown(pad_rows(r, 0, Array::scalar(-1))) == "[[], [], []]");
  Array dense = Array::vector<int32_t>(std::vector<int32_t>{1, 2, 3, 4}).reshaped({2, 2});
  CHECK(shown(pad_rows(dense, 3, Array::scalar(9))) == "[[1, 2, 9], [3, 4, 9]]");
  CHECK(shown(pad_rows(dense.row(0), 3, Array::scalar(9))) == "[1, 2, 9]");
  Array wide = ragged_rows(dense, {2, 0});
  CHECK(shown(pad_rows(wide, -1, Array::scalar(0))) == "[[[1, 2], [3, 4]], [[0, 0], [0, 0]]]");
}

namespace {

/// The definition: the least of the three ways to end.
int direct_distance(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j)
      if (i == 0 || j == 0) d[i][j] = static_cast<int>(i + j);
      else d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
  return d[a.size()][b.size()];
}

}  // namespace

TEST_CASE("distances of random texts are what the definition gives", "[text]") {
  std::mt19937 random(11);
  const std::string_view letters[] = {"a", "b", "é", "中", "😀"};
  std::vector<std::string> left, right;
  for (int i = 0; i < 400; ++i)
    for (std::vector<std::string>* side : {&left, &right}) {
      std::string& text = side->emplace_back();
      for (size_t n = random() % 25; n > 0; --n) text += letters[random() % std::size(letters)];
    }
  std::vector<std::string_view> a(left.begin(), left.end()), b(right.begin(), right.end());
  Array distances = edit_distances(Array::strings(a), Array::strings(b));
  for (size_t i = 0; i < a.size(); ++i) {
    auto points = [](std::string_view text) {
      Array p = code_points(Array::strings({&text, 1}).reshaped({}));
      return std::vector<int32_t>(p.data<int32_t>(), p.data<int32_t>() + p.count());
    };
    REQUIRE(distances.data<int32_t>()[i] == direct_distance(points(a[i]), points(b[i])));
  }
}
