// Flat batch rules: sizes as values, and the same elements in another arrangement.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

// ---- what the rules are made of ----
ValueId FlatEmitter::number(int64_t value) { return b_.emit(constant_op, {}, {{"value", scalar_of_int(DType::I64, value)}}); }
ValueId FlatEmitter::add(ValueId a, ValueId b) { return b_.emit(add_op, {a, b}, {}, span_); }
ValueId FlatEmitter::multiply(ValueId a, int64_t by) {
  if (by == 1) return a;
  return b_.emit(mul_op, {a, spread(number(by), dims(a), {})}, {}, span_);
}
ValueId FlatEmitter::wide(ValueId index) {
  return b_.type(index).dtype == DType::I64 ? index : b_.emit(cast_op, {index}, {{"dtype", DType::I64}}, span_);
}
ValueId FlatEmitter::spread(ValueId x, const Dims& to, Ints axes) {
  if (dims(x) == to) return x;
  return b_.emit(broadcast_op, {x}, {{"dims", to}, {"axes", std::move(axes)}}, span_);
}
ValueId FlatEmitter::take(ValueId x, ValueId index) { return b_.emit(gather_op, {x, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, span_); }
ValueId FlatEmitter::begins(const Packing& p) {
  return b_.emit(slice_op, {p.offsets}, {{"starts", Dims{Dim(0)}}, {"sizes", Dims{c_.lanes()}}, {"steps", Ints{1}}}, span_);
}
ValueId FlatEmitter::for_each_element(BatchedValue v, const Packing& p) {
  if (v.mapped) return take(v.value, c_.ids(p, span_));
  Dims to = dims(v.value);
  Ints axes;
  for (size_t k = 0; k < to.size(); ++k) axes.push_back(static_cast<int64_t>(k) + 1);
  to.insert(to.begin(), p.total);
  return spread(v.value, to, axes);
}

void require_even(BatchContext& c, std::span<const Dim> dims, Span span) {
  for (const Dim& d : dims)
    if (c.varies(d)) fail_lane_dependent(span);
}
Dims rest_of(BatchContext& c, const Dims& lane_dims, size_t from) {
  Dims out;
  for (size_t k = from; k < lane_dims.size(); ++k) out.push_back(c.size(lane_dims[k]));
  return out;
}

namespace {

/// {total, rest…}: a packed value's sizes, from those of one lane.
Dims packed_dims(BatchContext& c, const Packing& p, const Dims& lane_dims) {
  Dims out = rest_of(c, lane_dims, 1);
  out.insert(out.begin(), p.total);
  return out;
}

/// The packing of sizes of which the first alone may vary.
const Packing& packing_of(BatchContext& c, const Dims& lane_dims, Span span) {
  if (lane_dims.empty() || !c.varies(lane_dims[0])) fail_lane_dependent(span);
  require_even(c, std::span(lane_dims).subspan(1), span);
  return c.packing(lane_dims[0], span);
}

}  // namespace

std::vector<BatchedValue> flat_iota(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue>) {
  const Dims& dims = op.attrs.get<Dims>("dims");
  const Packing& p = packing_of(c, dims, op.span);
  Dims to = packed_dims(c, p, dims);
  if (op.attrs.get<int64_t>("axis") != 0) {
    return {{c.out().emit(iota_op, {}, {{"dims", to}, {"axis", op.attrs.get<int64_t>("axis")}, {"dtype", op.attrs.get<DType>("dtype")}}, op.span), true, &p}};
  }
  FlatEmitter e(c, op.span);
  ValueId at = c.places(p, op.span);
  if (op.attrs.get<DType>("dtype") != DType::I64) at = c.out().emit(cast_op, {at}, {{"dtype", op.attrs.get<DType>("dtype")}}, op.span);
  return {{e.spread(at, to, {0}), true, &p}};
}

std::vector<BatchedValue> flat_dim_value(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue>) {
  return {{c.sizes_of_lanes(op.attrs.get<Dim>("dim"), op.span), true}};
}

std::vector<BatchedValue> flat_broadcast(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  const Dims& dims = op.attrs.get<Dims>("dims");
  const Ints& axes = op.attrs.get<Ints>("axes");
  FlatEmitter e(c, op.span);
  Builder& b = c.out();
  if (!c.varies(dims)) {   // packed values that are found to be of one size
    fail_lane_dependent(op.span);
  }
  const Packing& p = packing_of(c, dims, op.span);
  Dims to = packed_dims(c, p, dims), from = c.lane_type(in[0]).dims;
  bool along = !axes.empty() && axes[0] == 0;   // the operand's axis 0 is the one that varies
  if (in[0].packing) {
    if (!along) fail_lane_dependent(op.span);
    ValueId x = in[0].value;
    if (in[0].packing != &p) {   // rows of 1 are repeated, others have the same length by a check
      ValueId length = e.take(in[0].packing->lengths, c.ids(p, op.span)), zero = e.spread(e.number(0), {p.total}, {}), one = e.spread(e.number(1), {p.total}, {});
      ValueId single = b.emit(eq_op, {length, one}, {}, op.span);
      ValueId place = b.emit(select_op, {single, zero, c.places(p, op.span)}, {}, op.span);
      x = e.take(x, e.add(e.take(e.begins(*in[0].packing), c.ids(p, op.span)), place));
    }
    return {{e.spread(x, to, axes), true, &p}};
  }
  if (along && !from[0].is(1)) {   // one size for all lanes, which repeats where it is 1
    Dim n = from[0];
    ValueId size = b.emit(dim_value_op, {}, {{"dim", n}}, op.span);
    ValueId single = e.spread(b.emit(eq_op, {size, e.number(1)}, {}, op.span), {p.total}, {});
    ValueId place = b.emit(select_op, {single, e.spread(e.number(0), {p.total}, {}), c.places(p, op.span)}, {}, op.span);
    ValueId x = in[0].mapped ? b.emit(gather_op, {in[0].value, c.ids(p, op.span), place}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}}, op.span)
                             : e.take(in[0].value, place);
    return {{e.spread(x, to, axes), true, &p}};
  }
  BatchedValue x = in[0];
  Ints rest = axes;
  if (along) {   // an axis of size 1 in front
    Dims without = e.dims(x.value);
    without.erase(without.begin() + x.mapped);
    x.value = b.emit(reshape_op, {x.value}, {{"dims", without}}, op.span);
    rest.erase(rest.begin());
  }
  if (!x.mapped) return {{e.spread(x.value, to, rest), true, &p}};
  rest.insert(rest.begin(), 0);
  return {{e.spread(e.for_each_element(x, p), to, rest), true, &p}};
}

std::vector<BatchedValue> flat_reshape(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  const Dims &dims = op.attrs.get<Dims>("dims"), &from = f.type(op.inputs[0]).dims;
  if (!in[0].packing) fail_lane_dependent(op.span);
  const Packing& p = packing_of(c, dims, op.span);
  auto product = [](const Dims& d) {
    Dim n(1);
    for (const Dim& one : d) n = n * one;
    return n;
  };
  Dims have = from;
  have[0] = in[0].packing->size;
  if (!(product(have) == product(dims)) && !(product(from) == product(dims))) fail_lane_dependent(op.span);
  return {{c.out().emit(reshape_op, {in[0].value}, {{"dims", packed_dims(c, p, dims)}}, op.span), true, &p}};
}

std::vector<BatchedValue> flat_transpose(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  if (op.attrs.get<Ints>("perm")[0] != 0) fail_lane_dependent(op.span);
  return {{c.out().emit(transpose_op, {in[0].value}, op.attrs, op.span), true, in[0].packing}};
}

namespace {

/// Axes 1 … of a slice, on a value whose axis 0 is read whole.
ValueId slice_rest(BatchContext& c, const Op& op, ValueId x, size_t extra) {
  const Dims &starts = op.attrs.get<Dims>("starts"), &sizes = op.attrs.get<Dims>("sizes");
  const Ints& steps = op.attrs.get<Ints>("steps");
  Dims have = c.out().type(x).dims, at(have.size(), Dim(0)), some = have;
  Ints by(have.size(), 1);
  for (size_t k = 1; k < sizes.size(); ++k) at[k + extra] = c.size(starts[k]), some[k + extra] = c.size(sizes[k]), by[k + extra] = steps[k];
  bool whole = some == have && std::all_of(by.begin(), by.end(), [](int64_t s) { return s == 1; });
  return whole ? x : c.out().emit(slice_op, {x}, {{"starts", at}, {"sizes", some}, {"steps", by}}, op.span);
}

/// i64 of the given sizes (packed, or lanes and more): start of each lane + step * place.
ValueId places_from(FlatEmitter& e, const Dim& start, int64_t step, const Packing* to, const Dims& even, Span span) {
  BatchContext& c = e.context();
  if (to) return e.add(e.take(c.sizes_of_lanes(start, span), c.ids(*to, span)), e.multiply(c.places(*to, span), step));
  ValueId steps = c.out().emit(iota_op, {}, {{"dims", even}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, span);
  return e.add(e.spread(c.sizes_of_lanes(start, span), even, {0}), e.multiply(steps, step));
}

}  // namespace

std::vector<BatchedValue> flat_slice(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  const Dims &starts = op.attrs.get<Dims>("starts"), &sizes = op.attrs.get<Dims>("sizes");
  int64_t step = op.attrs.get<Ints>("steps")[0];
  FlatEmitter e(c, op.span);
  Dims from = c.lane_type(in[0]).dims;
  require_even(c, std::span(sizes).subspan(1), op.span);
  if (in[0].packing && starts[0].is(0) && step == 1 && c.varies(sizes[0]) && &c.packing(sizes[0], op.span) == in[0].packing)
    return {{slice_rest(c, op, in[0].value, 0), true, in[0].packing}};
  const Packing* to = c.varies(sizes[0]) ? &c.packing(sizes[0], op.span) : nullptr;
  Dims even = to ? Dims{} : Dims{c.lanes(), c.size(sizes[0])};
  ValueId index = places_from(e, starts[0], step, to, even, op.span), x = in[0].value;
  if (in[0].packing) {
    ValueId begin = e.begins(*in[0].packing);
    index = e.add(index, to ? e.take(begin, c.ids(*to, op.span)) : e.spread(begin, even, {0}));
    x = e.take(x, index);
  } else if (in[0].mapped) {
    ValueId lane = to ? c.ids(*to, op.span) : e.spread(c.out().emit(iota_op, {}, {{"dims", Dims{c.lanes()}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, op.span), even, {0});
    x = c.out().emit(gather_op, {x, lane, index}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}}, op.span);
  } else {
    x = e.take(x, index);
  }
  return {{slice_rest(c, op, x, to ? 0 : 1), true, to}};
}

std::vector<BatchedValue> flat_concat(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (int64_t axis = op.attrs.get<int64_t>("axis"); axis != 0) {
    std::vector<ValueId> inputs;
    for (const BatchedValue& v : in) {
      if (!v.packing || v.packing != in[0].packing) fail_lane_dependent(op.span);
      inputs.push_back(v.value);
    }
    return {{c.out().emit(concat_op, std::move(inputs), op.attrs, op.span), true, in[0].packing}};
  }
  const Packing& p = packing_of(c, f.type(op.output()).dims, op.span);
  std::vector<ValueId> inputs;
  for (const BatchedValue& v : in) {
    BatchedValue part = c.packed(v, op.span);
    inputs.push_back(part.value);
    inputs.push_back(part.packing->offsets);
  }
  inputs.push_back(p.offsets);
  return {{c.out().emit(concat_rows_op, std::move(inputs), {{"total", p.total}}, op.span), true, &p}};
}

}  // namespace tercet
