// Small arrays for samples.
#pragma once
#include "interpreter/runtime/array.h"

namespace tercet {

/// Values 0, 37, 74, 10, … (i * 37 mod 101), which are distinct and unordered within 101 elements.
inline Array counting(DType dtype, const Shape& shape) {
  Array a = Array::make(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>)
      for (int64_t i = 0, n = a.count(); i < n; ++i)
        a.data<T>()[i] = Compute<T>::store(cast<typename Compute<T>::type>(i * 37 % 101));
  });
  return a;
}

/// An array of these integers.
inline Array integers(DType dtype, const Shape& shape, std::initializer_list<int64_t> values) {
  Array a = Array::make(dtype, shape);
  const int64_t* from = values.begin();
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>)
      for (size_t i = 0; i < values.size(); ++i) a.data<T>()[i] = Compute<T>::store(cast<typename Compute<T>::type>(from[i]));
  });
  return a;
}

}  // namespace tercet
