#include "grammar/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/diagnostic.h"
#include "grammar/unicode.h"

namespace tercet {
namespace {

struct SuffixRange {
  std::string_view name;
  bool is_float;
  uint64_t largest;   // magnitude of the largest value
  uint64_t smallest;  // magnitude of the smallest (negative) one
};

constexpr std::array suffixes{
    SuffixRange{"i8", false, 127, 128},
    SuffixRange{"i16", false, 32767, 32768},
    SuffixRange{"i32", false, 2147483647, 2147483648},
    SuffixRange{"i64", false, INT64_MAX, uint64_t{1} << 63},
    SuffixRange{"u8", false, 255, 0},
    SuffixRange{"u16", false, 65535, 0},
    SuffixRange{"u32", false, UINT32_MAX, 0},
    SuffixRange{"u64", false, UINT64_MAX, 0},
    SuffixRange{"f16", true, 0, 0},
    SuffixRange{"bf16", true, 0, 0},
    SuffixRange{"f32", true, 0, 0},
    SuffixRange{"f64", true, 0, 0},
};

[[noreturn]] void bad_number(std::string_view text, Span span, std::string help) {
  std::string shown(text.substr(0, 40));
  fail(Kind::Syntax, span, fmt::format("`{}{}` is not a number", shown, text.size() > 40 ? "…" : ""), std::move(help));
}

/// The digits without their underscores; each `_` stands between two digits.
std::string plain_digits(std::string_view text, std::string_view digits, Span span) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') {
      out += digits[i];
      continue;
    }
    if (i + 1 == digits.size() || !std::isxdigit(static_cast<unsigned char>(digits[i + 1])))
      bad_number(text, span, "each `_` stands between two digits, as in 1_000");
  }
  return out;
}

uint64_t read_magnitude(std::string_view text, const std::string& digits, int base, Span span) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc::result_out_of_range)
    fail(Kind::Syntax, span, "this integer does not fit into 64 bits", "write it as a float, as in 1e20");
  if (digits.empty() || end != digits.data() + digits.size())
    bad_number(text, span,
               base == 2    ? "a binary number has the digits 0 and 1"
               : base == 16 ? "a hexadecimal number has the digits 0-9 and a-f, and no suffix"
                            : "a number ends in its digits or a suffix such as i64");
  return value;
}

double read_double(const std::string& digits, Span span) {
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  value = std::strtod(digits.c_str(), nullptr);  // tells too large from too small
  if (std::isinf(value)) fail(Kind::Syntax, span, "this number is too large for a float", "write `inf` for infinity");
  return value;
}

const SuffixRange& find_suffix(std::string_view text, std::string_view name, Span span) {
  for (const SuffixRange& s : suffixes)
    if (s.name == name) return s;
  bad_number(text, span, "a suffix is one of i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64");
}

void apply_suffix(Number& n, std::string_view text, std::string_view name, Span span, bool negative) {
  const SuffixRange& suffix = find_suffix(text, name, span);
  n.suffix = suffix.name;
  if (suffix.is_float) {
    if (!n.is_float) n.value = static_cast<double>(n.magnitude);
    n.is_float = true;
  } else if (n.is_float) {
    fail(Kind::Syntax, span, fmt::format("a number with a point or exponent cannot be {}", name),
         fmt::format("convert it: `{}({})`", name, text.substr(0, text.size() - name.size())));
  } else if (n.magnitude > (negative ? suffix.smallest : suffix.largest)) {
    fail(Kind::Syntax, span, fmt::format("{}{} is out of range for {}", negative ? "-" : "", n.magnitude, name),
         suffix.smallest ? fmt::format("{} holds -{} to {}", name, suffix.smallest, suffix.largest)
                         : fmt::format("{} holds 0 to {}", name, suffix.largest));
  }
}

Number read_prefixed(std::string_view text, Span span, bool negative) {
  Number n;
  if (text[1] == 'x') {
    n.magnitude = read_magnitude(text, plain_digits(text, text.substr(2), span), 16, span);
    return n;
  }
  size_t end = std::min(text.find_first_not_of("01_", 2), text.size());
  n.magnitude = read_magnitude(text, plain_digits(text, text.substr(2, end - 2), span), 2, span);
  if (end < text.size()) apply_suffix(n, text, text.substr(end), span, negative);
  return n;
}

/// Offset where the suffix of a decimal number starts.
size_t decimal_end(std::string_view text) {
  constexpr std::string_view digits = "0123456789_";
  auto skip_digits = [&](size_t from) { return std::min(text.find_first_not_of(digits, from), text.size()); };
  size_t at = skip_digits(0);
  if (at < text.size() && text[at] == '.') at = skip_digits(at + 1);
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (exponent < text.size() && std::isdigit(static_cast<unsigned char>(text[exponent]))) at = skip_digits(exponent);
  }
  return at;
}

std::optional<char> simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '0':
      return '\0';
    case '"':
      return '"';
    case '\\':
      return '\\';
    default:
      return std::nullopt;
  }
}

Span part(Span at, size_t begin, size_t end) {
  return {at.file, static_cast<uint32_t>(at.begin + begin), static_cast<uint32_t>(at.begin + end)};
}

/// Appends the code point of `\u{…}` at `i`; returns the offset past it.
size_t append_code_point(std::string& out, std::string_view text, size_t i, Span at) {
  size_t close = text.find('}', i);
  uint32_t code = 0;
  if (text.substr(i, 3) == "\\u{" && close != std::string_view::npos) {
    std::string_view digits = text.substr(i + 3, close - i - 3);
    auto [end, error] = std::from_chars(digits.begin(), digits.end(), code, 16);
    std::optional<std::string> bytes;
    if (error == std::errc() && end == digits.end()) bytes = encode_utf8(code);
    if (bytes) {
      out += *bytes;
      return close + 1;
    }
    fail(Kind::Syntax, part(at, i, close + 1), fmt::format("`{}` is not a Unicode character", digits.substr(0, 20)),
         "write its number in hexadecimal, as in \\u{4e2d}; the largest is 10ffff");
  }
  fail(Kind::Syntax, part(at, i, i + 2), "`\\u` is followed by a number in braces", "write \\u{4e2d}");
}

}  // namespace

Number read_number(std::string_view text, Span span, bool negative) {
  if (text.starts_with("0x") || text.starts_with("0b")) return read_prefixed(text, span, negative);
  size_t end = decimal_end(text);
  std::string_view digits = text.substr(0, end);
  Number n;
  n.is_float = digits.find_first_of(".eE") != std::string_view::npos;
  std::string plain = plain_digits(text, digits, span);
  if (n.is_float) {
    n.value = read_double(plain, span);
  } else {
    if (text.starts_with("0o") || (plain.size() > 1 && plain[0] == '0'))
      bad_number(text, span, "a decimal number does not start with 0; there are no octal ones (0x is hexadecimal)");
    n.magnitude = read_magnitude(text, plain, 10, span);
  }
  if (end < text.size()) apply_suffix(n, text, text.substr(end), span, negative);
  return n;
}

std::string unescape(std::string_view text, Span at, bool braces) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      out += text[i];
      i += braces && (text[i] == '{' || text[i] == '}') ? 2 : 1;
      continue;
    }
    char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (next == 'u') {
      i = append_code_point(out, text, i, at);
    } else if (auto c = simple_escape(next)) {
      out += *c;
      i += 2;
    } else {
      size_t length = std::min<size_t>(2, text.size() - i);
      while (i + length < text.size() && (text[i + length] & 0xC0) == 0x80) ++length;  // the rest of a code point
      fail(Kind::Syntax, part(at, i, i + length),
           fmt::format("unknown escape `{}` in a string", text.substr(i, length)),
           "write `\\\\` for a backslash, or a raw string r\"…\"");
    }
  }
  return out;
}

}  // namespace tercet
