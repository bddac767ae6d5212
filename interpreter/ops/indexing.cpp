// Rows: reading and writing at indices that are known only when run. Indices count from 0; checks stand before.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/index_plan.h"
#include "interpreter/ops/indexing_diff.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/ops/view_rules.h"
#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

/// Runs f with a loop over the storage type of `dtype`.
template <class F> void visit_words(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(StringRef{});
  }
}

// ---- gather ----
std::vector<Type> infer_gather(const InferInput& in) {
  const Type& x = in.operands[0];
  const Ints& axes = in.attrs.get<Ints>("axes");
  int64_t batch = in.attrs.get<int64_t>("batch");
  TERCET_CHECK(in.operands.size() == axes.size() + 1 && !axes.empty() && batch >= 0 && batch <= x.rank());
  Type t{x.dtype, in.operands[1].dims};
  for (size_t j = 1; j < in.operands.size(); ++j)
    TERCET_CHECK(is_int(in.operands[j].dtype) && in.operands[j].dims == t.dims);
  for (int64_t k = batch; k < x.rank(); ++k)
    if (!contains(axes, k)) t.dims.push_back(x.dims[static_cast<size_t>(k)]);
  return {t};
}

/// Rows of x, which has any number of them, at an index array: the usual case, on several threads.
template <class W> void gather_of_rows(const Array& x, const Array& index, Array& out) {
  constexpr int64_t grain = 1 << 13;
  const int64_t n = x.shape[0], block = x.count() / n, count = index.count();
  const W* from = x.data<W>();
  W* to = out.data<W>();
  visit_dtype(index.dtype, [&]<class I>() {
    if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>)
      parallel_chunks(count, grain / std::max<int64_t>(block, 1) + 1, [&](int64_t, int64_t begin, int64_t end) {
        const I* at = index.data<I>();
        PollCounter polls;
        for (int64_t i = begin; i < end; ++i) {
          polls.add(block);
          const W* row = from + std::clamp<int64_t>(static_cast<int64_t>(at[i]), 0, n - 1) * block;
          if (block == 1) to[i] = *row;
          else std::copy(row, row + block, to + i * block);
        }
      });
  });
}

std::vector<Array> eval_gather(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  if (op.attrs.get<Ints>("axes") == Ints{0} && op.attrs.get<int64_t>("batch") == 0 && in[0].count() > 0) {
    Array out = Array::make(in[0].dtype, context.shape(f.type(op.output()).dims));
    out.owners = in[0].owners;
    visit_words(out.dtype, [&]<class W>(W) { gather_of_rows<W>(in[0], in[1], out); });
    return {std::move(out)};
  }
  IndexPlan plan(in[0].shape, op.attrs.get<Ints>("axes"), op.attrs.get<int64_t>("batch"), in.subspan(1));
  Array out = Array::make(in[0].dtype, context.shape(f.type(op.output()).dims));
  out.owners = in[0].owners;
  if (out.count() == 0) return {std::move(out)};
  if (in[0].count() == 0) return {Array::zeros(out.dtype, out.shape)};   // a check has failed already
  visit_words(out.dtype, [&]<class W>(W) {
    const W* x = in[0].data<W>();
    W* y = out.data<W>();
    int64_t block = plan.block();
    PollCounter polls;
    for (int64_t i = 0; i < plan.positions(); ++i, y += block) {
      polls.add(block + 1);
      const W* from = x + plan.clamped(i);
      if (plan.contiguous()) std::copy(from, from + block, y);
      else for (int64_t k = 0; k < block; ++k) y[k] = from[plan.rest()[static_cast<size_t>(k)]];
    }
  });
  return {std::move(out)};
}

std::vector<BatchedValue> batch_gather(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  int64_t batch = op.attrs.get<int64_t>("batch");
  if (!in[0].mapped && batch == 0) {   // a shared table: only the indices grow
    std::vector<ValueId> inputs = all_mapped(c, in.subspan(1), op.span);
    inputs.insert(inputs.begin(), in[0].value);
    return emit_mapped(c, op, std::move(inputs), op.attrs);
  }
  return emit_mapped(c, op, all_mapped(c, in, op.span),
                     {{"axes", shifted(op.attrs.get<Ints>("axes"))}, {"batch", batch + 1}});
}

std::vector<Sample> gather_samples() {
  Array index = integers(DType::I32, {2, 9}, {0, 4, 2, 1, 3, 4, 4, 0, 1, 2, 2, 2, 0, 1, 3, 9, 1, 0});
  Attrs first{{"axes", Ints{0}}, {"batch", int64_t{0}}};
  return {{{counting(DType::F32, {5}), index}, first},
          {{counting(DType::F64, {5, 33}), index}, first},
          {{counting(DType::U8, {3, 5}), index}, {{"axes", Ints{1}}, {"batch", int64_t{0}}}},
          {{counting(DType::I16, {2, 5, 3}), index}, {{"axes", Ints{1}}, {"batch", int64_t{1}}}},
          {{counting(DType::F32, {5, 6}), index, index}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}}}};
}

// ---- window ----
std::vector<Type> infer_window(const InferInput& in) {
  Type t = in.operands[0];
  size_at(t.dims, in.attrs.get<int64_t>("axis")) = in.attrs.get<Dim>("size");
  TERCET_CHECK(in.operands[1].rank() == in.attrs.get<int64_t>("batch") && is_int(in.operands[1].dtype));
  return {t};
}

/// Copies window `to` <- `from` (or back) for every outer position; runs are contiguous.
struct WindowWalk {
  int64_t outer = 1, batches = 1, n, size, inner = 1;
  Scratch<int64_t> starts;
  WindowWalk(const Shape& x, int64_t window, int64_t axis, int64_t batch, const Array& start)
      : n(x[static_cast<size_t>(axis)]), size(window), starts(as_int64(start)) {
    for (int64_t k = 0; k < axis; ++k) outer *= x[static_cast<size_t>(k)];
    for (int64_t k = 0; k < batch; ++k) batches *= x[static_cast<size_t>(k)];
    for (size_t k = static_cast<size_t>(axis) + 1; k < x.size(); ++k) inner *= x[k];
    for (int64_t& s : starts) s = std::clamp<int64_t>(s, 0, std::max<int64_t>(0, n - size));
  }
  template <class F> void each(F f) const {   // f(offset in x, offset in the window), in elements
    PollCounter polls;
    for (int64_t o = 0; o < outer; ++o) {
      polls.add(size * inner + 1);
      int64_t start = starts[static_cast<size_t>(o / std::max<int64_t>(1, outer / std::max<int64_t>(1, batches)))];
      f((o * n + start) * inner, o * size * inner);
    }
  }
};

std::vector<Array> eval_window(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  Array out = Array::make(in[0].dtype, context.shape(f.type(op.output()).dims));
  out.owners = in[0].owners;
  int64_t axis = op.attrs.get<int64_t>("axis");
  WindowWalk walk(in[0].shape, out.shape[static_cast<size_t>(axis)], axis, op.attrs.get<int64_t>("batch"), in[1]);
  if (out.count() == 0) return {std::move(out)};
  if (walk.size > walk.n) return {Array::zeros(out.dtype, out.shape)};   // a check has failed already
  size_t element = size_of(out.dtype), run = static_cast<size_t>(walk.size * walk.inner) * element;
  walk.each([&](int64_t x, int64_t w) {
    copy_bytes(out.raw() + static_cast<size_t>(w) * element, in[0].raw() + static_cast<size_t>(x) * element, run);
  });
  return {std::move(out)};
}

/// Windows of one shared array at a start per lane: a gather at start + 0, 1, 2, …
BatchedValue windows_of_shared(BatchContext& c, const Op& op, std::span<const BatchedValue> in) {
  Builder& b = c.out();
  int64_t axis = op.attrs.get<int64_t>("axis");
  Dims dims{c.lanes(), c.size(op.attrs.get<Dim>("size"))};
  ValueId start = b.emit(cast_op, {in[1].value}, {{"dtype", DType::I64}}, op.span);
  ValueId starts = b.emit(broadcast_op, {start}, {{"dims", dims}, {"axes", Ints{0}}}, op.span);
  ValueId steps = b.emit(iota_op, {}, {{"dims", dims}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, op.span);
  ValueId index = b.emit(add_op, {starts, steps}, {}, op.span);
  ValueId out = b.emit(gather_op, {in[0].value, index}, {{"axes", Ints{axis}}, {"batch", int64_t{0}}}, op.span);
  if (axis == 0) return {out, true};
  Ints perm{0};   // lanes, window, rest -> the window back at its axis
  for (int64_t k = 0; k < b.type(in[0].value).rank(); ++k) perm.push_back(k < axis ? k + 2 : k == axis ? 1 : k + 1);
  return {b.emit(transpose_op, {out}, {{"perm", perm}}, op.span), true};
}

std::vector<BatchedValue> batch_window(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  int64_t axis = op.attrs.get<int64_t>("axis"), batch = op.attrs.get<int64_t>("batch");
  Dim size = c.size(op.attrs.get<Dim>("size"));
  if (batch == 0 && !in[0].mapped) return {windows_of_shared(c, op, in)};
  if (batch == 0 && !in[1].mapped)
    return emit_mapped(c, op, {in[0].value, in[1].value}, {{"axis", axis + 1}, {"size", size}, {"batch", int64_t{0}}});
  return emit_mapped(c, op, all_mapped(c, in, op.span), {{"axis", axis + 1}, {"size", size}, {"batch", batch + 1}});
}

std::vector<Sample> window_samples() {
  return {{{counting(DType::F32, {50}), integers(DType::I32, {}, {7})}, {{"axis", int64_t{0}}, {"size", Dim(33)}, {"batch", int64_t{0}}}},
          {{counting(DType::I64, {4, 20}), integers(DType::I64, {}, {2})}, {{"axis", int64_t{1}}, {"size", Dim(17)}, {"batch", int64_t{0}}}},
          {{counting(DType::F32, {3, 20}), integers(DType::I32, {3}, {0, 2, 3})}, {{"axis", int64_t{1}}, {"size", Dim(17)}, {"batch", int64_t{1}}}}};
}

// ---- window_update ----
std::vector<Type> infer_first(const InferInput& in) {
  TERCET_CHECK(in.operands[0].dtype == in.operands[1].dtype);
  return {in.operands[0]};
}

std::vector<Array> eval_window_update(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  int64_t axis = op.attrs.get<int64_t>("axis");
  WindowWalk walk(in[0].shape, in[1].shape[static_cast<size_t>(axis)], axis, op.attrs.get<int64_t>("batch"), in[2]);
  Array out = std::move(in[0]).owned();
  out.owners.insert(out.owners.end(), in[1].owners.begin(), in[1].owners.end());
  if (walk.size > walk.n || in[1].count() == 0) return {std::move(out)};
  size_t element = size_of(out.dtype), run = static_cast<size_t>(walk.size * walk.inner) * element;
  walk.each([&](int64_t x, int64_t w) {
    copy_bytes(out.raw() + static_cast<size_t>(x) * element, in[1].raw() + static_cast<size_t>(w) * element, run);
  });
  return {std::move(out)};
}

std::vector<BatchedValue> batch_window_update(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, all_mapped(c, in, op.span),
                     {{"axis", op.attrs.get<int64_t>("axis") + 1}, {"batch", op.attrs.get<int64_t>("batch") + 1}});
}

std::vector<Sample> window_update_samples() {
  return {{{counting(DType::F32, {50}), counting(DType::F32, {20}), integers(DType::I32, {}, {7})}, {{"axis", int64_t{0}}, {"batch", int64_t{0}}}},
          {{counting(DType::I8, {3, 9}), counting(DType::I8, {3, 4}), integers(DType::I32, {3}, {0, 5, 2})}, {{"axis", int64_t{1}}, {"batch", int64_t{1}}}}};
}

// ---- slice_update ----
std::vector<Array> eval_slice_update(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  const Dims& starts = op.attrs.get<Dims>("starts");
  const Ints& steps = op.attrs.get<Ints>("steps");
  Array out = std::move(in[0]).owned();
  out.owners.insert(out.owners.end(), in[1].owners.begin(), in[1].owners.end());
  const Shape& part = in[1].shape;
  std::vector<int64_t> strides(part.size());
  int64_t stride = 1, offset = 0;
  for (size_t k = part.size(); k-- > 0; stride *= out.shape[k]) {
    offset += context.size(starts[k]) * stride;
    strides[k] = steps[k] * stride;
  }
  visit_words(out.dtype, [&]<class W>(W) {
    W* x = out.data<W>() + offset;
    const W* v = in[1].data<W>();
    Shape at;
    for (size_t k = 0; k < part.size(); ++k) at.push_back(0);
    PollCounter polls;
    for (int64_t i = 0, n = in[1].count(); i < n; ++i) {
      polls.add(1);
      int64_t place = 0;
      for (size_t k = 0; k < part.size(); ++k) place += at[k] * strides[k];
      x[place] = v[i];
      for (size_t k = part.size(); k-- > 0 && ++at[k] == part[k];) at[k] = 0;
    }
  });
  return {std::move(out)};
}

std::vector<BatchedValue> batch_slice_update(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, all_mapped(c, in, op.span),
                     {{"starts", prepended<Dim>(0, c.sizes(op.attrs.get<Dims>("starts")))},
                      {"steps", prepended<int64_t>(1, op.attrs.get<Ints>("steps"))}});
}

std::vector<Sample> slice_update_samples() {
  return {{{counting(DType::F32, {40}), counting(DType::F32, {10})}, {{"starts", Dims{30}}, {"steps", Ints{-2}}}},
          {{counting(DType::I32, {5, 20}), counting(DType::I32, {2, 17})}, {{"starts", Dims{1, 3}}, {"steps", Ints{2, 1}}}}};
}

// ---- scatter ----
std::vector<Type> infer_scatter(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == in.attrs.get<Ints>("axes").size() + 2);
  return infer_first(in);
}

template <class Op> void scatter_loop(const IndexPlan& plan, auto* x, const auto* v, Op combine) {
  int64_t block = plan.block();
  PollCounter polls;
  for (int64_t i = 0; i < plan.positions(); ++i) {
    polls.add(block + 1);
    int64_t at = plan.checked(i);
    if (at < 0) continue;
    for (int64_t k = 0; k < block; ++k) {
      auto& slot = x[at + plan.rest()[static_cast<size_t>(k)]];
      slot = combine(slot, v[i * block + k]);
    }
  }
}

std::vector<Array> eval_scatter(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  IndexPlan plan(in[0].shape, op.attrs.get<Ints>("axes"), op.attrs.get<int64_t>("batch"), in.subspan(2));
  Array out = std::move(in[0]).owned();
  out.owners.insert(out.owners.end(), in[1].owners.begin(), in[1].owners.end());
  const std::string& mode = op.attrs.get<std::string>("mode");
  if (mode == "set") {
    visit_words(out.dtype, [&]<class W>(W) { scatter_loop(plan, out.data<W>(), in[1].data<W>(), [](const W&, const W& b) { return b; }); });
    return {std::move(out)};
  }
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>) {
      auto run = [&](auto combine) {
        scatter_loop(plan, out.data<T>(), in[1].data<T>(), [&](T a, T b) { return Compute<T>::store(combine(Compute<T>::load(a), Compute<T>::load(b))); });
      };
      if (mode == "add") run([](auto a, auto b) { return wrap_add(a, b); });
      else if (mode == "mul") run([](auto a, auto b) { return wrap_mul(a, b); });
      else if (mode == "max") run([](auto a, auto b) { return maximum(a, b); });
      else run([](auto a, auto b) { return minimum(a, b); });
    }
  });
  return {std::move(out)};
}

std::vector<BatchedValue> batch_scatter(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, all_mapped(c, in, op.span),
                     {{"axes", shifted(op.attrs.get<Ints>("axes"))}, {"batch", op.attrs.get<int64_t>("batch") + 1},
                      {"mode", op.attrs.get<std::string>("mode")}});
}

std::vector<Sample> scatter_samples() {
  std::vector<Sample> out;
  Array index = integers(DType::I32, {7}, {1, 1, 4, -1, 0, 9, 4});
  for (const char* mode : {"set", "add", "mul", "max", "min"}) {
    Attrs attrs{{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string(mode)}};
    out.push_back({{counting(DType::F32, {5}), counting(DType::F32, {7}), index}, attrs});
    out.push_back({{counting(DType::I16, {5, 3}), counting(DType::I16, {7, 3}), index}, attrs});
    Attrs batched{{"axes", Ints{1}}, {"batch", int64_t{1}}, {"mode", std::string(mode)}};
    out.push_back({{counting(DType::I32, {2, 5}), counting(DType::I32, {2, 4}), integers(DType::I64, {2, 4}, {0, 0, 3, 4, 2, 2, 2, 5})}, batched});
  }
  return out;
}

// ---- nonzero ----
std::vector<Type> infer_nonzero(const InferInput& in) {
  TERCET_CHECK(in.operands[0].dtype == DType::Bool && in.operands[0].rank() == 1);
  return {{DType::I64, {in.attrs.get<Dim>("defines")}}};
}
std::vector<Array> eval_nonzero(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  const bool* mask = in[0].data<bool>();
  int64_t count = 0;
  in_strips(in[0].count(), [&](int64_t begin, int64_t end) { count += std::count(mask + begin, mask + end, true); });
  Array found = Array::make(DType::I64, {count});
  int64_t* next = found.data<int64_t>();
  in_strips(in[0].count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (mask[i]) *next++ = i;
  });
  context.define(op, count);
  return {std::move(found)};
}
std::vector<Sample> nonzero_samples() {
  Array mask = Array::make(DType::Bool, {35});
  for (int64_t i = 0; i < 35; ++i) mask.data<bool>()[i] = i % 3 == 1;
  return {{{mask}, {{"defines", Dim::symbol("count")}}}};
}

}  // namespace

const OpDef gather_op = {
    .name = "gather", .doc = "Elements at indices, in any number of axes.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_gather, .eval = eval_gather, .batch = BatchCustom{batch_gather, flat_gather}, .diff = Linear{transpose_gather},
    .code = CodeGather{}, .samples = gather_samples};
const OpDef window_op = {
    .name = "window", .doc = "A part of fixed size that starts at a computed place.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_window, .eval = eval_window, .batch = BatchCustom{batch_window, flat_window},
    .diff = Linear{transpose_window}, .code = CodeWindow{}, .samples = window_samples};
const OpDef window_update_op = {
    .name = "window_update", .doc = "A copy in which such a part is replaced.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_first, .eval = eval_window_update, .batch = BatchCustom{batch_window_update, flat_window_update}, .diff = Linear{transpose_window_update},
    .code = CodeCall{}, .samples = window_update_samples};
const OpDef slice_update_op = {
    .name = "slice_update", .doc = "A copy in which a slice is replaced.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_first, .eval = eval_slice_update, .batch = BatchCustom{batch_slice_update, flat_slice_update}, .diff = Linear{transpose_slice_update},
    .code = CodeCall{}, .samples = slice_update_samples};
const OpDef scatter_op = {
    .name = "scatter", .doc = "A copy with elements at indices set, or combined with others.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_scatter, .eval = eval_scatter, .batch = BatchCustom{batch_scatter, flat_scatter},
    .diff = ByRule{nullptr, reverse_scatter}, .code = CodeScatter{}, .samples = scatter_samples};
const OpDef nonzero_op = {
    .name = "nonzero", .doc = "Where a mask is true.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_nonzero, .eval = eval_nonzero, .batch = BatchCustom{flat_nonzero, flat_nonzero},
    .diff = NotDifferentiable{"the result is an index"}, .code = CodeCall{}, .samples = nonzero_samples};

namespace {
constexpr const OpDef* rows[] = {&gather_op, &window_op, &window_update_op, &slice_update_op, &scatter_op, &nonzero_op};
}
const Family indexing_rows = rows;

}  // namespace tercet
