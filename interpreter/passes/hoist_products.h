// Products of a loop's rows taken out of the loop.
//
// A loop with carried values (`scan`) often multiplies each row that it reads by the same matrix: x[t] @ w of a recurrent
// network. Such products, and what they are computed from, do not wait for the carried values: one product of all rows
// stands before the loop, and the loop reads its rows. Each element is the same sum as before, in the same order. It costs
// memory for the product of all rows.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// The same function with such products before their loops, inside its bodies too; f itself when there are none.
FunctionPtr hoist_products(const FunctionPtr& f);

}  // namespace tercet
