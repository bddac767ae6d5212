// Flat batch rules: text, where the operation itself takes ragged arrays.
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {

std::vector<BatchedValue> unpacked(BatchContext& c, const Op& op, ValueId ragged, const Dim& symbol) {
  Dim total = Dim::symbol("total");
  ValueId values = c.out().emit(*find_op("flatten"), {ragged}, {{"defines", total}}, op.span);
  return {{values, true, &c.define(symbol, total, c.out().emit(row_offsets_op, {ragged}, {}, op.span), op.span)}};
}

std::vector<BatchedValue> flat_as_rows(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (!in[0].packing) fail_lane_dependent(op.span);
  const Type& lane = f.type(op.inputs[0]);
  if (lane.rank() == 1) return {{c.out().emit(*op.def, {c.as_ragged(in[0], op.span)}, op.attrs, op.span), true}};
  require_even(c, std::span(lane.dims).subspan(1), op.span);   // rows inside the lanes' elements
  return {{c.out().emit(*op.def, {in[0].value}, op.attrs, op.span), true, in[0].packing}};
}

/// Without an entry for unknown tokens rows get shorter.
std::vector<BatchedValue> flat_encode(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (in[0].mapped || !in[1].packing || f.type(op.inputs[1]).rank() != 1) fail_lane_dependent(op.span);
  if (op.attrs.get_or<bool>("unknown", true)) return {{c.out().emit(*op.def, {in[0].value, in[1].value}, op.attrs, op.span), true, in[1].packing}};
  ValueId rows = c.out().emit(*op.def, {in[0].value, c.as_ragged(in[1], op.span)}, {{"unknown", false}}, op.span);
  return unpacked(c, op, rows, op.attrs.get<Dim>("defines"));
}

}  // namespace tercet
