// Operations that stand for others (kind CodeExpand of their rows) or for nothing, written out before a function is planned.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// The same function without such operations, inside its bodies too; f itself when there are none.
FunctionPtr expand(const FunctionPtr& f);

}  // namespace tercet
