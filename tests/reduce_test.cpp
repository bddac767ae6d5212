// The reduction order: every layout against the definition in reduce.h, written out.
#include <catch2/catch.hpp>
#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

/// A value, or none: a missing partial is absent.
template <class Acc> struct Maybe {
  bool there = false;
  Acc value{};
};
template <ReduceKind K, class Acc> Acc plain_combine(Acc a, Acc b) {
  if constexpr (K == ReduceKind::Sum) return wrap_add(a, b);
  else if constexpr (K == ReduceKind::Prod) return wrap_mul(a, b);
  else if constexpr (K == ReduceKind::Max) return maximum(a, b);
  else if constexpr (K == ReduceKind::Min) return minimum(a, b);
  else if constexpr (K == ReduceKind::Any) return a || b;
  else return a && b;
}
template <ReduceKind K, class Acc> Maybe<Acc> join(Maybe<Acc> a, Maybe<Acc> b) {
  if (!a.there) return b;
  if (!b.there) return a;
  return {true, plain_combine<K>(a.value, b.value)};
}

/// The definition, word for word.
template <ReduceKind K, class Acc> Acc by_definition(const std::vector<Acc>& x) {
  std::vector<Maybe<Acc>> blocks;
  for (size_t start = 0; start < x.size(); start += 4096) {
    std::array<Maybe<Acc>, 16> p;
    for (size_t i = start; i < std::min(x.size(), start + 4096); ++i) p[(i - start) % 16] = join<K>(p[(i - start) % 16], {true, x[i]});
    for (size_t half : {8, 4, 2, 1})
      for (size_t j = 0; j < half; ++j) p[j] = join<K>(p[j], p[j + half]);
    blocks.push_back(p[0]);
  }
  while (blocks.size() > 1) {
    std::vector<Maybe<Acc>> next;
    for (size_t i = 0; i < blocks.size(); i += 2) next.push_back(i + 1 < blocks.size() ? join<K>(blocks[i], blocks[i + 1]) : blocks[i]);
    blocks = next;
  }
  if (!blocks.empty()) return blocks[0].value;
  return K == ReduceKind::Prod || K == ReduceKind::All ? Acc(1) : Acc(0);
}

/// mode 0: ordinary; 1: with NaN and zeros of both signs; 2: zeros only.
template <class T> T random_element(std::mt19937& random, int mode) {
  if constexpr (std::is_same_v<T, bool>) return random() % 40 == 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(random());
  else {
    float x = std::uniform_real_distribution<float>(-2, 2)(random);
    if (mode == 1 && random() % 4000 == 0) x = NAN;
    if (mode == 2 || (mode == 1 && random() % 5 == 0)) x = random() % 2 ? 0.0f : -0.0f;
    return Compute<T>::store(static_cast<typename Compute<T>::type>(x));
  }
}

template <class T> bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

constexpr std::array<int64_t, 3> layouts[] = {{1, 1, 1}, {3, 0, 2}, {40, 3, 1}, {17, 15, 1}, {2, 16, 1}, {3, 37, 1}, {2, 4096, 1},
                                              {1, 4099, 1}, {2, 30000, 1}, {2, 5, 3}, {3, 37, 7}, {2, 100, 16}, {1, 9000, 3},
                                              {1, 20500, 20}, {2, 50, 300}, {1, 5000, 257}, {1, 33, 1000}};

template <ReduceKind K, class T> void check_order() {
  INFO("kind " << static_cast<int>(K) << " of " << name_of(dtype_for<T>()));
  std::mt19937 random(3);
  for (int mode = 0; mode < 3; ++mode)
    for (auto [outer, n, inner] : layouts) {
      const auto count = static_cast<size_t>(outer * n * inner), results = static_cast<size_t>(outer * inner);
      std::unique_ptr<T[]> x(new T[count + 1]), out(new T[results]);
      for (size_t i = 0; i < count; ++i) x[i] = random_element<T>(random, mode);
      reduce<ReducerFor<K, T>>(x.get(), outer, n, inner, out.get());
      size_t different = 0;
      for (int64_t r = 0; r < outer * inner; ++r) {
        std::vector<typename Compute<T>::type> column;
        for (int64_t i = 0; i < n; ++i) column.push_back(Compute<T>::load(x[static_cast<size_t>((r / inner * n + i) * inner + r % inner)]));
        different += !same(out[static_cast<size_t>(r)], Compute<T>::store(by_definition<K>(column)));
      }
      INFO("[" << outer << ", " << n << ", " << inner << "] mode " << mode);
      CHECK(different == 0);
    }
}
template <class T> void check_number() {
  check_order<ReduceKind::Sum, T>();
  check_order<ReduceKind::Prod, T>();
  check_order<ReduceKind::Max, T>();
  check_order<ReduceKind::Min, T>();
}

TEST_CASE("every layout reduces in the defined order", "[reduce]") {
  check_number<float>();
  check_number<double>();
  check_number<Half>();
  check_number<BFloat>();
  check_number<int8_t>();
  check_number<uint16_t>();
  check_number<int32_t>();
  check_number<uint64_t>();
  check_order<ReduceKind::Any, bool>();
  check_order<ReduceKind::All, bool>();
}

TEST_CASE("a sum of negative zeros is a negative zero, an empty one is not", "[reduce]") {
  const float zeros[3] = {-0.0f, -0.0f, -0.0f};
  float out = 1;
  reduce<ReducerFor<ReduceKind::Sum, float>>(zeros, 1, 3, 1, &out);
  CHECK(std::signbit(out));
  reduce<ReducerFor<ReduceKind::Sum, float>>(zeros, 1, 0, 1, &out);
  CHECK((out == 0 && !std::signbit(out)));
}

TEST_CASE("f16 accumulates in f32 and rounds once", "[reduce]") {
  std::vector<Half> x(3000, to_half(1.0f));  // in f16 steps, 2048 + 1 would stay 2048
  Half out;
  reduce<ReducerFor<ReduceKind::Sum, Half>>(x.data(), 1, 3000, 1, &out);
  CHECK(to_float(out) == 3000);
}

template <bool largest, class T> int32_t arg_by_definition(const T* x, int64_t n, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    auto now = Compute<T>::load(x[best * step]), next = Compute<T>::load(x[i * step]);
    if (is_nan(now)) break;
    if (is_nan(next) || (largest ? next > now : next < now)) best = i;
  }
  return static_cast<int32_t>(best);
}
template <class T> void check_args() {
  INFO(name_of(dtype_for<T>()));
  std::mt19937 random(4);
  for (int mode = 0; mode < 3; ++mode)
    for (auto [outer, n, inner] : layouts) {
      if (n == 0) continue;
      std::vector<T> x(static_cast<size_t>(outer * n * inner));
      for (T& e : x) e = random_element<T>(random, mode);
      std::vector<int32_t> most(static_cast<size_t>(outer * inner)), least(most.size());
      arg_reduce<true>(x.data(), outer, n, inner, most.data());
      arg_reduce<false>(x.data(), outer, n, inner, least.data());
      size_t different = 0;
      for (int64_t r = 0; r < outer * inner; ++r) {
        const T* column = x.data() + r / inner * n * inner + r % inner;
        different += most[static_cast<size_t>(r)] != arg_by_definition<true>(column, n, inner);
        different += least[static_cast<size_t>(r)] != arg_by_definition<false>(column, n, inner);
      }
      INFO("[" << outer << ", " << n << ", " << inner << "] mode " << mode);
      CHECK(different == 0);
    }
}
TEST_CASE("argmax and argmin take the first, and the first NaN before all", "[reduce]") {
  check_args<float>();
  check_args<double>();
  check_args<Half>();
  check_args<int8_t>();
  check_args<uint32_t>();
}

TEST_CASE("cumulative reductions are left folds", "[reduce]") {
  std::mt19937 random(5);
  for (auto [outer, n, inner] : layouts) {
    std::vector<float> x(static_cast<size_t>(outer * n * inner)), out(x.size());
    for (float& e : x) e = random_element<float>(random, 0);
    cumulate<ReducerFor<ReduceKind::Sum, float>>(x.data(), outer, n, inner, out.data());
    size_t different = 0;
    for (int64_t r = 0; r < outer * inner; ++r) {
      float sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>((r / inner * n + i) * inner + r % inner);
        sum = i == 0 ? x[at] : sum + x[at];
        different += out[at] != sum;
      }
    }
    CHECK(different == 0);
  }
}

}  // namespace
}  // namespace tercet
