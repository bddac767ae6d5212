#include "interpreter/ops/index_plan.h"

#include <algorithm>

#include "interpreter/runtime/polling.h"

namespace tercet {

Scratch<int64_t> as_int64(const Array& a) {
  Scratch<int64_t> out(static_cast<size_t>(a.count()));
  visit_dtype(a.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      in_strips(a.count(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[static_cast<size_t>(i)] = static_cast<int64_t>(a.data<T>()[i]);
      });
  });
  return out;
}

IndexPlan::IndexPlan(const Shape& x, std::span<const int64_t> axes, int64_t batch, std::span<const Array> indices) {
  std::vector<int64_t> strides(x.size());
  int64_t stride = 1;
  for (size_t k = x.size(); k-- > 0; stride *= x[k]) strides[k] = stride;
  for (int64_t axis : axes) {
    sizes_.push_back(x[static_cast<size_t>(axis)]);
    strides_.push_back(strides[static_cast<size_t>(axis)]);
  }
  for (const Array& a : indices) indices_.push_back(as_int64(a));
  positions_ = indices.empty() ? 1 : indices[0].count();
  int64_t batches = 1;
  for (int64_t k = 0; k < batch; ++k) batches *= x[static_cast<size_t>(k)];
  per_batch_ = std::max<int64_t>(1, batches ? positions_ / batches : 1);
  batch_stride_ = batch > 0 ? strides[static_cast<size_t>(batch - 1)] : 0;
  rest_ = {0};
  for (size_t k = static_cast<size_t>(batch); k < x.size(); ++k) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(k)) != axes.end()) continue;
    std::vector<int64_t> wider;
    for (int64_t base : rest_)
      for (int64_t i = 0; i < x[k]; ++i) wider.push_back(base + i * strides[k]);
    rest_ = std::move(wider);
  }
  for (size_t i = 0; i < rest_.size(); ++i) contiguous_ &= rest_[i] == static_cast<int64_t>(i);
}

int64_t IndexPlan::clamped(int64_t i) const {
  int64_t at = batch_offset(i);
  for (size_t j = 0; j < indices_.size(); ++j)
    at += std::clamp<int64_t>(indices_[j][static_cast<size_t>(i)], 0, std::max<int64_t>(0, sizes_[j] - 1)) * strides_[j];
  return at;
}

int64_t IndexPlan::checked(int64_t i) const {
  int64_t at = batch_offset(i);
  for (size_t j = 0; j < indices_.size(); ++j) {
    int64_t index = indices_[j][static_cast<size_t>(i)];
    if (index < 0 || index >= sizes_[j]) return -1;
    at += index * strides_[j];
  }
  return at;
}

}  // namespace tercet
