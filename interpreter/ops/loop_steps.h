// How many steps a loop is going to take, for those who show how far it is.
#pragma once
#include <span>

#include "interpreter/ir/function.h"

namespace tercet {

/// Steps of a loop that counts: it says which carried value counts, and which operand is the end (attrs "counter" and
/// "counter_end", for those who show how far it is; they mean nothing else). -1 where it does not count.
int64_t steps_to_count(const Op& op, std::span<const Array> operands);

}  // namespace tercet
