// The format specs of formatted strings: see format(array, spec, span) in print.h.
#include <fmt/format.h>

#include <cmath>

#include "interpreter/runtime/number_text.h"
#include "interpreter/runtime/print.h"

namespace tercet {
namespace {

constexpr int64_t widest = 10'000, most_digits = 1'000;

struct FormatSpec {
  std::string fill = " ";
  char align = 0;              // < > ^, 0 when not given
  char sign = 0;               // + or space
  bool zero = false;
  bool grouped = false;        // a comma between thousands
  int64_t width = 0;
  int64_t precision = -1;
  char type = 0;
};

/// Bytes of the code point at the start of `text`.
size_t code_point_bytes(std::string_view text) {
  size_t n = 1;
  while (n < text.size() && (text[n] & 0xC0) == 0x80) ++n;
  return n;
}

size_t code_points(std::string_view text) {
  size_t n = 0;
  for (; !text.empty(); ++n) text.remove_prefix(code_point_bytes(text));
  return n;
}

bool is_align(char c) { return c == '<' || c == '>' || c == '^'; }

class SpecReader {
 public:
  SpecReader(std::string_view text, Span span) : whole_(text), rest_(text), span_(span) {}

  FormatSpec read() {
    FormatSpec spec;
    size_t fill = rest_.empty() ? 0 : code_point_bytes(rest_);
    if (fill < rest_.size() && is_align(rest_[fill])) {
      spec.fill = rest_.substr(0, fill);
      rest_.remove_prefix(fill);
    }
    if (!rest_.empty() && is_align(rest_[0])) spec.align = take();
    if (!rest_.empty() && (rest_[0] == '+' || rest_[0] == ' ')) spec.sign = take();
    else if (!rest_.empty() && rest_[0] == '-') take();   // the default: a sign before negative numbers only
    if (!rest_.empty() && rest_[0] == '0') take(), spec.zero = true;
    if (starts_with_digit()) spec.width = number(widest, "width");
    if (!rest_.empty() && rest_[0] == ',') take(), spec.grouped = true;
    if (!rest_.empty() && rest_[0] == '.') {
      take();
      if (!starts_with_digit()) wrong("a number must follow the point");
      spec.precision = number(most_digits, "precision");
    }
    if (!rest_.empty() && std::string_view("dxXobfeg%s").find(rest_[0]) != std::string_view::npos) spec.type = take();
    if (!rest_.empty()) wrong(fmt::format("`{}` has no meaning here", rest_));
    return spec;
  }

 private:
  char take() {
    char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }
  bool starts_with_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
  int64_t number(int64_t most, const char* what) {
    int64_t n = 0;
    while (starts_with_digit()) {
      n = n * 10 + (take() - '0');
      if (n > most) wrong(fmt::format("the {} may be at most {}", what, most));
    }
    return n;
  }
  [[noreturn]] void wrong(const std::string& why) const {
    fail(Kind::Value, span_, fmt::format("bad format `:{}`: {}", whole_, why),
         "a format reads [[fill]align][sign][0][width][,][.precision][type], as in `{x:>8.3}` or `{n:05d}`");
  }

  std::string_view whole_, rest_;
  Span span_;
};

[[noreturn]] void misfit(const FormatSpec& spec, DType dtype, Span span) {
  fail(Kind::Value, span, fmt::format("format type `{}` does not fit a value of type {}", spec.type, name_of(dtype)),
       is_float(dtype) ? "use f, e, g or % for floats, or cast the value first" : "");
}

/// Puts sign and digits together and fills up to the width.
std::string padded(const FormatSpec& spec, std::string sign, std::string body, char default_align, bool digits) {
  size_t used = code_points(sign) + code_points(body);
  auto width = static_cast<size_t>(spec.width);
  size_t missing = width > used ? width - used : 0;
  if (spec.zero && digits && !spec.align) return sign + std::string(missing, '0') + body;
  char align = spec.align ? spec.align : default_align;
  size_t before = align == '<' ? 0 : align == '>' ? missing : missing / 2;
  std::string out;
  for (size_t i = 0; i < before; ++i) out += spec.fill;
  out += sign + body;
  for (size_t i = before; i < missing; ++i) out += spec.fill;
  return out;
}

/// "1234567.25" -> "1,234,567.25". With zeros in front, as many of them as the width asks for: "0,001,234".
std::string with_commas(const FormatSpec& spec, const std::string& digits, size_t sign) {
  const size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  std::string front = digits.substr(0, whole);
  const std::string rest = digits.substr(whole);
  auto grouped_size = [&] { return front.size() + (front.size() - 1) / 3; };
  if (spec.zero && !spec.align)
    while (sign + grouped_size() + rest.size() < static_cast<size_t>(spec.width)) front.insert(front.begin(), '0');
  std::string out;
  for (size_t i = 0; i < front.size(); ++i) {
    if (i && (front.size() - i) % 3 == 0) out += ',';
    out += front[i];
  }
  return out + rest;
}

std::string sign_of(const FormatSpec& spec, bool negative) {
  return negative ? "-" : spec.sign ? std::string(1, spec.sign) : "";
}

std::string float_digits(const FormatSpec& spec, double x) {
  int precision = static_cast<int>(spec.precision);
  switch (spec.type) {
    case 'f': return fmt::format("{:.{}f}", x, precision < 0 ? 6 : precision);
    case '%': return fmt::format("{:.{}f}%", x * 100, precision < 0 ? 6 : precision);
    case 'e': return fmt::format("{:.{}e}", x, precision < 0 ? 6 : precision);
    case 'g': return fmt::format("{:.{}g}", x, precision < 0 ? 6 : std::max(precision, 1));
  }
  std::string text = fmt::format("{:.{}g}", x, std::max(precision, 1));
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

template <class T> std::string float_text(const FormatSpec& spec, T value, DType dtype, Span span) {
  if (spec.type && std::string_view("feg%").find(spec.type) == std::string_view::npos) misfit(spec, dtype, span);
  auto wide = static_cast<double>(Compute<T>::load(value));
  if (!std::isfinite(wide)) return padded(spec, sign_of(spec, wide < 0), std::isnan(wide) ? "nan" : "inf", '>', false);
  std::string digits;
  if (spec.type || spec.precision >= 0) digits = float_digits(spec, std::fabs(wide));
  else append_number(digits, value), digits.erase(0, digits[0] == '-');
  const std::string sign = sign_of(spec, std::signbit(wide));
  if (spec.grouped) digits = with_commas(spec, digits, sign.size());
  return padded(spec, sign, digits, '>', true);
}

template <class T> std::string integer_text(const FormatSpec& spec, T value, DType dtype, Span span) {
  if (spec.type && std::string_view("feg%").find(spec.type) != std::string_view::npos)
    return float_text(spec, static_cast<double>(value), dtype, span);
  if (spec.type == 's') misfit(spec, dtype, span);
  if (spec.precision >= 0)
    fail(Kind::Value, span, fmt::format("a precision does not fit an integer ({})", name_of(dtype)), "write `.2f` for decimals");
  bool negative = value < T(0);
  uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string digits = spec.type == 'x'   ? fmt::format("{:x}", magnitude)
                       : spec.type == 'X' ? fmt::format("{:X}", magnitude)
                       : spec.type == 'o' ? fmt::format("{:o}", magnitude)
                       : spec.type == 'b' ? fmt::format("{:b}", magnitude)
                                          : fmt::format("{}", magnitude);
  const std::string sign = sign_of(spec, negative);
  if (spec.grouped && spec.type && spec.type != 'd') fail(Kind::Value, span, fmt::format("`,` does not fit the format type `{}`", spec.type), "it groups decimal digits, as in `{n:,}`");
  if (spec.grouped) digits = with_commas(spec, digits, sign.size());
  return padded(spec, sign, digits, '>', true);
}

std::string string_text(const FormatSpec& spec, std::string_view text, DType dtype, Span span) {
  if (spec.type && spec.type != 's') misfit(spec, dtype, span);
  if (spec.grouped) fail(Kind::Value, span, fmt::format("`,` does not fit a value of type {}", name_of(dtype)));
  if (spec.sign) fail(Kind::Value, span, fmt::format("a sign does not fit a value of type {}", name_of(dtype)));
  if (spec.precision >= 0) {
    size_t bytes = 0;
    for (int64_t i = 0; i < spec.precision && bytes < text.size(); ++i) bytes += code_point_bytes(text.substr(bytes));
    text = text.substr(0, bytes);
  }
  return padded(spec, "", std::string(text), '<', false);
}

}  // namespace

std::string format_element(const Array& array, int64_t i, std::string_view spec_text, Span span) {
  FormatSpec spec = SpecReader(spec_text, span).read();
  return visit_dtype(array.dtype, [&]<class T>() -> std::string {
    const T& value = array.data<T>()[i];
    if constexpr (std::is_same_v<T, StringRef>) return string_text(spec, value.view(), array.dtype, span);
    else if constexpr (std::is_same_v<T, KeyBits>)
      return string_text(spec, fmt::format("key({}, {})", value.high, value.low), array.dtype, span);
    else if constexpr (std::is_same_v<T, bool>) {
      if (!spec.type || spec.type == 's') return string_text(spec, value ? "true" : "false", array.dtype, span);
      return integer_text(spec, static_cast<int>(value), array.dtype, span);
    } else if constexpr (std::is_integral_v<T>) return integer_text(spec, value, array.dtype, span);
    else return float_text(spec, value, array.dtype, span);
  });
}

}  // namespace tercet
