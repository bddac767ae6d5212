// What literals mean: numbers with their suffix, strings with their escapes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/source.h"

namespace tercet {

struct Number {
  bool is_float = false;
  uint64_t magnitude = 0;  // of an integer
  double value = 0;        // of a float
  std::string suffix;      // a dtype, or ""
};

/// Reads `42`, `1_000`, `0xff`, `0b1010`, `1.5`, `1e-3`, `3i64`, `1.5f64`. `negative`: a minus sign belongs to it (it
/// matters for the range of a suffix: `-128i8`). Throws Failure(Syntax) for anything else.
///   read_number("7u8", span, false)  // {false, 7, 0, "u8"}
Number read_number(std::string_view text, Span span, bool negative);

/// Resolves `\n \t \r \0 \" \\ \u{4e2d}`. `at` is the place of text's first byte, for errors. With `braces`, `{{` and
/// `}}` stand for one brace. Throws Failure(Syntax) for an unknown escape.
std::string unescape(std::string_view text, Span at, bool braces = false);

}  // namespace tercet
