// Sorting against std::stable_sort with the order of jax-semantics section 2 spelled out.
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "interpreter/runtime/sort.h"

namespace tercet {
namespace {

template <class T> bool nan_element(T x) {
  if constexpr (std::is_integral_v<T>) return false;
  else return is_nan(Compute<T>::load(x));
}
template <class T> bool less(T a, T b) { return Compute<T>::load(a) < Compute<T>::load(b); }
template <class T> bool comes_before(T a, T b, bool descending) {
  if (nan_element(b)) return !nan_element(a);
  if (nan_element(a)) return false;
  return descending ? less(b, a) : less(a, b);
}
template <class T> bool larger(T a, T b) { return nan_element(a) ? !nan_element(b) : !nan_element(b) && less(b, a); }

/// mode 0: all values; 1: few, so ties; 2, 3: with NaN, infinities and zeros of both signs.
template <class T> T random_element(std::mt19937& random, int mode) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(mode & 1 ? random() % 10 : (uint64_t{random()} << 32 | random()));
  else {
    float x = mode & 1 ? static_cast<float>(static_cast<int>(random() % 9) - 4) : std::uniform_real_distribution<float>(-3, 3)(random);
    if (mode > 1) {
      const auto pick = random() % 40;
      const float special[] = {NAN, -NAN, 0.0f, -0.0f, INFINITY, -INFINITY, -0.0f, 0.0f};
      if (pick < 8) x = special[pick];
    }
    return Compute<T>::store(static_cast<typename Compute<T>::type>(x));
  }
}

template <class T> void check_sorting() {
  std::mt19937 random(5);
  for (int64_t n : {0, 1, 2, 7, 47, 48, 100, 1999, 2000, 5000})
    for (int mode = 0; mode < 4; ++mode) {
      const int64_t stride = mode == 2 ? 3 : 1;
      std::unique_ptr<T[]> x(new T[static_cast<size_t>(n * stride + 1)]), values(new T[static_cast<size_t>(n + 1)]);
      for (int64_t i = 0; i < n * stride; ++i) x[static_cast<size_t>(i)] = random_element<T>(random, mode);
      auto at = [&](int32_t i) { return x[static_cast<size_t>(i * stride)]; };
      INFO(name_of(dtype_for<T>()) << " n " << n << " mode " << mode);
      Scratch<int32_t> order, expected(static_cast<size_t>(n));
      for (bool descending : {false, true}) {
        stable_order(x.get(), n, stride, descending, order);
        std::iota(expected.begin(), expected.end(), 0);
        std::stable_sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) { return comes_before(at(a), at(b), descending); });
        CHECK(order == expected);
        sort_row(x.get(), n, stride, descending, values.get(), 1);
        bool equal = true;
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
          const T a = values[i], b = at(expected[i]);
          equal &= (nan_element(a) && nan_element(b)) || std::memcmp(&a, &b, sizeof(T)) == 0;
        }
        CHECK(equal);
      }
      if (stride != 1) continue;
      for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{3}, int64_t{90}, n}) {
        if (k > n) continue;
        top_order(x.get(), n, k, order);
        std::iota(expected.begin(), expected.end(), 0);
        std::stable_sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) { return larger(at(a), at(b)); });
        CHECK(order == Scratch<int32_t>(expected.begin(), expected.begin() + k));
      }
    }
}

TEST_CASE("sort, argsort and top_k of every dtype", "[sort]") {
  check_sorting<float>();
  check_sorting<double>();
  check_sorting<Half>();
  check_sorting<BFloat>();
  check_sorting<bool>();
  check_sorting<int8_t>();
  check_sorting<uint8_t>();
  check_sorting<int16_t>();
  check_sorting<uint16_t>();
  check_sorting<int32_t>();
  check_sorting<uint32_t>();
  check_sorting<int64_t>();
  check_sorting<uint64_t>();
}

TEST_CASE("top_k takes NaN as the largest", "[sort]") {
  const float x[] = {NAN, -INFINITY, INFINITY, 0};
  Scratch<int32_t> order;
  top_order(x, 4, 3, order);
  CHECK(order == Scratch<int32_t>{0, 2, 3});
}

}  // namespace
}  // namespace tercet
