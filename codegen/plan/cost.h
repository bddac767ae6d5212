// What an operation costs per element, found by running its own emit rule on numbers that only count.
#pragma once
#include "interpreter/ir/op_def.h"

namespace tercet::codegen {

/// Number of scalar operations of an elementwise op (at least 1): add is 1, exp about 20.
int64_t elementwise_cost(const Function& f, const Op& op);

}  // namespace tercet::codegen
