#include "interpreter/ops/view_rules.h"

#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

/// Copies `rows` runs of the innermost axis; the run is one memcpy where its stride is 1.
template <class T>
void copy_strided(const T* from, T* to, const Shape& sizes, const std::vector<int64_t>& strides, size_t axis, PollCounter& polls) {
  if (axis == sizes.size()) {
    *to = *from;
    return;
  }
  int64_t n = sizes[axis], stride = strides[axis];
  if (axis + 1 == sizes.size()) {
    in_strips(n, [=](int64_t begin, int64_t end) {
      if (stride == 1) std::copy(from + begin, from + end, to + begin);
      else for (int64_t i = begin; i < end; ++i) to[i] = from[i * stride];
    });
    polls.add(n);
    return;
  }
  int64_t block = 1;
  for (size_t k = axis + 1; k < sizes.size(); ++k) block *= sizes[k];
  for (int64_t i = 0; i < n; ++i) copy_strided(from + i * stride, to + i * block, sizes, strides, axis + 1, polls);
}

}  // namespace

View contiguous_view(const std::vector<Dim>& sizes) {
  View v{sizes, std::vector<Dim>(sizes.size()), 0};
  Dim stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    v.strides[i] = stride;
    stride = stride * sizes[i];
  }
  return v;
}

Dim broadcast_stride(const Dim& in, const Dim& stride, const Dim& out) {
  if (in.is(1)) return 0;
  if (in == out || in.not_one()) return stride;
  // 1 -> 0, anything larger -> stride; a size of 0 reads nothing.
  return stride * max(min(in - 1, Dim(1)), Dim(0));
}

Array materialize(const Array& source, const View& view, EvalContext& context) {
  Array out = Array::make(source.dtype, context.shape(view.sizes));
  out.owners = source.owners;
  if (out.count() == 0) return out;
  std::vector<int64_t> strides;
  for (const Dim& d : view.strides) strides.push_back(context.size(d));
  int64_t offset = context.size(view.offset);
  PollCounter polls;
  visit_dtype(source.dtype, [&]<class T>() {
    copy_strided(source.data<T>() + offset, out.data<T>(), out.shape, strides, 0, polls);
  });
  return out;
}

std::vector<Array> eval_view(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  View source = contiguous_view(f.type(op.inputs[0]).dims);
  return {materialize(in[0], std::get<CodeView>(op.def->code).apply(f, op, source), context)};
}

Array permuted(const Array& a, const std::vector<int64_t>& order, EvalContext& context) {
  if (std::is_sorted(order.begin(), order.end())) return a;
  std::vector<Dim> dims;
  for (int64_t s : a.shape) dims.emplace_back(s);
  View whole = contiguous_view(dims), moved{{}, {}, 0};
  for (int64_t k : order) {
    moved.sizes.push_back(whole.sizes[static_cast<size_t>(k)]);
    moved.strides.push_back(whole.strides[static_cast<size_t>(k)]);
  }
  return materialize(a, moved, context);
}

}  // namespace tercet
