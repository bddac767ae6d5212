// One layout for all programs: what `tercet fmt` writes.
//
// Line breaks and comments stay where their author put them; spaces, indentation and blank lines are set. Tokens are the
// same before and after, in their order, so the program means the same; a text that is formatted stays as it is.
//   - two spaces for each `{`; two further inside of `(` and after what wants more; inside of `[` lines align behind it
//   - a space around operators and after commas, none inside brackets, none around `=` of arguments, `..` and `.`, and around `:` of slices as it was
//   - at most one blank line, none at the start of a block or of the text; one line break at the end
#pragma once
#include <string>

#include "base/source.h"

namespace tercet {

/// The text in that layout. The source must parse without error.
std::string format_source(const SourceFile& source);

}  // namespace tercet
