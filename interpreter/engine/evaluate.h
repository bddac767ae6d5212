// The reference evaluator: runs a function operation by operation through the rows' eval.
#pragma once
#include "interpreter/ir/eval.h"
#include "interpreter/ir/function.h"

namespace tercet {

/// Runs `f`; sizes are bound in `context.dims` as they become known. An operand is released at its last use, so that an
/// operation may overwrite memory that nobody else holds.
std::vector<Array> evaluate(const Function& f, EvalContext& context, std::vector<Array> arguments);

/// Binds the bare symbols among `dims` to the sizes of `shape`.
void bind_shape(DimEnv& env, const std::vector<Dim>& dims, const Shape& shape);

}  // namespace tercet
