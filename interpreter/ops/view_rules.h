// Views as strides: evaluation of view rows on arrays, shared with the compiler through View.
#pragma once
#include "interpreter/ir/eval.h"
#include "interpreter/ir/op_def.h"

namespace tercet {

/// The view of a whole row-major array of these sizes.
View contiguous_view(const std::vector<Dim>& sizes);
/// Stride of an operand axis of size `in` inside a result axis of size `out`: 0 when the size is 1 and repeats.
Dim broadcast_stride(const Dim& in, const Dim& stride, const Dim& out);
/// Copies a view into a new row-major array. `environment` gives the symbols their values.
Array materialize(const Array& source, const View& view, EvalContext& context);
/// Evaluates a row whose code is CodeView: its view of operand 0, copied.
std::vector<Array> eval_view(EvalContext& context, const Function& f, const Op& op, std::span<Array> operands);

}  // namespace tercet
