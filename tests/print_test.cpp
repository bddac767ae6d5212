// Texts of values: shortest floats, layout of arrays, quoting, format specs.
#include "interpreter/runtime/print.h"

#include <catch2/catch.hpp>
#include <charconv>
#include <random>

#include "interpreter/runtime/number_text.h"

using namespace tercet;

namespace {

template <class T> std::string text_of(T value) {
  std::string out;
  append_number(out, value);
  return out;
}

template <class T> Array array_of(std::initializer_list<T> values, const Shape& shape) {
  return Array::vector<T>(std::span<const T>(values.begin(), values.size())).reshaped(shape);
}

Array text_array(std::initializer_list<std::string_view> texts) {
  return Array::strings(std::span<const std::string_view>(texts.begin(), texts.size()));
}

template <class T> std::string spec(T value, std::string_view s) { return format(Array::scalar<T>(value), s, {}); }

std::string text_spec(std::string_view text, std::string_view s) { return format(text_array({text}).row(0), s, {}); }

bool is_value_error(const Array& array, std::string_view s) {
  try {
    format(array, s, {});
  } catch (const Failure& failure) {
    return failure.diagnostics().front().kind == Kind::Value;
  }
  return false;
}

}  // namespace

TEST_CASE("floats are the shortest text that reads back", "[print]") {
  CHECK(text_of(1.0f) == "1.0");
  CHECK(text_of(-0.0f) == "-0.0");
  CHECK(text_of(0.1f) == "0.1");
  CHECK(text_of(0.1) == "0.1");
  CHECK(text_of(16777216.0f) == "16777216.0");
  CHECK(text_of(1e15) == "1000000000000000.0");
  CHECK(text_of(1e16) == "1e16");
  CHECK(text_of(1e20f) == "1e20");
  CHECK(text_of(0.0001) == "0.0001");
  CHECK(text_of(0.00001) == "1e-5");
  CHECK(text_of(-1.5e-7) == "-1.5e-7");
  CHECK(text_of(123.456) == "123.456");
  CHECK(text_of(3.4028235e38f) == "3.4028235e38");
  CHECK(text_of(5e-324) == "5e-324");
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(text_of(-std::numeric_limits<float>::infinity()) == "-inf");
  CHECK(text_of(to_half(0.1f)) == "0.1");
  CHECK(text_of(to_half(65504.0f)) == "65500.0");
  CHECK(text_of(to_bfloat(0.1f)) == "0.1");
  CHECK(text_of(to_bfloat(1.0f / 3)) == "0.334");
}

TEST_CASE("every 16-bit float and many others read back to their bits", "[print]") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    for (bool half : {true, false}) {
      auto b = static_cast<uint16_t>(bits);
      float value = half ? to_float(Half{b}) : to_float(BFloat{b});
      if (value != value) continue;
      std::string text = half ? text_of(Half{b}) : text_of(BFloat{b});
      float back = text.find("inf") != std::string::npos ? value : std::strtof(text.c_str(), nullptr);
      wrong += (half ? to_half(back).bits : to_bfloat(back).bits) != bits;
    }
  }
  CHECK(wrong == 0);
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    auto d = std::bit_cast<double>(random());
    auto f = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(d)) wrong += std::strtod(text_of(d).c_str(), nullptr) != d;
    if (std::isfinite(f)) wrong += std::strtof(text_of(f).c_str(), nullptr) != f;
  }
  CHECK(wrong == 0);
}

TEST_CASE("scalars and vectors print on one line", "[print]") {
  CHECK(format(Array::scalar<int32_t>(-3)) == "-3");
  CHECK(format(Array::scalar<uint64_t>(UINT64_MAX)) == "18446744073709551615");
  CHECK(format(Array::scalar(true)) == "true");
  CHECK(format(array_of<int32_t>({1, 2, 3}, {3})) == "[1, 2, 3]");
  CHECK(format(array_of<int8_t>({-128}, {1})) == "[-128]");
  CHECK(format(array_of<float>({1.0f, 0.5f}, {2})) == "[1.0, 0.5]");
  CHECK(format(Array::make(DType::F32, {0})) == "[]");
}

TEST_CASE("a matrix prints a row per line, columns right-aligned", "[print]") {
  CHECK(format(array_of<int32_t>({1, 20, 300, 4}, {2, 2})) == "[[  1, 20],\n [300,  4]]");
  CHECK(format(array_of<int32_t>({1, 2, 3, 4}, {2, 1, 2})) == "[[[1, 2]],\n [[3, 4]]]");
  CHECK(format(Array::make(DType::F32, {2, 0})) == "[[],\n []]");
  CHECK(format(Array::make(DType::F32, {0, 2})) == "[]");
  CHECK(format_inside(array_of<int32_t>({1, 20, 300, 4}, {2, 2})) == "[[1, 20], [300, 4]]");
  CHECK(format(text_array({"日", "ab", "c", "d"}).reshaped({2, 2})) == "[[\"日\", \"ab\"],\n [\"c\", \"d\"]]");
}

TEST_CASE("large arrays show their ends", "[print]") {
  std::vector<int32_t> many(1001);
  for (int i = 0; i < 1001; ++i) many[static_cast<size_t>(i)] = i;
  CHECK(format(Array::vector<int32_t>(many)) == "[0, 1, 2, ..., 998, 999, 1000]");
  many.pop_back();
  CHECK(format(Array::vector<int32_t>(many)).find("...") == std::string::npos);
  std::string cut = format(Array::zeros(DType::I32, {100, 20}));
  CHECK(cut.substr(0, 28) == "[[0, 0, 0, ..., 0, 0, 0],\n [");
  CHECK(cut.find("\n ...,\n") != std::string::npos);
  Shape deep;
  for (int i = 0; i < 16; ++i) deep.push_back(3);
  CHECK(format(Array::zeros(DType::Bool, deep)).size() < 3'000'000);
}

TEST_CASE("ragged arrays print their rows", "[print]") {
  Array a = array_of<int32_t>({0, 1, 2, 0, 1}, {5});
  a.shape = Shape{3, ragged_axis};
  a.ragged = std::make_shared<Ragged>(Ragged{{{0, 3, 3, 5}}});
  CHECK(format(a) == "[[0, 1, 2],\n [],\n [0, 1]]");
  CHECK(format_inside(a) == "[[0, 1, 2], [], [0, 1]]");
  Array b = array_of<int32_t>({1, 2, 3, 4, 5, 6}, {6});
  b.shape = Shape{2, ragged_axis, 2};
  b.ragged = std::make_shared<Ragged>(Ragged{{{0, 1, 3}}});
  CHECK(format_inside(b) == "[[[1, 2]], [[3, 4], [5, 6]]]");
  b.shape = Shape{2, ragged_axis, ragged_axis};
  b.ragged = std::make_shared<Ragged>(Ragged{{{0, 2, 3}, {0, 0, 4, 6}}});
  CHECK(format_inside(b) == "[[[], [1, 2, 3, 4]], [[5, 6]]]");
}

TEST_CASE("strings are bare at top level and quoted inside", "[print]") {
  CHECK(format(text_array({"he said \"hi\"\n"}).row(0)) == "he said \"hi\"\n");
  CHECK(format_inside(text_array({"plain"}).row(0)) == "\"plain\"");
  CHECK(format(text_array({"a", "tab\t", "\\", "\"", "é", std::string_view("\0\x1f", 2)})) ==
        R"(["a", "tab\t", "\\", "\"", "é", "\u{0}\u{1f}"])");
  CHECK(quoted("") == "\"\"");
}

TEST_CASE("format specs of numbers", "[print]") {
  CHECK(spec(3.14159f, ".3") == "3.14");
  CHECK(spec(1.0f, ".3") == "1.0");
  CHECK(spec(3.14159, ">8.3") == "    3.14");
  CHECK(spec(2.5f, ".2f") == "2.50");
  CHECK(spec(0.256, ".1%") == "25.6%");
  CHECK(spec(12345.678, ".2e") == "1.23e+04");
  CHECK(spec(12345.678, "g") == "12345.7");
  CHECK(spec(0.1f, "8") == "     0.1");
  CHECK(spec(-2.5, "+.1f") == "-2.5");
  CHECK(spec(2.5, "+") == "+2.5");
  CHECK(spec(std::numeric_limits<double>::quiet_NaN(), "06.2f") == "   nan");
  CHECK(spec(-42, "06d") == "-00042");
  CHECK(spec(42, "<5") == "42   ");
  CHECK(spec(42, "*^6") == "**42**");
  CHECK(spec(255, "x") == "ff");
  CHECK(spec(int8_t{-128}, "b") == "-10000000");
  CHECK(spec(INT64_MIN, "d") == "-9223372036854775808");
  CHECK(spec(UINT64_MAX, "X") == "FFFFFFFFFFFFFFFF");
  CHECK(spec(3, ".2f") == "3.00");
  CHECK(spec(true, "d") == "1");
  CHECK(spec(true, ">6") == "  true");
  CHECK(format(array_of<float>({1.0f, 2.25f}, {2}), ".1f", {}) == "[1.0, 2.2]");
}

TEST_CASE("format specs of strings count code points", "[print]") {
  CHECK(text_spec("héé", "5") == "héé  ");
  CHECK(text_spec("héé", ">5") == "  héé");
  CHECK(text_spec("héé", ".2") == "hé");
  CHECK(text_spec("ab", "→>4s") == "→→ab");
  CHECK(text_spec("", "3") == "   ");
}

TEST_CASE("a bad format spec is an error `value`", "[print]") {
  for (const char* bad : {"q", ".", ".x", ">>>", "5.2.1", "99999999999", ".99999", "d ", "x"})
    CHECK(is_value_error(Array::scalar(1.5f), bad));
  CHECK(is_value_error(Array::scalar(7), ".2"));
  CHECK(is_value_error(Array::scalar(7), "s"));
  CHECK(is_value_error(text_array({"a"}).row(0), "d"));
  CHECK(is_value_error(text_array({"a"}).row(0), "+"));
}
