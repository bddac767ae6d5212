// Flat batch rules: reductions, folds, order and products of rows.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

namespace {

/// A sum of rows of a shared table, which need not be stored first.
std::optional<ValueId> sum_of_gathered(BatchContext& c, const Op& op, const BatchedValue& x) {
  Builder& b = c.out();
  const Op* made = b.definition(x.value);
  if (op.def != &sum_op || !made || made->def != &gather_op || made->inputs.size() != 2) return std::nullopt;
  const Type table = b.type(made->inputs[0]), ids = b.type(made->inputs[1]);
  bool rows = table.rank() == 2 && ids.rank() == 1 && made->attrs.get<Ints>("axes") == Ints{0} && made->attrs.get<int64_t>("batch") == 0;
  if (!rows || table.dtype == DType::F16 || table.dtype == DType::BF16) return std::nullopt;
  std::vector<ValueId> inputs{made->inputs[0], made->inputs[1], x.packing->offsets};
  return b.emit(gather_sum_rows_op, std::move(inputs), {}, op.span);
}

}  // namespace

std::vector<BatchedValue> flat_reduce(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  const Ints& axes = op.attrs.get<Ints>("axes");
  if (axes.empty() || axes[0] != 0) return {{c.out().emit(*op.def, {in[0].value}, op.attrs, op.span), true, in[0].packing}};
  if (axes.back() != static_cast<int64_t>(axes.size()) - 1) fail_lane_dependent(op.span);
  if (axes.size() == 1)
    if (std::optional<ValueId> sum = sum_of_gathered(c, op, in[0])) return {{*sum, true}};
  return {{c.out().emit(*rows_version(*op.def), {in[0].value, in[0].packing->offsets}, {{"axes", static_cast<int64_t>(axes.size())}}, op.span), true}};
}

std::vector<BatchedValue> flat_scan(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  if (op.attrs.get<int64_t>("axis") != 0) return {{c.out().emit(*op.def, {in[0].value}, op.attrs, op.span), true, in[0].packing}};
  return {{c.out().emit(*rows_version(*op.def), {in[0].value, in[0].packing->offsets}, {}, op.span), true, in[0].packing}};
}

std::vector<BatchedValue> flat_sorting(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  if (op.attrs.get<int64_t>("axis") != 0) return {{c.out().emit(*op.def, {in[0].value}, op.attrs, op.span), true, in[0].packing}};
  Attrs attrs{{"descending", op.attrs.get<bool>("descending")}};
  return {{c.out().emit(*rows_version(*op.def), {in[0].value, in[0].packing->offsets}, std::move(attrs), op.span), true, in[0].packing}};
}

std::vector<BatchedValue> flat_top_k(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  if (!in[0].packing) fail_lane_dependent(op.span);   // k differs between lanes
  Attrs attrs{{"k", c.size(op.attrs.get<Dim>("k"))}};
  bool along = c.out().type(in[0].value).rank() == 1;
  std::vector<ValueId> inputs{in[0].value};
  if (along) inputs.push_back(in[0].packing->offsets);
  std::vector<BatchedValue> out;
  for (ValueId v : c.out().emit_many(along ? *rows_version(*op.def) : *op.def, std::move(inputs), std::move(attrs), op.span))
    out.push_back({v, true, along ? nullptr : in[0].packing});
  return out;
}

std::vector<BatchedValue> flat_dot(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  const Ints &lhs = op.attrs.get<Ints>("lhs"), &rhs = op.attrs.get<Ints>("rhs");
  Builder& b = c.out();
  bool first = lhs == Ints{0} && rhs == Ints{0};
  if (op.attrs.get<int64_t>("batch") != 0) fail_lane_dependent(op.span);
  auto uses_rows = [](const BatchedValue& v, const Ints& axes) { return v.packing && std::find(axes.begin(), axes.end(), 0) != axes.end(); };
  if (uses_rows(in[0], lhs) || uses_rows(in[1], rhs)) {
    if (!first || !in[0].packing || in[0].packing != in[1].packing) fail_lane_dependent(op.span);
    return {{b.emit(dot_rows_op, {in[0].value, in[1].value, in[0].packing->offsets}, {}, op.span), true}};
  }
  // A shared matrix on the other side: the packed axis is a free axis, in front.
  if (in[0].packing && !in[1].mapped) return {{b.emit(dot_op, {in[0].value, in[1].value}, op.attrs, op.span), true, in[0].packing}};
  bool alone = !in[0].mapped && b.type(in[0].value).rank() == static_cast<int>(lhs.size());
  if (in[1].packing && alone) return {{b.emit(dot_op, {in[0].value, in[1].value}, op.attrs, op.span), true, in[1].packing}};
  fail_lane_dependent(op.span);
}

}  // namespace tercet
