#include "codegen/run/block_totals.h"

#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

DType element_of(const Kernel& kernel, size_t r) { return kernel.nodes[static_cast<size_t>(kernel.reductions[r].value)].dtype; }
bool has_position(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

/// Calls f with ReducerFor<kind, T> for the kinds that combine values.
template <class T, class F> void visit_kind(ReduceKind kind, F f) {
  if constexpr (std::is_same_v<T, bool>) {
    if (kind == ReduceKind::Any) f.template operator()<ReducerFor<ReduceKind::Any, T>>();
    else f.template operator()<ReducerFor<ReduceKind::All, T>>();
  } else {
    if (kind == ReduceKind::Sum) f.template operator()<ReducerFor<ReduceKind::Sum, T>>();
    else if (kind == ReduceKind::Prod) f.template operator()<ReducerFor<ReduceKind::Prod, T>>();
    else if (kind == ReduceKind::Max) f.template operator()<ReducerFor<ReduceKind::Max, T>>();
    else f.template operator()<ReducerFor<ReduceKind::Min, T>>();
  }
}

}  // namespace

BlockTotals::BlockTotals(const Kernel& kernel, int64_t blocks) : kernel_(kernel), blocks_(blocks) {
  for (size_t r = 0; r < kernel.reductions.size(); ++r) {
    DType element = element_of(kernel, r);
    totals_.push_back(Array::make(element == DType::F16 || element == DType::BF16 ? DType::F32 : element, {blocks}));
    totals_.push_back(Array::make(DType::I32, {has_position(kernel.reductions[r].kind) ? blocks : 0}));
  }
  for (Array& a : totals_) pointers_.push_back(a.raw());
}

void BlockTotals::store(size_t r, std::byte* buffer, int64_t at) const {
  ReduceKind kind = kernel_.reductions[r].kind;
  const Array &values = totals_[r * totals_per_reduction], &positions = totals_[r * totals_per_reduction + 1];
  visit_dtype(element_of(kernel_, r), [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>) {
      using Acc = typename Compute<T>::type;
      const Acc* total = values.data<Acc>();
      if (has_position(kind)) {
        int32_t best = 0;
        if (kind == ReduceKind::ArgMax) arg_reduce<true>(total, 1, blocks_, 1, &best);
        else arg_reduce<false>(total, 1, blocks_, 1, &best);
        reinterpret_cast<int32_t*>(buffer)[at] = positions.data<int32_t>()[best];
        return;
      }
      visit_kind<T>(kind, [&]<class R>() {
        detail::PairwiseFold<R> fold;
        for (int64_t b = 0; b < blocks_; ++b) fold.add(static_cast<typename R::Acc>(total[b]));
        reinterpret_cast<T*>(buffer)[at] = R::store(fold.result());
      });
    }
  });
}

}  // namespace tercet
