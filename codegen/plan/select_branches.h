// Branches of a few scalar operations computed on both sides.
//
// A loop over characters or table entries asks `if` at each step; as a step of its own it costs a hundred times what stands in
// it. Both sides cannot fail and do nothing but give numbers, so both are computed and the condition picks.
// Example: if c { s + 1 } else { s } becomes select(c, s + 1, s).
#pragma once
#include "interpreter/ir/function.h"

namespace tercet::codegen {

/// The same function with such branches as selections, in its bodies too; f itself when there are none.
FunctionPtr select_branches(const FunctionPtr& f);

}  // namespace tercet::codegen
