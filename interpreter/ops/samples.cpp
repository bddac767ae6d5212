// Operands for the property tests of elementwise rows: special values of every dtype, paired, at several lengths.
#include <cmath>
#include <limits>

#include "interpreter/ops/elementwise.h"

namespace tercet {
namespace {

template <class C> std::vector<C> special_values() {
  if constexpr (std::is_same_v<C, bool>) return {false, true};
  else if constexpr (std::is_integral_v<C>) {
    using L = std::numeric_limits<C>;
    std::vector<C> v{0, 1, 2, 3, 5, 7, 31, 33, 100, L::max(), static_cast<C>(L::max() - 1), L::min(), static_cast<C>(L::min() + 1)};
    if constexpr (std::is_signed_v<C>) for (C x : {C(-1), C(-2), C(-3), C(-7), C(-64)}) v.push_back(x);
    return v;
  } else {
    using L = std::numeric_limits<C>;
    std::vector<C> v{0, -C(0), 1, -1, 2, -2, 3, C(0.5), C(-0.5), C(1.5), C(2.5), C(-2.5), C(1e-3), C(-1e-3), C(0.1),
                     10, -10, 88, -88, 100, C(1e4), C(-1e4), C(12345.678), L::infinity(), -L::infinity(), L::quiet_NaN(),
                     L::max(), L::lowest(), L::min(), -L::min(), L::denorm_min(), -L::denorm_min(), L::epsilon()};
    if constexpr (sizeof(C) == 8) for (C x : {C(709), C(-745), C(1e300), C(1e-300), C(9007199254740993.0)}) v.push_back(x);
    else for (C x : {C(3e38), C(-87.5), C(16777217), C(1e-38)}) v.push_back(x);
    return v;
  }
}

/// Operand `which` of `arity`: value i runs through the specials so that over the array all pairs occur.
template <class T> Array operand(const Shape& shape, int which) {
  using C = typename Compute<T>::type;
  const std::vector<C> values = special_values<C>();
  Array a = Array::make(dtype_for<T>(), shape);
  int64_t count = a.count(), n = static_cast<int64_t>(values.size()), stride = 1;
  for (int k = 0; k < which; ++k) stride *= n;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = which == 2 ? (i * 7 + i / n) % n : (i / stride + (count < n * n ? i * which : 0)) % n;
    a.data<T>()[i] = Compute<T>::store(values[static_cast<size_t>(at)]);
  }
  return a;
}

}  // namespace

std::vector<Sample> samples_of(Domain domain, int arity) {
  std::vector<Sample> out;
  for (int d = 0; d <= static_cast<int>(DType::F64); ++d) {
    auto dtype = static_cast<DType>(d);
    if (!accepts(domain, dtype)) continue;
    int64_t all_pairs = arity == 1 ? 83 : 38 * 38;
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{17}, Shape{3, 5}, Shape{all_pairs}}) {
      Sample s;
      visit_dtype(dtype, [&]<class T>() {
        if constexpr (detail::is_element<T>) for (int k = 0; k < arity; ++k) s.operands.push_back(operand<T>(shape, k));
      });
      out.push_back(std::move(s));
    }
  }
  return out;
}

}  // namespace tercet
