// Arrays as text (language.md section 12).
//
// Example:  format(Array::scalar(1.0f))            // 1.0
//           format_inside(Array::strings({{"a"}}))  // ["a"]
// Numbers are written by number_text.h; strings inside arrays are quoted with the escapes of the language. An array of
// more than 1,000 elements shows the first and last three entries of each long axis with `...` between them.
#pragma once
#include <string>
#include <string_view>

#include "interpreter/runtime/array.h"

namespace tercet {

/// As `print` shows it: a string bare, an array of two or more axes a row per line, columns of numbers right-aligned.
std::string format(const Array& array);

/// As it stands inside a tuple, record or message: on one line, strings quoted.
std::string format_inside(const Array& array);

/// A hole of a formatted string, `{x:>8.3}`: the spec applies to each element. The spec is
///   [[fill]align][sign][0][width][.precision][type]
/// with align one of < > ^, sign + or a space, type one of d x X o b (integers, bool), f e g % (numbers) and
/// s (strings, bool). Without a type, precision counts significant digits (of a string: code points to keep), and a
/// float keeps a point or exponent. Width counts code points; numbers lean right, strings left.
/// Error `value` at `span` when the spec is malformed or does not fit the dtype.
std::string format(const Array& array, std::string_view spec, Span span);

/// `text` between quotes, with \n \t \r \" \\ and \u{…} for other control characters.
std::string quoted(std::string_view text);

}  // namespace tercet
