// Arrays put together from single elements, as literals [a, b, c] and stacks of a few are: computed where they are read, and
// not copied together first.
//
// Example: min([a, b, c]) becomes minimum(minimum(a, b), c), and [a, b, c] alone selects by the index.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet::codegen {

/// The same function with such `concat`s read in place, in its bodies too; f itself when there are none.
FunctionPtr read_single_parts(const FunctionPtr& f);

}  // namespace tercet::codegen
