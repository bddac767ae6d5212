// Formatted strings: splits the inside of f"…" into text and holes.
//
// Example: `{x} of {n:>8.3}` -> hole [1,2), text " of ", hole [8,9) with format ">8.3". `{{` and `}}` stay in the text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tercet {

struct FormattedPiece {
  bool is_hole = false;
  size_t begin = 0, end = 0;  // offsets in the text: of the text, or of the hole between its braces
  size_t format = 0;          // of a hole: offset of the `:` that starts the format, or `end`
};

struct FormattedString {
  std::vector<FormattedPiece> pieces;
  std::string error, help;  // set when the text is not well formed; pieces are those before the fault
  size_t error_begin = 0, error_end = 0;
};

FormattedString split_formatted(std::string_view text);

}  // namespace tercet
