// Rows: the same elements cut into rows by offsets, and what is done to each row at once.
#include "interpreter/ops/row_ops.h"

#include <fmt/format.h>

#include <numeric>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/effect_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/index_plan.h"
#include "interpreter/ops/row_ops_diff.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/contract.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/reduce_rows.h"
#include "interpreter/runtime/sort.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;
constexpr NotDifferentiable on_sizes{"it works on sizes"};

/// Offsets as an operand: the pointer, and how many rows.
struct Offsets {
  const int64_t* at;
  int64_t rows;
  explicit Offsets(const Array& a) : at(a.data<int64_t>()), rows(a.shape[0] - 1) {}
  int64_t length(int64_t r) const { return at[r + 1] - at[r]; }
};
Dim rows_of(const Type& offsets) { return size_at(offsets.dims, 0) - Dim(1); }
int64_t inner_of(const Array& x, size_t from = 1) {
  int64_t n = 1;
  for (size_t k = from; k < x.shape.size(); ++k) n *= x.shape[k];
  return n;
}
Array some_offsets() { return integers(DType::I64, {6}, {0, 3, 3, 4, 40, 70}); }

std::vector<BatchedValue> not_flat(BatchContext&, const Function&, const Op& op, std::span<const BatchedValue>) { fail_lane_dependent(op.span); }

constexpr OpDef row(const char* name, const char* doc, RaggedRule ragged, InferRule infer, EvalRule eval, Batch batch, Diff diff, Samples samples) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = ragged, .infer = infer, .eval = eval,
          .batch = batch, .diff = diff, .code = CodeCall{}, .samples = samples};
}
constexpr OpDef dense_row(const char* name, const char* doc, InferRule infer, EvalRule eval, Diff diff, Samples samples) {
  return row(name, doc, RaggedRule::Dense, infer, eval, BatchCustom{not_flat}, diff, samples);   // offsets come of a vmap already
}

// ---- offsets ----
std::vector<Type> infer_row_offsets(const InferInput& in) { return {{DType::I64, {size_at(in.operands[0].dims, 0) + Dim(1)}}}; }
std::vector<Array> eval_row_offsets(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  const std::vector<int64_t>& offsets = in[0].ragged->offsets[0];   // read where they are: indices of many terms are long
  Array out;
  out.dtype = DType::I64;
  out.shape = {static_cast<int64_t>(offsets.size())};
  out.buffer = Buffer::borrow(offsets.data(), out.bytes(), in[0].ragged);
  return {std::move(out)};
}

std::vector<Type> infer_rows_at(const InferInput& in) {
  Type t = in.operands[0];
  size_at(t.dims, 0) = rows_of(in.operands[1]);
  t.dims.insert(t.dims.begin() + 1, Dim::ragged());
  return {t};
}
std::vector<Array> eval_rows_at(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Array out = in[0];
  auto levels = std::make_shared<Ragged>();
  levels->offsets.emplace_back(in[1].data<int64_t>(), in[1].data<int64_t>() + in[1].count());
  out.ragged = std::move(levels);
  out.shape[0] = in[1].shape[0] - 1;
  out.shape.insert(1, ragged_axis);
  return {std::move(out)};
}

std::vector<Type> infer_rows_as(const InferInput& in) { return {{in.operands[0].dtype, in.operands[1].dims}}; }
std::vector<Array> eval_rows_as(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Array out = in[0];
  TERCET_CHECK(out.count() == total_elements(in[1]));
  out.shape = in[1].shape;
  out.ragged = in[1].ragged;
  return {std::move(out)};
}

std::vector<Type> infer_offsets_of(const InferInput& in) { return {{DType::I64, {size_at(in.operands[0].dims, 0) + Dim(1)}}}; }
std::vector<Array> eval_offsets_of(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  int64_t n = in[0].count();
  Array out = Array::make(DType::I64, {n + 1});
  int64_t* to = out.data<int64_t>();
  to[0] = 0;
  PollCounter polls;
  for (int64_t i = 0; i < n; ++i, polls.add(1))
    if (__builtin_add_overflow(to[i], std::max<int64_t>(0, in[0].data<int64_t>()[i]), to + i + 1))
      fail(Kind::Limit, op.span, "rows with more elements than can be counted");
  context.define(op, to[n]);
  return {std::move(out)};
}
std::vector<Sample> offsets_of_samples() { return {{{integers(DType::I64, {4}, {3, 0, -1, 5})}, {{"defines", Dim::symbol("total")}}}}; }

std::vector<Type> infer_row_ids(const InferInput& in) { return {{DType::I64, {in.attrs.get<Dim>("total")}}}; }
std::vector<Array> eval_row_ids(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Offsets rows(in[0]);
  Array out = Array::make(DType::I64, {rows.at[rows.rows]});
  each_run_of_rows(rows.at, rows.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) std::fill(out.data<int64_t>() + rows.at[r], out.data<int64_t>() + rows.at[r + 1], r);
  });
  return {std::move(out)};
}
std::vector<Sample> row_ids_samples() { return {{{some_offsets()}, {{"total", Dim(70)}}}}; }

std::vector<Type> infer_lane_sizes(const InferInput& in) { return {in.operands[0]}; }
std::vector<Array> eval_lane_sizes(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Lanes lanes(op, in);
  Array out = Array::make(DType::I64, in[0].shape);
  bool reported = false;
  PollCounter polls;
  for (int64_t i = 0, n = in[0].count(); i < n; ++i) {
    polls.add(1);
    int64_t size = in[0].data<int64_t>()[i];
    bool alive = lanes.alive(i);
    out.data<int64_t>()[i] = alive ? std::max<int64_t>(0, size) : 0;
    if (!alive || size >= 0 || reported) continue;
    Diagnostic d;
    d.kind = Kind::Value;
    d.span = op.span;
    d.message = fmt::format("a size must not be negative, and this is {}", size);
    context.report(std::move(d), lanes.index(i));
    reported = true;
  }
  return {std::move(out)};
}

std::vector<Array> eval_check_rows(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Offsets a(in[0]), b(in[1]);
  if (a.rows == b.rows && std::equal(a.at, a.at + a.rows + 1, b.at)) return {};
  PollCounter polls;
  for (int64_t r = 0; r < std::min(a.rows, b.rows); ++r) {
    polls.add(1);
    if (a.length(r) == b.length(r)) continue;
    Diagnostic d;
    d.kind = Kind::Shape;
    d.span = op.span;
    d.message = fmt::format("rows of different length do not go together: row {} has {} elements on one side and {} on the other", r, a.length(r), b.length(r));
    d.label = fmt::format("{} against {}", a.length(r), b.length(r));
    d.help = "give both the same row lengths";
    context.report(std::move(d), {});
    break;
  }
  return {};
}
/// Of arrays that all lanes share: once.
std::vector<BatchedValue> batch_check_rows(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (in[0].mapped || in[1].mapped || c.live() != no_value) fail_lane_dependent(op.span);
  return c.emit_shared(f, op, in);
}
std::vector<Sample> check_rows_samples() { return {{{some_offsets(), some_offsets()}, {}}}; }

std::vector<Type> infer_take_rows(const InferInput& in) {
  Type t = in.operands[0];
  size_at(t.dims, 0) = size_at(in.operands[1].dims, 0);
  return {t};
}
std::vector<Array> eval_take_rows(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const Array& x = in[0];
  const int64_t n = x.shape[0], m = in[1].count();
  const int64_t* index = in[1].data<int64_t>();
  auto at = [&](int64_t i) { return std::clamp<int64_t>(index[i], 0, std::max<int64_t>(0, n - 1)); };
  if (x.ragged->offsets.size() > 1 || x.shape[1] != ragged_axis || n == 0) {
    std::vector<Array> rows;
    for (int64_t i = 0; i < m && n > 0; ++i) rows.push_back(row_of(x, at(i)));
    std::vector<bool> ragged;
    Shape rest;
    for (const Dim& d : std::span(f.type(op.output()).dims).subspan(1)) {
      ragged.push_back(d.is_ragged());
      rest.push_back(d.is_ragged() ? 0 : d.eval(context.dims).value_or(0));
    }
    return {stack_rows(x.dtype, std::move(rows), ragged, rest)};
  }
  const std::vector<int64_t>& from = x.ragged->offsets[0];
  std::vector<int64_t> lengths(static_cast<size_t>(m)), offsets(static_cast<size_t>(m) + 1);
  for (int64_t i = 0; i < m; ++i) lengths[static_cast<size_t>(i)] = from[static_cast<size_t>(at(i)) + 1] - from[static_cast<size_t>(at(i))];
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  Shape shape{offsets.back()};
  for (size_t k = 2; k < x.shape.size(); ++k) shape.push_back(x.shape[k]);
  Array out = Array::make(x.dtype, shape);
  out.owners = x.owners;
  const size_t element = size_of(x.dtype) * static_cast<size_t>(inner_of(x, 2));
  each_run_of_rows(offsets.data(), m, static_cast<int64_t>(element), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (size_t bytes = static_cast<size_t>(lengths[static_cast<size_t>(i)]) * element)
        std::memcpy(static_cast<void*>(out.raw() + static_cast<size_t>(offsets[static_cast<size_t>(i)]) * element),
                    x.raw() + static_cast<size_t>(from[static_cast<size_t>(at(i))]) * element, bytes);
  });
  return {ragged_rows(std::move(out), lengths)};
}

// ---- reductions and folds of each row ----
/// x's axes 0 .. axes - 1 are reduced; the first of them is cut into rows.
template <ReduceKind K> std::vector<Type> infer_reduce_rows(const InferInput& in) {
  Type t = in.operands[0];
  const int64_t axes = in.attrs.get<int64_t>("axes");
  TERCET_CHECK(axes >= 0 && axes <= t.rank());
  t.dims.erase(t.dims.begin(), t.dims.begin() + axes);
  t.dims.insert(t.dims.begin(), rows_of(in.operands[1]));
  if (K == ReduceKind::ArgMax || K == ReduceKind::ArgMin) t.dtype = DType::I32;
  return {t};
}
template <ReduceKind K> constexpr bool is_logical = K == ReduceKind::Any || K == ReduceKind::All;
template <ReduceKind K> std::vector<Array> eval_reduce_rows(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  constexpr bool arg = K == ReduceKind::ArgMax || K == ReduceKind::ArgMin;
  Offsets rows(in[1]);
  auto axes = static_cast<size_t>(op.attrs.get<int64_t>("axes"));
  int64_t inner = inner_of(in[0], axes), times = 1;
  for (size_t k = 1; k < axes; ++k) times *= in[0].shape[k];
  Shape shape{rows.rows};
  for (size_t k = axes; k < in[0].shape.size(); ++k) shape.push_back(in[0].shape[k]);
  Array out = Array::make(arg ? DType::I32 : in[0].dtype, shape);
  visit_dtype(in[0].dtype, [&]<class T>() {
    if constexpr (detail::is_element<T> && (std::is_same_v<T, bool> == is_logical<K>)) {
      const T* x = in[0].data<T>();
      if constexpr (arg) {
        each_run_of_rows(rows.at, rows.rows, times * inner, [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            int32_t* to = out.data<int32_t>() + r * inner;
            int64_t n = rows.length(r) * times;
            if (n == 0) std::fill_n(to, inner, 0);   // a check has failed already
            else arg_reduce<K == ReduceKind::ArgMax>(x + rows.at[r] * times * inner, 1, n, inner, to);
          }
        });
      } else {
        reduce_rows<ReducerFor<K, T>>(x, rows.at, rows.rows, times, inner, out.data<T>());
      }
    }
  });
  return {std::move(out)};
}
template <ReduceKind K> std::vector<Sample> reduce_rows_samples() {
  std::vector<Sample> out;
  for (int d = 0; d <= static_cast<int>(DType::F64); ++d) {
    auto dtype = static_cast<DType>(d);
    if ((dtype == DType::Bool) != is_logical<K>) continue;
    constexpr bool whole = K == ReduceKind::Max || K == ReduceKind::Min || K == ReduceKind::ArgMax || K == ReduceKind::ArgMin;
    Array offsets = whole ? integers(DType::I64, {4}, {0, 3, 40, 70}) : some_offsets();
    out.push_back({{counting(dtype, {70}), offsets}, {{"axes", int64_t{1}}}});
    out.push_back({{counting(dtype, {70, 3}), offsets}, {{"axes", int64_t{1}}}});
    out.push_back({{counting(dtype, {70, 3}), offsets}, {{"axes", int64_t{2}}}});
  }
  return out;
}
template <ReduceKind K> constexpr Diff diff_of_rows() {
  if constexpr (K == ReduceKind::Sum) return Linear{transpose_sum_rows};
  else if constexpr (K == ReduceKind::Prod) return ByRule{nullptr, reverse_prod_rows};
  else if constexpr (K == ReduceKind::Max || K == ReduceKind::Min) return ByRule{nullptr, reverse_extreme_rows};
  else return NotDifferentiable{is_logical<K> ? "the result is bool" : "the result is an index"};
}
template <ReduceKind K> constexpr OpDef reduction_of_rows(const char* name, const char* doc) {
  return dense_row(name, doc, infer_reduce_rows<K>, eval_reduce_rows<K>, diff_of_rows<K>(), reduce_rows_samples<K>);
}

std::vector<Type> infer_same_as_first(const InferInput& in) { return {in.operands[0]}; }
template <ReduceKind K> std::vector<Array> eval_scan_rows(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Offsets rows(in[1]);
  int64_t inner = inner_of(in[0]);
  Array out = Array::make(in[0].dtype, in[0].shape);
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (detail::is_element<T> && !std::is_same_v<T, bool>)
      each_run_of_rows(rows.at, rows.rows, inner, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r)
          cumulate<ReducerFor<K, T>>(in[0].data<T>() + rows.at[r] * inner, 1, rows.length(r), inner, out.data<T>() + rows.at[r] * inner);
      });
  });
  return {std::move(out)};
}
template <DType... Types> std::vector<Sample> samples_of_rows() {
  std::vector<Sample> out;
  for (DType t : {Types...}) {
    out.push_back({{counting(t, {70}), some_offsets()}, {}});
    out.push_back({{counting(t, {70, 3}), some_offsets()}, {}});
  }
  return out;
}
template <ReduceKind K> constexpr Diff diff_of_running_rows() {
  if constexpr (K == ReduceKind::Sum) return Linear{transpose_cumsum_rows};
  else if constexpr (K == ReduceKind::Prod) return ByRule{nullptr, reverse_cumprod_rows};
  else return ByRule{nullptr, reverse_running_extreme_rows};
}
template <ReduceKind K> constexpr OpDef scan_of_rows(const char* name, const char* doc) {
  return dense_row(name, doc, infer_same_as_first, eval_scan_rows<K>, diff_of_running_rows<K>(),
             samples_of_rows<DType::I32, DType::F32, DType::F16, DType::U8, DType::F64>);
}

// ---- order within each row ----
template <class F> void visit_sortable(DType dtype, F f) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, KeyBits>) f.template operator()<T>();
  });
}
std::vector<Array> sorted_rows(const Op& op, std::span<Array> in, bool indices) {
  Offsets rows(in[1]);
  int64_t inner = inner_of(in[0]);
  bool descending = op.attrs.get<bool>("descending");
  Array out = Array::make(indices ? DType::I32 : in[0].dtype, in[0].shape);
  if (!indices) out.owners = in[0].owners;
  visit_sortable(in[0].dtype, [&]<class T>() {
    const T* x = in[0].data<T>();
    each_run_of_rows(rows.at, rows.rows, 8 * inner, [&](int64_t begin, int64_t end) {
      Scratch<int32_t> order;
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < inner; ++c) {
          const int64_t at = rows.at[r] * inner + c, n = rows.length(r);
          if (!indices && !std::is_same_v<T, StringRef>) {
            sort_row(x + at, n, inner, descending, out.data<T>() + at, inner);
            continue;
          }
          stable_order(x + at, n, inner, descending, order);
          for (int64_t i = 0; i < n; ++i) {
            const int32_t from = order[static_cast<size_t>(i)];
            if (indices) out.data<int32_t>()[at + i * inner] = from;
            else out.data<T>()[at + i * inner] = x[at + from * inner];
          }
        }
    });
  });
  return {std::move(out)};
}
std::vector<Type> infer_argsort_rows(const InferInput& in) { return {{DType::I32, in.operands[0].dims}}; }
std::vector<Array> eval_sort_rows(EvalContext&, const Function&, const Op& op, std::span<Array> in) { return sorted_rows(op, in, false); }
std::vector<Array> eval_argsort_rows(EvalContext&, const Function&, const Op& op, std::span<Array> in) { return sorted_rows(op, in, true); }
std::vector<Sample> sort_rows_samples() {
  std::vector<Sample> out;
  for (const Sample& s : samples_of_rows<DType::I32, DType::F32, DType::F16>())
    for (bool descending : {false, true}) out.push_back({s.operands, {{"descending", descending}}});
  return out;
}

/// Rows shorter than k have failed a check already: their places are filled with what is there, or zeros.
std::vector<Type> infer_top_k_rows(const InferInput& in) {
  Dims dims{rows_of(in.operands[1]), in.attrs.get<Dim>("k")};
  return {{in.operands[0].dtype, dims}, {DType::I32, dims}};
}
std::vector<Array> eval_top_k_rows(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Offsets rows(in[1]);
  int64_t k = context.size(op.attrs.get<Dim>("k"));
  Array values = Array::zeros(in[0].dtype, {rows.rows, k}), indices = Array::zeros(DType::I32, {rows.rows, k});
  values.owners = in[0].owners;
  visit_sortable(in[0].dtype, [&]<class T>() {
    each_run_of_rows(rows.at, rows.rows, 2, [&](int64_t begin, int64_t end) {
      Scratch<int32_t> order;
      for (int64_t r = begin; r < end; ++r) {
        const int64_t n = rows.length(r);
        const T* x = in[0].data<T>() + rows.at[r];
        top_order(x, n, std::min(k, n), order);
        for (int64_t i = 0; i < std::min(k, n); ++i) {
          values.data<T>()[r * k + i] = x[order[static_cast<size_t>(i)]];
          indices.data<int32_t>()[r * k + i] = order[static_cast<size_t>(i)];
        }
      }
    });
  });
  return {std::move(values), std::move(indices)};
}
std::vector<Sample> top_k_rows_samples() {
  Array offsets = integers(DType::I64, {4}, {0, 3, 40, 70});
  return {{{counting(DType::F32, {70}), offsets}, {{"k", Dim(3)}}}, {{counting(DType::I32, {70}), offsets}, {{"k", Dim(2)}}}};
}

// ---- sums of the rows of a table ----
std::vector<Type> infer_gather_sum_rows(const InferInput& in) {
  return {{in.operands[0].dtype, {rows_of(in.operands[2]), size_at(in.operands[0].dims, 1)}}};
}
std::vector<Array> eval_gather_sum_rows(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Offsets rows(in[2]);
  Array out = Array::make(in[0].dtype, {rows.rows, in[0].shape[1]});
  if (in[0].count() == 0) return {Array::zeros(out.dtype, out.shape)};
  visit_dtype(in[0].dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, typename Compute<T>::type> && std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
      visit_dtype(in[1].dtype, [&]<class I>() {
        if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>)
          gather_sum_rows(in[0].data<T>(), in[0].shape[0], in[0].shape[1], in[1].data<I>(), rows.at, rows.rows, out.data<T>());
      });
  });
  return {std::move(out)};
}
std::vector<Sample> gather_sum_rows_samples() {
  Array ids = Array::make(DType::I64, {70});
  for (int64_t i = 0; i < 70; ++i) ids.data<int64_t>()[i] = i * 7 % 11;
  return {{{counting(DType::F32, {11, 5}), ids, some_offsets()}, {}}, {{counting(DType::I32, {11, 300}), ids, some_offsets()}, {}}};
}

// ---- places where a mask is true ----
std::vector<Type> infer_nonzero_rows(const InferInput& in) {
  return {{DType::I64, {in.attrs.get<Dim>("defines")}}, {DType::I64, in.operands[1].dims}};
}
std::vector<Array> eval_nonzero_rows(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Offsets rows(in[1]);
  const bool* mask = in[0].data<bool>();
  Array offsets = Array::make(DType::I64, {rows.rows + 1});
  int64_t* to = offsets.data<int64_t>();
  to[0] = 0;
  each_run_of_rows(rows.at, rows.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) to[r + 1] = std::count(mask + rows.at[r], mask + rows.at[r + 1], true);
  });
  std::partial_sum(to, to + rows.rows + 1, to);
  Array places = Array::make(DType::I64, {to[rows.rows]});
  each_run_of_rows(rows.at, rows.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t* next = places.data<int64_t>() + to[r];
      for (int64_t i = 0, n = rows.length(r); i < n; ++i)
        if (mask[rows.at[r] + i]) *next++ = i;
    }
  });
  context.define(op, to[rows.rows]);
  return {std::move(places), std::move(offsets)};
}
std::vector<Sample> nonzero_rows_samples() {
  Array mask = Array::make(DType::Bool, {70});
  for (int64_t i = 0; i < 70; ++i) mask.data<bool>()[i] = i % 3 == 1;
  return {{{mask, some_offsets()}, {{"defines", Dim::symbol("count")}}}};
}

// ---- rows one after another ----
std::vector<Type> infer_concat_rows(const InferInput& in) {
  Type t = in.operands[0];
  size_at(t.dims, 0) = in.attrs.get<Dim>("total");
  return {t};
}
std::vector<Array> eval_concat_rows(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Offsets rows(in.back());
  Shape shape = in[0].shape;
  shape[0] = rows.at[rows.rows];
  Array out = Array::make(in[0].dtype, shape);
  size_t element = size_of(out.dtype) * static_cast<size_t>(inner_of(out));
  for (size_t p = 0; p + 1 < in.size(); p += 2) out.owners.insert(out.owners.end(), in[p].owners.begin(), in[p].owners.end());
  each_run_of_rows(rows.at, rows.rows, static_cast<int64_t>(element), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      std::byte* to = out.raw() + static_cast<size_t>(rows.at[r]) * element;
      for (size_t p = 0; p + 1 < in.size(); p += 2) {
        const int64_t* at = in[p + 1].data<int64_t>();
        size_t bytes = static_cast<size_t>(at[r + 1] - at[r]) * element;
        if (bytes) std::memcpy(static_cast<void*>(to), in[p].raw() + static_cast<size_t>(at[r]) * element, bytes);
        to += bytes;
      }
    }
  });
  return {std::move(out)};
}
std::vector<Sample> concat_rows_samples() {
  return {{{counting(DType::F32, {4, 2}), integers(DType::I64, {4}, {0, 1, 1, 4}), counting(DType::F32, {3, 2}), integers(DType::I64, {4}, {0, 0, 2, 3}),
            integers(DType::I64, {4}, {0, 1, 3, 7})}, {{"total", Dim(7)}}}};
}

// ---- rows of rows one after another ----
std::vector<Type> infer_concat_whole(const InferInput& in) {
  Type t = in.operands[0];
  for (const Type& part : in.operands.subspan(1)) {
    TERCET_CHECK(part.rank() == t.rank() && t.rank() > 0);
    t.dims[0] = t.dims[0] + part.dims[0];
    for (size_t k = 1; k < t.dims.size(); ++k)
      if (part.dims[k].is_ragged()) t.dims[k] = Dim::ragged();
  }
  return {t};
}
std::vector<Array> eval_concat_whole(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  std::vector<Array> rows;
  for (const Array& part : in)
    for (int64_t i = 0; i < part.shape[0]; ++i) poll_at(i), rows.push_back(row_of(part, i));
  std::vector<bool> ragged;
  Shape rest;
  for (const Dim& d : std::span(f.type(op.output()).dims).subspan(1)) {
    ragged.push_back(d.is_ragged());
    rest.push_back(d.is_ragged() ? 0 : d.eval(context.dims).value_or(0));
  }
  return {stack_rows(in[0].dtype, std::move(rows), ragged, rest)};
}

// ---- products of rows ----
/// a [total, m…], b [total, n…] -> [rows, m…, n…]
std::vector<Type> infer_dot_rows(const InferInput& in) {
  Type t{in.operands[0].dtype, {rows_of(in.operands[2])}};
  for (int side : {0, 1}) {
    const Dims& dims = in.operands[static_cast<size_t>(side)].dims;
    TERCET_CHECK(!dims.empty());
    t.dims.insert(t.dims.end(), dims.begin() + 1, dims.end());
  }
  return {t};
}
std::vector<Array> eval_dot_rows(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Offsets rows(in[2]);
  int64_t m = inner_of(in[0]), n = inner_of(in[1]);
  Shape shape{rows.rows};
  for (int side : {0, 1})
    for (size_t k = 1; k < in[static_cast<size_t>(side)].shape.size(); ++k) shape.push_back(in[static_cast<size_t>(side)].shape[k]);
  Array out = Array::make(in[0].dtype, shape);
  size_t element = size_of(out.dtype);
  const bool vectors = in[0].rank() == 1 && in[1].rank() == 1;
  each_run_of_rows(rows.at, rows.rows, m * n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const std::byte *a = in[0].raw() + static_cast<size_t>(rows.at[r] * m) * element, *b = in[1].raw() + static_cast<size_t>(rows.at[r] * n) * element;
      contract(out.dtype, {1, m, rows.length(r), n, !vectors, false}, vectors, a, b, out.raw() + static_cast<size_t>(r * m * n) * element);
    }
  });
  return {std::move(out)};
}
std::vector<Sample> dot_rows_samples() {
  std::vector<Sample> out;
  for (DType t : {DType::F32, DType::I32, DType::F16}) {
    out.push_back({{counting(t, {70}), counting(t, {70}), some_offsets()}, {}});
    out.push_back({{counting(t, {70}), counting(t, {70, 5}), some_offsets()}, {}});
    out.push_back({{counting(t, {70, 3}), counting(t, {70, 5}), some_offsets()}, {}});
  }
  return out;
}

}  // namespace

const OpDef row_offsets_op = row("row_offsets", "Where rows begin and end.", RaggedRule::Whole, infer_row_offsets, eval_row_offsets, BatchCustom{not_flat}, on_sizes, nullptr);
const OpDef rows_at_op = row("rows_at", "Values cut into rows at offsets.", RaggedRule::Dense, infer_rows_at, eval_rows_at, BatchCustom{not_flat}, Linear{transpose_rows_at}, nullptr);
const OpDef rows_as_op = row("rows_as", "Values in the rows of another array.", RaggedRule::Whole, infer_rows_as, eval_rows_as, BatchCustom{not_flat}, Linear{transpose_rows_at}, nullptr);
const OpDef offsets_of_op = row("offsets_of", "Where rows of these lengths begin and end.", RaggedRule::Dense, infer_offsets_of, eval_offsets_of, BatchCustom{not_flat}, on_sizes, offsets_of_samples);
const OpDef check_rows_op = {
    .name = "check_rows", .doc = "Rows of equal lengths.", .surface = Internal{}, .effect = Effect::Check, .ragged = RaggedRule::Dense,
    .infer = infer_nothing, .eval = eval_check_rows, .batch = BatchCustom{batch_check_rows}, .diff = on_sizes, .code = CodeCheck{nullptr}, .samples = check_rows_samples};
const OpDef take_rows_op = row("take_rows", "Rows of these numbers.", RaggedRule::Whole, infer_take_rows, eval_take_rows, BatchCustom{not_flat}, Linear{transpose_take_rows}, nullptr);
const OpDef row_ids_op = dense_row("row_ids", "The row of each element.", infer_row_ids, eval_row_ids, on_sizes, row_ids_samples);
const OpDef lane_sizes_op = {
    .name = "lane_sizes", .doc = "Integers of lanes that become sizes.", .surface = Internal{}, .effect = Effect::Check, .ragged = RaggedRule::Dense,
    .infer = infer_lane_sizes, .eval = eval_lane_sizes, .batch = BatchCustom{not_flat}, .diff = on_sizes, .code = CodeCheck{nullptr}, .samples = nullptr};
const OpDef gather_sum_rows_op = dense_row("gather_sum_rows", "Sums of a table's rows that each row names.", infer_gather_sum_rows, eval_gather_sum_rows, Linear{transpose_gather_sum_rows}, gather_sum_rows_samples);
const OpDef nonzero_rows_op = row("nonzero_rows", "Where each row of a mask is true.", RaggedRule::Dense, infer_nonzero_rows, eval_nonzero_rows, BatchCustom{not_flat}, on_sizes, nonzero_rows_samples);
const OpDef concat_rows_op = dense_row("concat_rows", "Rows of several arrays one after another.", infer_concat_rows, eval_concat_rows, Linear{transpose_concat_rows}, concat_rows_samples);
const OpDef concat_whole_op = row("concat_whole", "Rows of rows of several arrays one after another.", RaggedRule::Whole, infer_concat_whole, eval_concat_whole, BatchCustom{not_flat}, Linear{transpose_concat_whole}, nullptr);
const OpDef dot_rows_op = dense_row("dot_rows", "Sums of products along each row.", infer_dot_rows, eval_dot_rows, Multilinear{transpose_dot_rows}, dot_rows_samples);

namespace {

const OpDef sum_rows = reduction_of_rows<ReduceKind::Sum>("sum_rows", "Sum of each row.");
const OpDef prod_rows = reduction_of_rows<ReduceKind::Prod>("prod_rows", "Product of each row.");
const OpDef max_rows = reduction_of_rows<ReduceKind::Max>("max_rows", "Largest element of each row.");
const OpDef min_rows = reduction_of_rows<ReduceKind::Min>("min_rows", "Smallest element of each row.");
const OpDef any_rows = reduction_of_rows<ReduceKind::Any>("any_rows", "Is one true in each row?");
const OpDef all_rows = reduction_of_rows<ReduceKind::All>("all_rows", "Are all true in each row?");
const OpDef argmax_rows = reduction_of_rows<ReduceKind::ArgMax>("argmax_rows", "Place of the first largest element of each row.");
const OpDef argmin_rows = reduction_of_rows<ReduceKind::ArgMin>("argmin_rows", "Place of the first smallest element of each row.");
const OpDef cumsum_rows = scan_of_rows<ReduceKind::Sum>("cumsum_rows", "Running sum in each row.");
const OpDef cumprod_rows = scan_of_rows<ReduceKind::Prod>("cumprod_rows", "Running product in each row.");
const OpDef cummax_rows = scan_of_rows<ReduceKind::Max>("cummax_rows", "Running maximum in each row.");
const OpDef cummin_rows = scan_of_rows<ReduceKind::Min>("cummin_rows", "Running minimum in each row.");
const OpDef sort_rows = dense_row("sort_rows", "Each row in ascending order.", infer_same_as_first, eval_sort_rows, ByRule{nullptr, reverse_sort_rows}, sort_rows_samples);
const OpDef argsort_rows = dense_row("argsort_rows", "Indices that would sort each row.", infer_argsort_rows, eval_argsort_rows, on_sizes, sort_rows_samples);
const OpDef top_k_rows = dense_row("top_k_rows", "The k largest of each row, and their places.", infer_top_k_rows, eval_top_k_rows, ByRule{nullptr, reverse_top_k_rows}, top_k_rows_samples);

constexpr const OpDef* all_of_rows[] = {&row_offsets_op, &rows_at_op, &rows_as_op, &offsets_of_op, &row_ids_op, &lane_sizes_op, &check_rows_op, &take_rows_op, &sum_rows, &prod_rows, &max_rows, &min_rows,
                                 &any_rows, &all_rows, &argmax_rows, &argmin_rows, &cumsum_rows, &cumprod_rows, &cummax_rows, &cummin_rows,
                                 &sort_rows, &argsort_rows, &top_k_rows, &gather_sum_rows_op, &nonzero_rows_op, &concat_rows_op, &concat_whole_op, &dot_rows_op};
}  // namespace
const Family row_rows = all_of_rows;

const OpDef* rows_version(const OpDef& dense) { return find_op(std::string(dense.name) + "_rows"); }

}  // namespace tercet
