// Rows: sort, argsort, top_k. Stable; NaN sorts last, -0.0 equals 0.0; for top_k NaN is the largest.
#include <algorithm>
#include <numeric>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/sort.h"

namespace tercet {
namespace {

std::vector<Type> infer_sort(const InferInput& in) { return {in.operands[0]}; }
std::vector<Type> infer_argsort(const InferInput& in) { return {{DType::I32, in.operands[0].dims}}; }
std::vector<Type> infer_top_k(const InferInput& in) {
  Type values = in.operands[0];
  require_rank(values, 1);
  values.dims.back() = in.attrs.get<Dim>("k");
  return {values, {DType::I32, values.dims}};
}

/// Runs f(row, stride) for every line along the axis; row is its first element's offset.
template <class F> void each_line(const Shape& shape, int64_t axis, F f) {
  int64_t n = shape[static_cast<size_t>(axis)], inner = 1, outer = 1;
  for (size_t k = static_cast<size_t>(axis) + 1; k < shape.size(); ++k) inner *= shape[k];
  for (size_t k = 0; k < static_cast<size_t>(axis); ++k) outer *= shape[k];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) f(o * n * inner + i, inner);
}

template <class F> void visit_sortable(DType dtype, F f) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, KeyBits>) f.template operator()<T>();
  });
}

std::vector<Array> eval_sorting(const Op& op, std::span<Array> in, bool indices) {
  int64_t axis = op.attrs.get<int64_t>("axis"), n = in[0].shape[static_cast<size_t>(axis)];
  bool descending = op.attrs.get<bool>("descending");
  Array out = Array::make(indices ? DType::I32 : in[0].dtype, in[0].shape);
  out.owners = in[0].owners;
  Scratch<int32_t> order(static_cast<size_t>(n));
  PollCounter polls;
  visit_sortable(in[0].dtype, [&]<class T>() {
    const T* x = in[0].data<T>();
    each_line(in[0].shape, axis, [&](int64_t at, int64_t stride) {
      polls.add(n);
      stable_order(x + at, n, stride, descending, order);
      in_strips(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int32_t from = order[static_cast<size_t>(i)];
          if (indices) out.data<int32_t>()[at + i * stride] = from;
          else out.data<T>()[at + i * stride] = x[at + from * stride];
        }
      });
    });
  });
  return {std::move(out)};
}
std::vector<Array> eval_sort(EvalContext&, const Function&, const Op& op, std::span<Array> in) { return eval_sorting(op, in, false); }
std::vector<Array> eval_argsort(EvalContext&, const Function&, const Op& op, std::span<Array> in) { return eval_sorting(op, in, true); }

std::vector<Array> eval_top_k(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  int64_t n = in[0].shape.back(), k = context.size(op.attrs.get<Dim>("k"));
  Shape shape = in[0].shape;
  shape[shape.size() - 1] = k;
  Array values = Array::make(in[0].dtype, shape), indices = Array::make(DType::I32, shape);
  values.owners = in[0].owners;
  visit_sortable(in[0].dtype, [&]<class T>() {
    Scratch<int32_t> order;
    PollCounter polls;
    for (int64_t row = 0, rows = n ? in[0].count() / n : 0; row < rows; ++row) {
      const T* x = in[0].data<T>() + row * n;
      polls.add(n);
      top_order(x, n, k, order);
      for (int64_t i = 0; i < k; ++i) {
        values.data<T>()[row * k + i] = x[order[static_cast<size_t>(i)]];
        indices.data<int32_t>()[row * k + i] = order[static_cast<size_t>(i)];
      }
    }
  });
  return {std::move(values), std::move(indices)};
}

std::vector<BatchedValue> batch_sorting(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"axis", op.attrs.get<int64_t>("axis") + 1}, {"descending", op.attrs.get<bool>("descending")}});
}
std::vector<BatchedValue> batch_top_k(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"k", c.size(op.attrs.get<Dim>("k"))}});
}

void reverse_sort(ReverseContext& c) {
  Builder& b = c.out();
  Lines lines(b, b.type(c.operand(0)), c.op().attrs.get<int64_t>("axis"), c.op().span);
  ValueId order = b.emit(argsort_op, {c.operand(0)}, c.op().attrs, c.op().span);
  c.add(0, lines.back(lines.scattered(lines.flat(c.cotangent()), lines.flat(order))));
}
void reverse_top_k(ReverseContext& c) {
  Builder& b = c.out();
  if (c.cotangent(0) == no_value) return;
  const Type& x = b.type(c.operand(0));
  Lines lines(b, x, x.rank() - 1, c.op().span);
  c.add(0, lines.back(lines.scattered(lines.flat(c.cotangent(0)), lines.flat(c.result(1)))));
}

std::vector<Sample> sort_samples() {
  std::vector<Sample> out;
  for (const Sample& s : samples_of(Domain::NumbersAndBool, 1))
    if (s.operands[0].rank() > 0)
      for (bool descending : {false, true}) out.push_back({s.operands, {{"axis", int64_t{0}}, {"descending", descending}}});
  return out;
}
std::vector<Sample> top_k_samples() {
  std::vector<Sample> out;
  for (const Sample& s : samples_of(Domain::Numbers, 1))
    if (s.operands[0].rank() > 0 && s.operands[0].shape.back() >= 3) out.push_back({s.operands, {{"k", Dim(3)}}});
  return out;
}

}  // namespace

const OpDef sort_op = {
    .name = "sort", .doc = "Elements in ascending order along an axis.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_sort, .eval = eval_sort, .batch = BatchCustom{batch_sorting, flat_sorting}, .diff = ByRule{nullptr, reverse_sort},
    .code = CodeCall{}, .samples = sort_samples};
const OpDef argsort_op = {
    .name = "argsort", .doc = "Indices that would sort along an axis.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_argsort, .eval = eval_argsort, .batch = BatchCustom{batch_sorting, flat_sorting},
    .diff = NotDifferentiable{"the result is an index"}, .code = CodeCall{}, .samples = sort_samples};
const OpDef top_k_op = {
    .name = "top_k", .doc = "The k largest along the last axis, and their indices.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_top_k, .eval = eval_top_k, .batch = BatchCustom{batch_top_k, flat_top_k},
    .diff = ByRule{nullptr, reverse_top_k}, .code = CodeCall{}, .samples = top_k_samples};

namespace {
constexpr const OpDef* rows[] = {&sort_op, &argsort_op, &top_k_op};
}
const Family sorting_rows = rows;

}  // namespace tercet
