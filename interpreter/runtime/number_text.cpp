#include "interpreter/runtime/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace tercet {
namespace {

constexpr int lowest_fixed = -4, first_exponent = 16;

/// Lays out text such as "-1.25e+03" (what to_chars gives in scientific form) as described in the header.
void append_laid_out(std::string& out, std::string_view scientific) {
  if (scientific[0] == '-') out += '-', scientific.remove_prefix(1);
  size_t e = scientific.find('e');
  char digits[32];
  int count = 0;
  for (char c : scientific.substr(0, e))
    if (c != '.') digits[count++] = c;
  while (count > 1 && digits[count - 1] == '0') --count;
  int exponent = std::atoi(scientific.data() + e + 1);
  std::string_view text(digits, static_cast<size_t>(count));
  if (exponent < lowest_fixed || exponent >= first_exponent) {
    out += text[0];
    if (count > 1) out.append(1, '.').append(text.substr(1));
    out.append(1, 'e').append(std::to_string(exponent));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(text);
  } else if (exponent + 1 >= count) {
    out.append(text).append(static_cast<size_t>(exponent + 1 - count), '0').append(".0");
  } else {
    auto point = static_cast<size_t>(exponent + 1);
    out.append(text.substr(0, point)).append(1, '.').append(text.substr(point));
  }
}

template <class T> bool append_special(std::string& out, T value) {
  if (value != value) return out += "nan", true;
  if (std::isinf(value)) return out += value < 0 ? "-inf" : "inf", true;
  return false;
}

template <class T> void append_float(std::string& out, T value) {
  if (append_special(out, value)) return;
  char text[64];
  *std::to_chars(text, text + sizeof text - 1, value, std::chars_format::scientific).ptr = '\0';
  append_laid_out(out, text);
}

/// 16-bit floats have at most 5 significant digits: the fewest that round back are found by trying.
template <class Narrow, class Round> void append_narrow(std::string& out, Narrow value, Round round) {
  float wide = to_float(value);
  if (append_special(out, wide)) return;
  char text[64];
  for (int precision = 0;; ++precision) {
    char* end = std::to_chars(text, text + sizeof text - 1, wide, std::chars_format::scientific, precision).ptr;
    *end = '\0';
    float back = 0;
    std::from_chars(text, end, back);
    if (precision == 8 || round(back).bits == value.bits) break;
  }
  append_laid_out(out, text);
}

template <class T> void append_integer(std::string& out, T value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

void append_number(std::string& out, double value) { append_float(out, value); }
void append_number(std::string& out, float value) { append_float(out, value); }
void append_number(std::string& out, Half value) { append_narrow(out, value, to_half); }
void append_number(std::string& out, BFloat value) { append_narrow(out, value, to_bfloat); }
void append_number(std::string& out, int64_t value) { append_integer(out, value); }
void append_number(std::string& out, uint64_t value) { append_integer(out, value); }

}  // namespace tercet
