#include "codegen/run/block_totals.h"

#include "interpreter/runtime/reduce.h"

namespace tercet::codegen {
namespace {

DType element_of(const Kernel& kernel, size_t r) {
  return kernel.nodes[static_cast<size_t>(kernel.reductions[r].value)].dtype;
}
bool has_position(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

/// Calls f with ReducerFor<kind, T> for the kinds that combine values.
template <class T, class F>
void visit_kind(ReduceKind kind, F f) {
  if constexpr (std::is_same_v<T, bool>) {
    if (kind == ReduceKind::Any)
      f.template operator()<ReducerFor<ReduceKind::Any, T>>();
    else
      f.template operator()<ReducerFor<ReduceKind::All, T>>();
  } else {
    if (kind == ReduceKind::Sum)
      f.template operator()<ReducerFor<ReduceKind::Sum, T>>();
    else if (kind == ReduceKind::Prod)
      f.template operator()<ReducerFor<ReduceKind::Prod, T>>();
    else if (kind == ReduceKind::Max)
      f.template operator()<ReducerFor<ReduceKind::Max, T>>();
    else
      f.template operator()<ReducerFor<ReduceKind::Min, T>>();
  }
}

template <class F>
void visit_element(DType dtype, F f) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>) f.template operator()<T>();
  });
}

/// Pairwise, level by level, an odd last row carried up; the result is row 0.
template <class R>
void combine_rows(typename R::Acc* rows, int64_t count, int64_t width) {
  for (; count > 1; count = (count + 1) / 2) {
    for (int64_t i = 0; i < count / 2; ++i) {
      if (i > 0) std::copy_n(rows + 2 * i * width, width, rows + i * width);
      detail::combine_into<R>(rows + i * width, rows + (2 * i + 1) * width, width);
    }
    if (count % 2) std::copy_n(rows + (count - 1) * width, width, rows + count / 2 * width);
  }
}

/// Of the blocks' winners, in order, the one that wins over all.
template <bool Largest, class Acc>
void choose_positions(const Acc* values, const int32_t* positions, int64_t blocks, int64_t outputs, int32_t* result) {
  std::vector<int32_t> block(static_cast<size_t>(outputs));
  arg_reduce<Largest>(values, 1, blocks, outputs, block.data());
  for (int64_t i = 0; i < outputs; ++i) result[i] = positions[block[static_cast<size_t>(i)] * outputs + i];
}

}  // namespace

BlockTotals::BlockTotals(const Kernel& kernel, int64_t blocks, int64_t outputs)
    : kernel_(kernel), blocks_(blocks), outputs_(outputs) {
  for (size_t r = 0; r < kernel.reductions.size(); ++r) {
    DType element = element_of(kernel, r);
    totals_.push_back(
        Array::make(element == DType::F16 || element == DType::BF16 ? DType::F32 : element, {blocks, outputs}));
    totals_.push_back(Array::make(DType::I32, {has_position(kernel.reductions[r].kind) ? blocks : 0, outputs}));
  }
  for (Array& a : totals_) pointers_.push_back(a.raw());
}

void BlockTotals::store(size_t r, std::byte* result) {
  ReduceKind kind = kernel_.reductions[r].kind;
  Array &values = totals_[r * totals_per_reduction], &positions = totals_[r * totals_per_reduction + 1];
  visit_element(element_of(kernel_, r), [&]<class T>() {
    using Acc = detail::Partial<typename Compute<T>::type>;
    Acc* rows = values.data<Acc>();
    if constexpr (!std::is_same_v<T, bool>) {
      auto* out = reinterpret_cast<int32_t*>(result);
      if (kind == ReduceKind::ArgMax)
        return choose_positions<true>(rows, positions.data<int32_t>(), blocks_, outputs_, out);
      if (kind == ReduceKind::ArgMin)
        return choose_positions<false>(rows, positions.data<int32_t>(), blocks_, outputs_, out);
    }
    visit_kind<T>(kind, [&]<class R>() {
      combine_rows<R>(rows, blocks_, outputs_);
      for (int64_t i = 0; i < outputs_; ++i) reinterpret_cast<T*>(result)[i] = R::store(rows[i]);
    });
  });
}

void store_empty(const Kernel& kernel, size_t r, std::byte* result, int64_t outputs) {
  ReduceKind kind = kernel.reductions[r].kind;
  if (has_position(kind)) {
    std::fill_n(reinterpret_cast<int32_t*>(result), outputs, 0);
    return;
  }
  visit_element(element_of(kernel, r), [&]<class T>() {
    visit_kind<T>(kind, [&]<class R>() { std::fill_n(reinterpret_cast<T*>(result), outputs, R::store(R::empty())); });
  });
}

}  // namespace tercet::codegen
