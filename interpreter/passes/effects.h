// Functions without their effects, for code that computes again what was computed before.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// The same function without checks and output, inside its bodies too. Values that an effect gives (a size) stay.
FunctionPtr without_effects(const FunctionPtr& f);

}  // namespace tercet
