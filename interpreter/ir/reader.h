// Functions from text: what print() writes (function.h), read back.
//
//   sizes n, m!                      names in order; `!` promises that a size is not 1
//   double(%0: f32[n, 3]) {
//     %1: f32[n, 3] = add(%0, %0)
//     %2: f32[3] = sum(%1) {axes=[0]}
//     return %2
//   }
// Bodies of an operation stand below it. Attributes: 3, 1.5, true, "text", f32 (a dtype), [0, 1], <n + 1> (a size),
// <[n, 3]> (sizes), f32(2,) [1.0, 2.0] (an array). Rows of different length are `*`, one name for all of them.
// Spans are not in the text. Error `syntax` for text that is none of this, `unsupported` for a handle or a constant that
// was too long to be written; a type that does not follow from the operands is an error `internal`.
#pragma once
#include <string_view>

#include "interpreter/ir/function.h"

namespace tercet {

FunctionPtr read_function(std::string_view text);

}  // namespace tercet
