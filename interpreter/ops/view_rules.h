// Views as strides: evaluation of view rows on arrays, shared with the compiler through View.
#pragma once
#include <algorithm>

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

/// The array with its axes in this order (itself when they are).
Array permuted(const Array& a, const std::vector<int64_t>& order, EvalContext& context);
inline bool contains(const std::vector<int64_t>& axes, int64_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

}  // namespace tercet
