// Flat batch rules: reading and writing at indices.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

namespace {

/// The index arrays of one gather or scatter, all packed alike or all mapped (or all shared).
struct Indices {
  std::vector<ValueId> values;
  const Packing* packing = nullptr;
  bool mapped = false;
};
Indices same_form(BatchContext& c, std::span<const BatchedValue> in, bool want_lanes, Span span) {
  Indices out;
  FlatEmitter e(c, span);
  for (const BatchedValue& v : in) {
    if (v.packing && out.packing && v.packing != out.packing) fail_lane_dependent(span);
    if (v.packing) out.packing = v.packing;
    out.mapped |= v.mapped;
  }
  for (const BatchedValue& v : in) {
    if (out.packing && !v.packing) fail_lane_dependent(span);
    out.values.push_back(e.wide(out.packing || (!out.mapped && !want_lanes) ? v.value : c.mapped(v, span)));
  }
  out.mapped |= want_lanes;
  return out;
}

/// One entry a lane, at every index: of the sizes of the index arrays.
ValueId at_indices(FlatEmitter& e, const Indices& index, ValueId of_lanes, Span span) {
  ValueId v = index.packing ? e.take(of_lanes, e.context().ids(*index.packing, span)) : of_lanes;
  return e.spread(v, e.dims(index.values[0]), {0});
}
ValueId lanes_in_order(BatchContext& c, Span span) {
  return c.out().emit(iota_op, {}, {{"dims", Dims{c.lanes()}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, span);
}

std::vector<ValueId> joined(ValueId first, const std::vector<ValueId>& rest) {
  std::vector<ValueId> out{first};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace

std::vector<BatchedValue> flat_gather(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  const Ints& axes = op.attrs.get<Ints>("axes");
  Builder& b = c.out();
  FlatEmitter e(c, op.span);
  const BatchedValue& x = in[0];
  if (op.attrs.get<int64_t>("batch") > 0) {   // both sides go along the axis that varies together
    std::vector<ValueId> inputs;
    for (const BatchedValue& v : in) {
      if (!v.packing || v.packing != x.packing) fail_lane_dependent(op.span);
      inputs.push_back(v.value);
    }
    return {{b.emit(gather_op, std::move(inputs), op.attrs, op.span), true, x.packing}};
  }
  auto rows = std::find(axes.begin(), axes.end(), 0);
  if (x.packing && rows == axes.end()) {   // rows stay: only one place in each of them is read
    if (b.type(in[1].value).rank() != static_cast<int>(in[1].mapped) || in[1].packing) fail_lane_dependent(op.span);
    bool any_mapped = std::any_of(in.begin() + 1, in.end(), [](const BatchedValue& v) { return v.mapped; });
    std::vector<ValueId> inputs{x.value};
    for (const BatchedValue& v : in.subspan(1)) inputs.push_back(e.wide(any_mapped ? e.for_each_element(v, *x.packing) : v.value));
    return {{b.emit(gather_op, std::move(inputs), {{"axes", axes}, {"batch", int64_t{any_mapped}}}, op.span), true, x.packing}};
  }
  Indices index = same_form(c, in.subspan(1), x.mapped, op.span);
  if (!x.mapped) return {{b.emit(gather_op, joined(x.value, index.values), op.attrs, op.span), true, index.packing}};
  if (x.packing) {
    ValueId& along = index.values[static_cast<size_t>(rows - axes.begin())];
    along = e.add(along, at_indices(e, index, e.begins(*x.packing), op.span));
    return {{b.emit(gather_op, joined(x.value, index.values), op.attrs, op.span), true, index.packing}};
  }
  Ints moved = shifted(axes);
  moved.insert(moved.begin(), 0);
  index.values.insert(index.values.begin(), at_indices(e, index, lanes_in_order(c, op.span), op.span));
  return {{b.emit(gather_op, joined(x.value, index.values), {{"axes", moved}, {"batch", int64_t{0}}}, op.span), true, index.packing}};
}

std::vector<BatchedValue> flat_scatter(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  const Ints& axes = op.attrs.get<Ints>("axes");
  Builder& b = c.out();
  FlatEmitter e(c, op.span);
  if (op.attrs.get<int64_t>("batch") > 0) fail_lane_dependent(op.span);
  const BatchedValue &x = in[0], &v = in[1];
  Indices index = same_form(c, in.subspan(2), true, op.span);
  if (index.packing != v.packing) fail_lane_dependent(op.span);
  ValueId values = index.packing ? v.value : c.mapped(v, op.span);
  Attrs attrs{{"batch", int64_t{0}}, {"mode", op.attrs.get<std::string>("mode")}};
  if (!x.packing) {
    Ints moved = shifted(axes);
    moved.insert(moved.begin(), 0);
    attrs.set("axes", moved);
    index.values.insert(index.values.begin(), at_indices(e, index, lanes_in_order(c, op.span), op.span));
    std::vector<ValueId> inputs = joined(c.mapped(x, op.span), joined(values, index.values));
    return {{b.emit(scatter_op, std::move(inputs), std::move(attrs), op.span), true}};
  }
  auto rows = std::find(axes.begin(), axes.end(), 0);
  if (rows == axes.end()) fail_lane_dependent(op.span);
  // What is out of the lane's range is dropped, and must not land in another lane.
  ValueId& along = index.values[static_cast<size_t>(rows - axes.begin())];
  const Dims dims = e.dims(along);
  ValueId zero = e.spread(e.number(0), dims, {}), none = e.spread(e.number(-1), dims, {});
  ValueId low = b.emit(ge_op, {along, zero}, {}, op.span), high = b.emit(lt_op, {along, at_indices(e, index, x.packing->lengths, op.span)}, {}, op.span);
  ValueId inside = b.emit(bit_and_op, {low, high}, {}, op.span);
  along = b.emit(select_op, {inside, e.add(along, at_indices(e, index, e.begins(*x.packing), op.span)), none}, {}, op.span);
  attrs.set("axes", axes);
  return {{b.emit(scatter_op, joined(x.value, joined(values, index.values)), std::move(attrs), op.span), true, x.packing}};
}

std::vector<BatchedValue> flat_window(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  int64_t axis = op.attrs.get<int64_t>("axis");
  const Dim& size = op.attrs.get<Dim>("size");
  Builder& b = c.out();
  FlatEmitter e(c, op.span);
  const BatchedValue &x = in[0], &start = in[1];
  if (start.packing || b.type(start.value).rank() != static_cast<int>(start.mapped)) fail_lane_dependent(op.span);
  if (axis != 0) {   // rows stay, and each has its window
    if (!x.packing || c.varies(size) || op.attrs.get<int64_t>("batch") > 0) fail_lane_dependent(op.span);
    ValueId begin = start.mapped ? e.for_each_element(start, *x.packing) : start.value;
    return {{b.emit(window_op, {x.value, begin}, {{"axis", axis}, {"size", c.size(size)}, {"batch", int64_t{start.mapped}}}, op.span), true, x.packing}};
  }
  ValueId begin = c.mapped({e.wide(start.value), start.mapped}, op.span);
  if (x.packing) begin = e.add(begin, e.begins(*x.packing));
  const Packing* to = c.varies(size) ? &c.packing(size, op.span) : nullptr;
  Dims even = to ? Dims{} : Dims{c.lanes(), c.size(size)};
  ValueId steps = to ? c.places(*to, op.span) : b.emit(iota_op, {}, {{"dims", even}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, op.span);
  auto of_lanes = [&](ValueId v) { return to ? e.take(v, c.ids(*to, op.span)) : e.spread(v, even, {0}); };
  ValueId index = e.add(of_lanes(begin), steps);
  if (x.packing || !x.mapped) return {{e.take(x.value, index), true, to}};
  return {{b.emit(gather_op, {x.value, of_lanes(lanes_in_order(c, op.span)), index}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}}, op.span), true, to}};
}

namespace {

/// Rows start, start + step, … of each lane of x become those of v. `start`: i64[lanes].
std::vector<BatchedValue> update_rows(BatchContext& c, const Op& op, const BatchedValue& x, const BatchedValue& v, ValueId start, int64_t step) {
  Builder& b = c.out();
  FlatEmitter e(c, op.span);
  const Packing* to = v.packing;
  ValueId values = to ? v.value : c.mapped(v, op.span);
  Dims even = to ? Dims{} : Dims{c.lanes(), e.dims(values)[1]};
  ValueId places = to ? c.places(*to, op.span) : b.emit(iota_op, {}, {{"dims", even}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, op.span);
  auto of_lanes = [&](ValueId one) { return to ? e.take(one, c.ids(*to, op.span)) : e.spread(one, even, {0}); };
  if (x.packing) start = e.add(start, e.begins(*x.packing));
  ValueId index = e.add(of_lanes(start), e.multiply(places, step));
  Attrs attrs{{"batch", int64_t{0}}, {"mode", std::string("set")}};
  if (x.packing) {
    attrs.set("axes", Ints{0});
    return {{b.emit(scatter_op, {x.value, values, index}, std::move(attrs), op.span), true, x.packing}};
  }
  attrs.set("axes", Ints{0, 1});
  return {{b.emit(scatter_op, {c.mapped(x, op.span), values, of_lanes(lanes_in_order(c, op.span)), index}, std::move(attrs), op.span), true}};
}

}  // namespace

std::vector<BatchedValue> flat_slice_update(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  const Dims &starts = op.attrs.get<Dims>("starts"), &whole = f.type(op.inputs[0]).dims, &part = f.type(op.inputs[1]).dims;
  const Ints& steps = op.attrs.get<Ints>("steps");
  for (size_t k = 1; k < part.size(); ++k)   // the other axes as they are
    if (!starts[k].is(0) || steps[k] != 1 || !(part[k] == whole[k])) fail_lane_dependent(op.span);
  return update_rows(c, op, in[0], in[1], c.sizes_of_lanes(starts[0], op.span), steps[0]);
}

std::vector<BatchedValue> flat_window_update(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  const bool one_start = c.out().type(in[2].value).rank() == static_cast<int>(in[2].mapped) && !in[2].packing;
  if (op.attrs.get<int64_t>("axis") != 0 || op.attrs.get<int64_t>("batch") != 0 || !one_start) fail_lane_dependent(op.span);
  const Dims &whole = f.type(op.inputs[0]).dims, &part = f.type(op.inputs[1]).dims;
  for (size_t k = 1; k < part.size(); ++k)
    if (!(part[k] == whole[k])) fail_lane_dependent(op.span);
  FlatEmitter e(c, op.span);
  return update_rows(c, op, in[0], in[1], c.mapped({e.wide(in[2].value), in[2].mapped}, op.span), 1);
}

std::vector<BatchedValue> flat_nonzero(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  BatchedValue mask = c.packed(in[0], op.span);
  Dim total = Dim::symbol("count");
  std::vector<ValueId> made = c.out().emit_many(nonzero_rows_op, {mask.value, mask.packing->offsets}, {{"defines", total}}, op.span);
  return {{made[0], true, &c.define(op.attrs.get<Dim>("defines"), total, made[1], op.span)}};
}

}  // namespace tercet
