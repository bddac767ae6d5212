// Decides which values lie in memory and which are computed where they are read.
#pragma once
#include "codegen/plan/expression.h"

namespace tercet::codegen {

/// Facts about f's values. In memory are: results, whatever a step other than a kernel reads, values that would be
/// computed more than once at more than a small cost, and operands of reshapes that merge axes.
ValueFacts choose_fusion(const Function& f);

/// So many operations in one expression, and an array goes to memory: it bounds the time to compile it.
inline constexpr int64_t longest_expression = 300;

}  // namespace tercet::codegen
