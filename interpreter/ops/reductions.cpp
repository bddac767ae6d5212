// Rows: reductions in the defined order (interpreter/runtime/reduce.h), and cumulative left folds.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/ops/view_rules.h"
#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

template <ReduceKind K> constexpr bool is_arg = K == ReduceKind::ArgMax || K == ReduceKind::ArgMin;
template <ReduceKind K> constexpr bool is_logical = K == ReduceKind::Any || K == ReduceKind::All;

template <ReduceKind K> std::vector<Type> infer_reduce(const InferInput& in) {
  const Type& x = in.operands[0];
  TERCET_CHECK(is_logical<K> ? x.dtype == DType::Bool : is_int(x.dtype) || is_float(x.dtype));
  Type t{is_arg<K> ? DType::I32 : x.dtype, {}};
  for (int64_t k = 0; k < x.rank(); ++k)
    if (!contains(in.attrs.get<Ints>("axes"), k)) t.dims.push_back(x.dims[static_cast<size_t>(k)]);
  return {t};
}

/// The array as [outer, n, inner] with the reduced axes in the middle; they are brought together when they are apart.
struct Middle {
  Array array;
  int64_t outer = 1, n = 1, inner = 1;
};

Middle to_middle(Array a, const Ints& axes, EvalContext& context) {
  Middle m;
  bool together = axes.empty() || axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size());
  if (!together) {
    Ints order;   // the kept axes, then the reduced ones
    for (bool reduced : {false, true})
      for (int64_t k = 0; k < a.rank(); ++k)
        if (contains(axes, k) == reduced) {
          order.push_back(k);
          (reduced ? m.n : m.outer) *= a.shape[static_cast<size_t>(k)];
        }
    m.array = permuted(a, order, context);
    return m;
  }
  for (size_t k = 0; k < a.shape.size(); ++k) {
    auto axis = static_cast<int64_t>(k);
    (axes.empty() || axis < axes.front() ? m.outer : axis > axes.back() ? m.inner : m.n) *= a.shape[k];
  }
  m.array = std::move(a);
  return m;
}

template <ReduceKind K> std::vector<Array> eval_reduce(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  Shape shape = context.shape(f.type(op.output()).dims);
  Middle m = to_middle(std::move(in[0]), op.attrs.get<Ints>("axes"), context);
  Array out = Array::make(f.type(op.output()).dtype, shape);
  visit_dtype(m.array.dtype, [&]<class T>() {
    if constexpr (detail::is_element<T> && (std::is_same_v<T, bool> == is_logical<K>)) {
      if constexpr (is_arg<K>) arg_reduce<K == ReduceKind::ArgMax>(m.array.data<T>(), m.outer, m.n, m.inner, out.data<int32_t>());
      else reduce<ReducerFor<K, T>>(m.array.data<T>(), m.outer, m.n, m.inner, out.data<T>());
    }
  });
  return {std::move(out)};
}

std::vector<BatchedValue> batch_reduce(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"axes", shifted(op.attrs.get<Ints>("axes"))}});
}

template <ReduceKind K> std::vector<Sample> reduce_samples() {
  std::vector<Sample> out;
  for (int d = 0; d <= static_cast<int>(DType::F64); ++d) {
    auto dtype = static_cast<DType>(d);
    if ((dtype == DType::Bool) != is_logical<K>) continue;
    auto add = [&](Shape shape, Ints axes) { out.push_back({{counting(dtype, shape)}, {{"axes", std::move(axes)}}}); };
    add({70}, {0});
    add({3, 37}, {1});
    add({37, 3}, {0});
    add({5, 7, 20}, {1});
    add({4, 5, 6}, {0, 2});
    add({4, 5, 6}, {0, 1, 2});
    add({9000}, {0});
    add({}, {});
    if constexpr (K != ReduceKind::Max && K != ReduceKind::Min && !is_arg<K>) add({3, 0}, {1});
  }
  return out;
}

constexpr NotYet with_gradients{"its transpose comes with gradients"};

template <ReduceKind K> constexpr OpDef reduction(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_reduce<K>,
          .eval = eval_reduce<K>, .batch = BatchCustom{batch_reduce, flat_reduce}, .diff = with_gradients, .code = CodeReduce{K},
          .samples = reduce_samples<K>};
}

// ---- cumulative ----
std::vector<Type> infer_scan(const InferInput& in) { return {in.operands[0]}; }

template <ReduceKind K> std::vector<Array> eval_scan(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  int64_t axis = op.attrs.get<int64_t>("axis");
  Middle m = to_middle(std::move(in[0]), {axis}, context);
  Array out = Array::make(m.array.dtype, m.array.shape);
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (detail::is_element<T> && !std::is_same_v<T, bool>)
      cumulate<ReducerFor<K, T>>(m.array.data<T>(), m.outer, m.n, m.inner, out.data<T>());
  });
  return {std::move(out)};
}

std::vector<BatchedValue> batch_scan(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {in[0].value}, {{"axis", op.attrs.get<int64_t>("axis") + 1}});
}

std::vector<Sample> scan_samples() {
  std::vector<Sample> out;
  for (int d = 1; d <= static_cast<int>(DType::F64); ++d) {
    auto dtype = static_cast<DType>(d);
    out.push_back({{counting(dtype, {70})}, {{"axis", int64_t{0}}}});
    out.push_back({{counting(dtype, {3, 19})}, {{"axis", int64_t{1}}}});
    out.push_back({{counting(dtype, {19, 3})}, {{"axis", int64_t{0}}}});
  }
  return out;
}

template <ReduceKind K> constexpr OpDef cumulative(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_scan, .eval = eval_scan<K>,
          .batch = BatchCustom{batch_scan, flat_scan}, .diff = with_gradients, .code = CodeScan{K}, .samples = scan_samples};
}

}  // namespace

const OpDef sum_op = reduction<ReduceKind::Sum>("sum", "Sum over axes.");
const OpDef prod_op = reduction<ReduceKind::Prod>("prod", "Product over axes.");
const OpDef max_op = reduction<ReduceKind::Max>("max", "Largest element over axes; NaN wins.");
const OpDef min_op = reduction<ReduceKind::Min>("min", "Smallest element over axes; NaN wins.");
const OpDef any_op = reduction<ReduceKind::Any>("any", "Is one true?");
const OpDef all_op = reduction<ReduceKind::All>("all", "Are all true?");
const OpDef argmax_op = reduction<ReduceKind::ArgMax>("argmax", "Index of the first largest element; the first NaN wins.");
const OpDef argmin_op = reduction<ReduceKind::ArgMin>("argmin", "Index of the first smallest element; the first NaN wins.");
const OpDef cumsum_op = cumulative<ReduceKind::Sum>("cumsum", "Running sum along an axis, from the left.");
const OpDef cumprod_op = cumulative<ReduceKind::Prod>("cumprod", "Running product along an axis, from the left.");
const OpDef cummax_op = cumulative<ReduceKind::Max>("cummax", "Running maximum along an axis.");
const OpDef cummin_op = cumulative<ReduceKind::Min>("cummin", "Running minimum along an axis.");

namespace {
constexpr const OpDef* reductions[] = {&sum_op, &prod_op, &max_op, &min_op, &any_op, &all_op, &argmax_op, &argmin_op};
constexpr const OpDef* scans[] = {&cumsum_op, &cumprod_op, &cummax_op, &cummin_op};
}
const Family reduction_rows = reductions, scan_rows = scans;

}  // namespace tercet
