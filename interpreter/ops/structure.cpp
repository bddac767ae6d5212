// Rows: arrays from nothing, and the same elements in another arrangement.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/ops/view_rules.h"
#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

// ---- constant ----
std::vector<Type> infer_constant(const InferInput& in) {
  const Array& value = in.attrs.get<Array>("value");
  Type t{value.dtype, {}};
  for (int64_t s : value.shape) t.dims.emplace_back(s);
  return {t};
}
std::vector<Array> eval_constant(EvalContext&, const Function&, const Op& op, std::span<Array>) {
  return {op.attrs.get<Array>("value")};
}
std::vector<BatchedValue> batch_shared(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  return c.emit_shared(f, op, in);
}
std::vector<Sample> constant_samples() { return {{{}, {{"value", scalar_of(DType::F32, 1.5)}}}}; }

// ---- iota ----
std::vector<Type> infer_iota(const InferInput& in) { return {{in.attrs.get<DType>("dtype"), in.attrs.get<Dims>("dims")}}; }
std::vector<Array> eval_iota(EvalContext& context, const Function&, const Op& op, std::span<Array>) {
  Array out = Array::make(op.attrs.get<DType>("dtype"), context.shape(op.attrs.get<Dims>("dims")));
  auto axis = static_cast<size_t>(op.attrs.get<int64_t>("axis"));
  int64_t n = out.shape[axis], inner = 1;
  for (size_t k = axis + 1; k < out.shape.size(); ++k) inner *= out.shape[k];
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>) {
      T* y = out.data<T>();
      using C = typename Compute<T>::type;
      const bool line = inner == 1 && n == out.count();
      in_strips(out.count(), [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] = Compute<T>::store(cast<C>(line ? i : i / inner % n));
      });
    }
  });
  return {std::move(out)};
}
std::vector<Sample> iota_samples() {
  std::vector<Sample> out;
  for (DType t : {DType::I32, DType::I64, DType::F32, DType::U8, DType::F16})
    out.push_back({{}, {{"dims", Dims{3, 37, 2}}, {"axis", int64_t{1}}, {"dtype", t}}});
  out.push_back({{}, {{"dims", Dims{100}}, {"axis", int64_t{0}}, {"dtype", DType::I32}}});
  return out;
}

// ---- broadcast ----
std::vector<Type> infer_broadcast(const InferInput& in) {
  const Dims& dims = in.attrs.get<Dims>("dims");
  TERCET_CHECK(in.operands.size() == 1 && in.attrs.get<Ints>("axes").size() == in.operands[0].dims.size());
  return {{in.operands[0].dtype, dims}};
}
View view_broadcast(const Function&, const Op& op, const View& in) {
  const Dims& dims = op.attrs.get<Dims>("dims");
  const Ints& axes = op.attrs.get<Ints>("axes");
  View out{dims, Dims(dims.size(), Dim(0)), in.offset};
  for (size_t k = 0; k < axes.size(); ++k) {
    auto at = static_cast<size_t>(axes[k]);
    out.strides[at] = broadcast_stride(in.sizes[k], in.strides[k], dims[at]);
  }
  return out;
}
std::vector<BatchedValue> batch_broadcast(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"dims", with_lanes(c, op.attrs.get<Dims>("dims"))},
                                            {"axes", shifted(op.attrs.get<Ints>("axes"), true)}});
}
void transpose_broadcast(ReverseContext& c) {
  const Type& x = c.out().type(c.operand(0));
  c.add(0, c.out().emit(unbroadcast_op, {c.cotangent()}, {{"dims", x.dims}, {"axes", c.op().attrs.get<Ints>("axes")}}, c.op().span));
}
std::vector<Sample> broadcast_samples() {
  return {{{counting(DType::F32, {3, 1})}, {{"dims", Dims{3, 5}}, {"axes", Ints{0, 1}}}},
          {{counting(DType::I16, {})}, {{"dims", Dims{20}}, {"axes", Ints{}}}},
          {{counting(DType::F64, {17})}, {{"dims", Dims{2, 17, 3}}, {"axes", Ints{1}}}}};
}

// ---- unbroadcast: the transpose of broadcast, with its attributes; "dims" are the sizes of the result ----
std::vector<Type> infer_unbroadcast(const InferInput& in) {
  TERCET_CHECK(in.attrs.get<Ints>("axes").size() == in.attrs.get<Dims>("dims").size());
  return {{in.operands[0].dtype, in.attrs.get<Dims>("dims")}};
}
/// The axes that broadcast adds, and those it repeats: where `repeats(k)` holds of the operand's k-th axis.
template <class Repeats> Ints repeated_axes(int64_t rank, const Ints& axes, Repeats repeats) {
  Ints out;
  for (int64_t k = 0; k < rank; ++k) {
    auto at = std::find(axes.begin(), axes.end(), k);
    if (at == axes.end() || repeats(static_cast<size_t>(at - axes.begin()))) out.push_back(k);
  }
  return out;
}
std::vector<Array> eval_unbroadcast(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Shape to = context.shape(op.attrs.get<Dims>("dims"));
  const Ints& axes = op.attrs.get<Ints>("axes");
  Ints summed = repeated_axes(in[0].rank(), axes, [&](size_t k) { return to[k] != in[0].shape[static_cast<size_t>(axes[k])]; });
  if (summed.empty()) return {in[0].reshaped(to)};
  Builder b("unbroadcast");
  Type type{in[0].dtype, {}};
  for (int64_t s : in[0].shape) type.dims.emplace_back(s);
  ValueId x = b.param(type);
  FunctionPtr f = b.finish({b.emit(sum_op, {x}, {{"axes", summed}})});
  std::vector<Array> out = context.run_body(*f, {std::move(in[0])});
  return {out[0].reshaped(to)};
}
/// Sums over the axes that are known to repeat. An axis of size m that may be 1 or n is seen as [m, n / m]: one of the two
/// is 1, and the sum runs over the second.
std::vector<ValueId> expand_unbroadcast(Builder& b, const Op& op) {
  const Dims& to = op.attrs.get<Dims>("dims");
  const Ints& axes = op.attrs.get<Ints>("axes");
  const Dims from = b.type(op.inputs[0]).dims;
  Dims split;
  Ints summed;
  for (size_t k = 0; k < from.size(); ++k) {
    auto at = std::find(axes.begin(), axes.end(), static_cast<int64_t>(k));
    auto last = [&] { return static_cast<int64_t>(split.size()) - 1; };
    split.push_back(from[k]);
    if (at == axes.end()) {
      summed.push_back(last());
      continue;
    }
    const Dim& m = to[static_cast<size_t>(at - axes.begin())];
    if (m == from[k] || m.not_one()) continue;
    if (m.is(1)) {
      summed.push_back(last());
      continue;
    }
    split.back() = m;
    split.push_back(floordiv(from[k], m));
    summed.push_back(last());
  }
  ValueId x = split == from ? op.inputs[0] : b.emit(reshape_op, {op.inputs[0]}, {{"dims", split}}, op.span);
  if (!summed.empty()) x = b.emit(sum_op, {x}, {{"axes", summed}}, op.span);
  return {b.type(x).dims == to ? x : b.emit(reshape_op, {x}, {{"dims", to}}, op.span)};
}
std::vector<BatchedValue> batch_unbroadcast(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"dims", with_lanes(c, op.attrs.get<Dims>("dims"))},
                                            {"axes", shifted(op.attrs.get<Ints>("axes"), true)}});
}
void transpose_unbroadcast(ReverseContext& c) {
  c.add(0, repeated(c.out(), c.cotangent(), c.out().type(c.operand(0)).dims, c.op().attrs.get<Ints>("axes"), c.op().span));
}
std::vector<Sample> unbroadcast_samples() {
  return {{{counting(DType::F32, {3, 5})}, {{"dims", Dims{3, 1}}, {"axes", Ints{0, 1}}}},
          {{counting(DType::I16, {20})}, {{"dims", Dims{}}, {"axes", Ints{}}}},
          {{counting(DType::F32, {4, 33})}, {{"dims", Dims{4, 33}}, {"axes", Ints{0, 1}}}},
          {{counting(DType::F64, {2, 17, 3})}, {{"dims", Dims{17}}, {"axes", Ints{1}}}}};
}

// ---- reshape ----
std::vector<Type> infer_reshape(const InferInput& in) { return {{in.operands[0].dtype, in.attrs.get<Dims>("dims")}}; }
std::vector<Array> eval_reshape(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Shape to = context.shape(op.attrs.get<Dims>("dims"));
  if (element_count(to) != in[0].count()) return {Array::zeros(in[0].dtype, to)};   // a check has failed, or no lane is alive
  return {in[0].reshaped(to)};
}
std::vector<BatchedValue> batch_reshape(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"dims", with_lanes(c, op.attrs.get<Dims>("dims"))}});
}
void transpose_reshape(ReverseContext& c) {
  c.add(0, c.out().emit(reshape_op, {c.cotangent()}, {{"dims", c.out().type(c.operand(0)).dims}}, c.op().span));
}
std::vector<Sample> reshape_samples() {
  return {{{counting(DType::F32, {4, 6})}, {{"dims", Dims{3, 8}}}}, {{counting(DType::U8, {5, 1, 7})}, {{"dims", Dims{35}}}},
          {{counting(DType::I64, {})}, {{"dims", Dims{1, 1}}}}};
}

// ---- transpose ----
std::vector<Type> infer_transpose(const InferInput& in) {
  Type t{in.operands[0].dtype, {}};
  for (int64_t axis : in.attrs.get<Ints>("perm")) t.dims.push_back(size_at(in.operands[0].dims, axis));
  return {t};
}
View view_transpose(const Function&, const Op& op, const View& in) {
  View out{{}, {}, in.offset};
  for (int64_t axis : op.attrs.get<Ints>("perm")) {
    out.sizes.push_back(in.sizes[static_cast<size_t>(axis)]);
    out.strides.push_back(in.strides[static_cast<size_t>(axis)]);
  }
  return out;
}
std::vector<BatchedValue> batch_transpose(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"perm", shifted(op.attrs.get<Ints>("perm"), true)}});
}
void transpose_transpose(ReverseContext& c) {
  const Ints& perm = c.op().attrs.get<Ints>("perm");
  Ints back(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) back[static_cast<size_t>(perm[k])] = static_cast<int64_t>(k);
  c.add(0, reordered(c.out(), c.cotangent(), back, c.op().span));
}
std::vector<Sample> transpose_samples() {
  return {{{counting(DType::F32, {19, 33})}, {{"perm", Ints{1, 0}}}},
          {{counting(DType::I8, {2, 3, 20})}, {{"perm", Ints{2, 0, 1}}}},
          {{counting(DType::F64, {4, 5, 6})}, {{"perm", Ints{1, 0, 2}}}}};
}

// ---- slice ----
std::vector<Type> infer_slice(const InferInput& in) { return {{in.operands[0].dtype, in.attrs.get<Dims>("sizes")}}; }
View view_slice(const Function&, const Op& op, const View& in) {
  const Dims &starts = op.attrs.get<Dims>("starts"), &sizes = op.attrs.get<Dims>("sizes");
  const Ints& steps = op.attrs.get<Ints>("steps");
  View out{sizes, {}, in.offset};
  for (size_t k = 0; k < sizes.size(); ++k) {
    out.offset = out.offset + starts[k] * in.strides[k];
    out.strides.push_back(in.strides[k] * Dim(steps[k]));
  }
  return out;
}
std::vector<BatchedValue> batch_slice(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value},
                     {{"starts", prepended<Dim>(0, c.sizes(op.attrs.get<Dims>("starts")))},
                      {"sizes", with_lanes(c, op.attrs.get<Dims>("sizes"))},
                      {"steps", prepended<int64_t>(1, op.attrs.get<Ints>("steps"))}});
}
/// The cotangent lands in zeros, or is added to that part of the sum so far.
void transpose_slice(ReverseContext& c) {
  Builder& b = c.out();
  const Attrs& attrs = c.op().attrs;
  ValueId ct = c.cotangent(), sum = c.take(0);
  if (sum != no_value) ct = b.emit(add_op, {b.emit(slice_op, {sum}, attrs, c.op().span), ct}, {}, c.op().span);
  Attrs place{{"starts", attrs.get<Dims>("starts")}, {"steps", attrs.get<Ints>("steps")}};
  ValueId whole = sum != no_value ? sum : zeros_of(b, b.type(c.operand(0)), c.op().span);
  c.add(0, b.emit(slice_update_op, {whole, ct}, std::move(place), c.op().span));
}
std::vector<Sample> slice_samples() {
  return {{{counting(DType::F32, {40})}, {{"starts", Dims{3}}, {"sizes", Dims{35}}, {"steps", Ints{1}}}},
          {{counting(DType::I32, {40})}, {{"starts", Dims{39}}, {"sizes", Dims{20}}, {"steps", Ints{-2}}}},
          {{counting(DType::F64, {6, 20})}, {{"starts", Dims{1, 2}}, {"sizes", Dims{4, 17}}, {"steps", Ints{1, 1}}}},
          {{counting(DType::F32, {6})}, {{"starts", Dims{2}}, {"sizes", Dims{0}}, {"steps", Ints{1}}}}};
}

// ---- concat ----
std::vector<Type> infer_concat(const InferInput& in) {
  const int64_t axis = in.attrs.get<int64_t>("axis");
  Type t = in.operands[0];
  for (size_t i = 1; i < in.operands.size(); ++i) {
    TERCET_CHECK(in.operands[i].dtype == t.dtype && in.operands[i].rank() == t.rank());
    size_at(t.dims, axis) = size_at(t.dims, axis) + size_at(in.operands[i].dims, axis);
  }
  return {t};
}
std::vector<Array> eval_concat(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  auto axis = static_cast<size_t>(op.attrs.get<int64_t>("axis"));
  Shape shape = in[0].shape;
  for (const Array& a : in.subspan(1)) shape[axis] += a.shape[axis];
  Array out = Array::make(in[0].dtype, shape);
  size_t element = size_of(out.dtype), inner = element, outer = 1, at = 0;
  for (size_t k = axis + 1; k < shape.size(); ++k) inner *= static_cast<size_t>(shape[k]);
  for (size_t k = 0; k < axis; ++k) outer *= static_cast<size_t>(shape[k]);
  size_t row = inner * static_cast<size_t>(shape[axis]);
  for (const Array& a : in) {
    size_t run = inner * static_cast<size_t>(a.shape[axis]);
    PollCounter polls;
    for (size_t i = 0; i < outer && run; ++i) {
      copy_bytes(out.raw() + i * row + at, a.raw() + i * run, run);
      polls.add(static_cast<int64_t>(run));
    }
    at += run;
    out.owners.insert(out.owners.end(), a.owners.begin(), a.owners.end());
  }
  return {std::move(out)};
}
std::vector<BatchedValue> batch_concat(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, all_mapped(c, in, op.span), {{"axis", op.attrs.get<int64_t>("axis") + 1}});
}
void transpose_concat(ReverseContext& c) {
  Builder& b = c.out();
  auto axis = static_cast<size_t>(c.op().attrs.get<int64_t>("axis"));
  Dim at = 0;
  for (size_t i = 0; i < c.op().inputs.size(); ++i) {
    const Dims sizes = b.type(c.operand(i)).dims;
    Dims starts(sizes.size());
    starts[axis] = at;
    at = at + sizes[axis];
    if (c.wanted(i)) c.add(i, b.emit(slice_op, {c.cotangent()}, {{"starts", starts}, {"sizes", sizes}, {"steps", Ints(sizes.size(), 1)}}, c.op().span));
  }
}
std::vector<Sample> concat_samples() {
  return {{{counting(DType::F32, {3}), counting(DType::F32, {20}), counting(DType::F32, {0})}, {{"axis", int64_t{0}}}},
          {{counting(DType::I8, {3, 2}), counting(DType::I8, {3, 17})}, {{"axis", int64_t{1}}}}};
}

constexpr NotDifferentiable constant_result{"it does not depend on its operands' values"};

}  // namespace

const OpDef constant_op = {
    .name = "constant", .doc = "A value known beforehand.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_constant, .eval = eval_constant, .batch = BatchCustom{batch_shared}, .diff = constant_result,
    .code = CodeConstant{}, .samples = constant_samples};
const OpDef iota_op = {
    .name = "iota", .doc = "Each element's index along one axis.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_iota, .eval = eval_iota, .batch = BatchCustom{batch_shared, flat_iota}, .diff = constant_result,
    .code = CodeIota{}, .samples = iota_samples};
const OpDef broadcast_op = {
    .name = "broadcast", .doc = "Repetition along new axes and axes of size 1.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_broadcast, .eval = eval_view, .batch = BatchCustom{batch_broadcast, flat_broadcast},
    .diff = Linear{transpose_broadcast}, .code = CodeView{view_broadcast}, .samples = broadcast_samples};
const OpDef unbroadcast_op = {
    .name = "unbroadcast", .doc = "Sum over the axes that `broadcast` adds or repeats.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_unbroadcast, .eval = eval_unbroadcast, .batch = BatchCustom{batch_unbroadcast},
    .diff = Linear{transpose_unbroadcast}, .code = CodeExpand{expand_unbroadcast}, .samples = unbroadcast_samples};
const OpDef reshape_op = {
    .name = "reshape", .doc = "The same elements in row-major order under other sizes.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_reshape, .eval = eval_reshape, .batch = BatchCustom{batch_reshape, flat_reshape},
    .diff = Linear{transpose_reshape}, .code = CodeReshape{}, .samples = reshape_samples};
const OpDef transpose_op = {
    .name = "transpose", .doc = "Axes in another order.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_transpose, .eval = eval_view, .batch = BatchCustom{batch_transpose, flat_transpose}, .diff = Linear{transpose_transpose},
    .code = CodeView{view_transpose}, .samples = transpose_samples};
const OpDef slice_op = {
    .name = "slice", .doc = "A part with constant steps along each axis.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_slice, .eval = eval_view, .batch = BatchCustom{batch_slice, flat_slice}, .diff = Linear{transpose_slice},
    .code = CodeView{view_slice}, .samples = slice_samples};
const OpDef concat_op = {
    .name = "concat", .doc = "Arrays one after another along an axis.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_concat, .eval = eval_concat, .batch = BatchCustom{batch_concat, flat_concat}, .diff = Linear{transpose_concat},
    .code = CodeConcat{}, .samples = concat_samples};

namespace {
constexpr const OpDef* rows[] = {&constant_op, &iota_op, &broadcast_op, &unbroadcast_op, &reshape_op, &transpose_op, &slice_op, &concat_op};
}
const Family structure_rows = rows;

}  // namespace tercet
