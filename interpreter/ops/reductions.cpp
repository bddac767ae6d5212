// Rows: reductions in the defined order (interpreter/runtime/reduce.h), and cumulative left folds.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/diff_rules.h"
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

// ---- derivatives ----
Ints kept_axes(int64_t rank, const Ints& reduced) {
  Ints out;
  for (int64_t k = 0; k < rank; ++k)
    if (!contains(reduced, k)) out.push_back(k);
  return out;
}

/// A reduction's operand, and values of its result's sizes repeated along the reduced axes.
struct Reduced {
  explicit Reduced(ReverseContext& context)
      : c(context), b(c.out()), x{&b, c.operand(0), c.op().span}, axes(c.op().attrs.get<Ints>("axes")) {}
  Expr spread(ValueId result) const {
    return {&b, repeated(b, result, x.type().dims, kept_axes(x.type().rank(), axes), x.span), x.span};
  }
  ReverseContext& c;
  Builder& b;
  Expr x;
  const Ints& axes;
};

void transpose_sum(ReverseContext& c) { c.add(0, Reduced(c).spread(c.cotangent()).id); }

/// The elements that equal the result share its cotangent; NaN equals NaN.
void reverse_extreme(ReverseContext& c) {
  Reduced r(c);
  Expr result = r.spread(c.result());
  Expr wins = (r.x == result) | ((r.x != r.x) & (result != result));
  ValueId count = r.b.emit(sum_op, {as(wins, r.x.type().dtype).id}, {{"axes", r.axes}}, r.x.span);
  Expr share = r.spread((Expr{&r.b, c.cotangent(), r.x.span} / Expr{&r.b, count, r.x.span}).id);
  c.add(0, choose(wins, share, share.number(0)).id);
}

/// The product of all others: those before times those behind, so that zeros do no harm, in second derivatives neither.
void reverse_product(ReverseContext& c) {
  Reduced r(c);
  const Dims dims = r.x.type().dims;
  Ints order = kept_axes(r.x.type().rank(), r.axes), back(order.size() + r.axes.size());
  order.insert(order.end(), r.axes.begin(), r.axes.end());
  Dims moved, joined{1, 1};
  for (size_t k = 0; k < order.size(); ++k) {
    const Dim& d = dims[static_cast<size_t>(order[k])];
    moved.push_back(d);
    back[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
    Dim& side = joined[k + r.axes.size() < order.size() ? 0 : 1];
    side = side * d;
  }
  ValueId flat = r.b.emit(reshape_op, {reordered(r.b, r.x.id, order, r.x.span)}, {{"dims", joined}}, r.x.span);
  Lines lines(r.b, r.b.type(flat), 1, r.x.span);
  Expr before{&r.b, lines.products_before(flat), r.x.span}, behind{&r.b, lines.flipped(lines.products_before(lines.flipped(flat))), r.x.span};
  ValueId others = r.b.emit(reshape_op, {(before * behind).id}, {{"dims", moved}}, r.x.span);
  Expr ct = r.spread(c.cotangent());
  c.add(0, ct.emit(strong_mul_op, {ct.id, reordered(r.b, others, back, r.x.span)}).id);
}

template <ReduceKind K> constexpr Diff diff_of() {
  if constexpr (K == ReduceKind::Sum) return Linear{transpose_sum};
  else if constexpr (K == ReduceKind::Prod) return ByRule{nullptr, reverse_product};
  else if constexpr (K == ReduceKind::Max || K == ReduceKind::Min) return ByRule{nullptr, reverse_extreme};
  else if constexpr (is_arg<K>) return NotDifferentiable{"the result is an index"};
  else return NotDifferentiable{"the result is bool"};
}

template <ReduceKind K> constexpr OpDef reduction(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_reduce<K>,
          .eval = eval_reduce<K>, .batch = BatchCustom{batch_reduce, flat_reduce}, .diff = diff_of<K>(), .code = CodeReduce{K},
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

// ---- derivatives of running folds ----
/// A fold's operand, result and cotangent as [lines, n].
struct Running {
  explicit Running(ReverseContext& context)
      : c(context), b(c.out()), lines(b, b.type(c.operand(0)), c.op().attrs.get<int64_t>("axis"), c.op().span) {}
  Expr flat(ValueId v) const { return {&b, lines.flat(v), c.op().span}; }
  void add(ValueId flat) const { c.add(0, lines.back(flat)); }
  ReverseContext& c;
  Builder& b;
  Lines lines;
};

void transpose_cumsum(ReverseContext& c) {
  Running r(c);
  ValueId sums = r.b.emit(cumsum_op, {r.lines.flipped(r.flat(c.cotangent()).id)}, {{"axis", int64_t{1}}}, c.op().span);
  r.add(r.lines.flipped(sums));
}

/// s[i] = ct[i] + x[i + 1] * s[i + 1], from the end: what the products from i on contribute. Columns are steps.
ValueId contributions(Running& r, ValueId ct, ValueId next) {
  Builder body("contributions");
  Type line{r.b.type(ct).dtype, {r.lines.lines()}};
  body.param({DType::I64, {}});
  Expr s{&body, body.param(line), r.c.op().span}, c{&body, body.param(line), s.span}, x{&body, body.param(line), s.span};
  Expr sum = c + x * s;
  FunctionPtr step = body.finish({sum.id, sum.id});
  ValueId none = zeros_of(r.b, line, s.span);
  std::vector<ValueId> inputs{none, reordered(r.b, ct, {1, 0}, s.span), reordered(r.b, next, {1, 0}, s.span)};
  Attrs attrs{{"length", r.lines.length()}, {"carried", int64_t{1}}, {"consumed", int64_t{2}}, {"reverse", true}};
  return reordered(r.b, r.b.emit_many(scan_op, inputs, std::move(attrs), s.span, {step})[1], {1, 0}, s.span);
}

void reverse_cumprod(ReverseContext& c) {
  Running r(c);
  Span span = c.op().span;
  ValueId x = r.flat(c.operand(0)).id;
  // The next element; behind the last one stands a 1.
  ValueId ones = filled(r.b, {r.b.type(x).dtype, {r.lines.lines(), 1}}, 1, span);
  ValueId more = r.b.emit(concat_op, {x, ones}, {{"axis", int64_t{1}}}, span);
  Attrs shift{{"starts", Dims{0, 1}}, {"sizes", Dims{r.lines.lines(), r.lines.length()}}, {"steps", Ints{1, 1}}};
  ValueId next = r.b.emit(slice_op, {more}, std::move(shift), span);
  Expr before{&r.b, r.lines.products_before(x), span};
  r.add((before * Expr{&r.b, contributions(r, r.flat(c.cotangent()).id, next), span}).id);
}

/// Each place's cotangent goes to the element that set its value: the first one, among equals.
void reverse_running_extreme(ReverseContext& c) {
  Running r(c);
  Span span = c.op().span;
  Expr y = r.flat(c.result());
  const Dims dims = y.type().dims;
  ValueId twice = r.b.emit(concat_op, {y.id, y.id}, {{"axis", int64_t{1}}}, span);   // y[n - 1], y[0], y[1], …
  Attrs shift{{"starts", Dims{0, r.lines.length() - 1}}, {"sizes", dims}, {"steps", Ints{1, 1}}};
  Expr previous{&r.b, r.b.emit(slice_op, {twice}, std::move(shift), span), span};
  Expr place{&r.b, r.b.emit(iota_op, {}, {{"dims", dims}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, span), span};
  Expr start = choose(y != previous, place, place.number(0));
  ValueId from = r.b.emit(cummax_op, {start.id}, {{"axis", int64_t{1}}}, span);
  r.add(r.lines.scattered(r.flat(c.cotangent()).id, from));
}

template <ReduceKind K> constexpr Diff diff_of_running() {
  if constexpr (K == ReduceKind::Sum) return Linear{transpose_cumsum};
  else if constexpr (K == ReduceKind::Prod) return ByRule{nullptr, reverse_cumprod};
  else return ByRule{nullptr, reverse_running_extreme};
}

template <ReduceKind K> constexpr OpDef cumulative(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_scan, .eval = eval_scan<K>,
          .batch = BatchCustom{batch_scan, flat_scan}, .diff = diff_of_running<K>(), .code = CodeScan{K}, .samples = scan_samples};
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
