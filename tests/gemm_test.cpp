// Matrix products: the bits are those of one fma chain per element, whatever the blocking, instruction set or row range.
#include <catch2/catch.hpp>
#include <array>
#include <cstring>
#include <random>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/contract.h"
#include "interpreter/runtime/gemm.h"
#include "interpreter/runtime/matvec.h"

namespace tercet {
namespace {

template <class T> T random_element(std::mt19937& random) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(random());
  else return Compute<T>::store(static_cast<typename Compute<T>::type>(std::uniform_real_distribution<float>(-1, 1)(random)));
}

template <class C> C step(C a, C b, C acc) {
  if constexpr (std::is_floating_point_v<C>) return std::fma(a, b, acc);
  else return wrap_add(acc, wrap_mul(a, b));
}

constexpr std::array<int64_t, 3> sizes[] = {{1, 1, 1}, {3, 5, 7}, {6, 64, 256}, {15, 33, 257}, {64, 64, 64}, {101, 70, 600},
                                            {1, 100, 300}, {29, 31, 0}, {500, 40, 30}, {1500, 20, 70}, {2, 2100, 20}, {13, 1, 9}, {400, 7000, 2}, {7, 1100, 270}};

template <class T> std::vector<T> chain(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b) {
  using C = typename Compute<T>::type;
  std::vector<T> out;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      C acc = 0;
      for (int64_t p = 0; p < k; ++p)
        acc = step(C(Compute<T>::load(a.data[i * a.row_stride + p * a.column_stride])),
                   C(Compute<T>::load(b.data[p * b.row_stride + j * b.column_stride])), acc);
      out.push_back(Compute<T>::store(acc));
    }
  return out;
}

template <class T> void check_products() {
  INFO(name_of(dtype_for<T>()));
  std::mt19937 random(1);
  for (auto [m, n, k] : sizes)
    for (int transposed = 0; transposed < 4; ++transposed) {
      std::vector<T> a(static_cast<size_t>(m * k + 1)), b(static_cast<size_t>(k * n + 1)), c(static_cast<size_t>(m * n));
      for (T& e : a) e = random_element<T>(random);
      for (T& e : b) e = random_element<T>(random);
      const Strided<T> left = transposed & 1 ? Strided<T>{a.data(), 1, m} : Strided<T>{a.data(), k, 1};
      const Strided<T> right = transposed & 2 ? Strided<T>{b.data(), 1, k} : Strided<T>{b.data(), n, 1};
      const std::vector<T> expected = chain(m, n, k, left, right);
      for (GemmIsa isa : {GemmIsa::Avx2, GemmIsa::Avx512, GemmIsa::Best}) {
        if (!gemm_isa_available(isa)) continue;
        std::memset(static_cast<void*>(c.data()), 0xff, c.size() * sizeof(T));
        for (auto [begin, end] : {std::array<int64_t, 2>{0, m / 3}, {m / 3, m}}) gemm_rows(begin, end, n, k, left, right, c.data(), isa);
        INFO(m << " x " << n << " x " << k << ", transposed " << transposed << ", isa " << static_cast<int>(isa));
        CHECK(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)) == 0);
        if constexpr (!std::is_integral_v<T>) {   // b packed first, in parts from the last to the first
          PackedRight<T> packed(n, k, isa);
          for (int64_t i = packed.parts(); i-- > 0;) packed.pack(i, right);
          std::memset(static_cast<void*>(c.data()), 0xff, c.size() * sizeof(T));
          gemm<T>(m, n, k, left, packed, c.data(), n);
          CHECK(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)) == 0);
        }
      }
    }
}

TEST_CASE("a matrix product is one fma chain per element", "[gemm]") {
  check_products<float>();
  check_products<double>();
  check_products<Half>();
  check_products<BFloat>();
  check_products<int32_t>();
  check_products<uint8_t>();
  check_products<int64_t>();
}

template <class T> void check_matrix_times_vector() {
  INFO(name_of(dtype_for<T>()));
  std::mt19937 random(4);
  for (int64_t m : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70})
    for (int64_t k : {0, 1, 3, 8, 15, 16, 17, 100, 512, 517, 1031, 4100}) {
      // Exactly as much memory as the operands have: reading past them is for the sanitizers to find.
      std::vector<T> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k)), c(static_cast<size_t>(m));
      for (T& e : a) e = random_element<T>(random);
      for (T& e : b) e = random_element<T>(random);
      const std::vector<T> expected = chain<T>(m, 1, k, {a.data(), k, 1}, {b.data(), 1, 1});
      std::memset(static_cast<void*>(c.data()), 0xff, c.size() * sizeof(T));
      chain_rows(0, m / 3, k, a.data(), b.data(), c.data());
      chain_rows(m / 3, m, k, a.data(), b.data(), c.data());
      INFO(m << " rows of " << k);
      CHECK(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)) == 0);
    }
}

TEST_CASE("a matrix times a vector is one fma chain per row", "[gemm]") {
  check_matrix_times_vector<float>();
  check_matrix_times_vector<double>();
  check_matrix_times_vector<Half>();
  check_matrix_times_vector<BFloat>();
}

/// Partials i mod 16 as chains from +0, tree, blocks pairwise.
template <class T> T dot_by_definition(const T* a, const T* b, int64_t k) {
  using C = typename Compute<T>::type;
  std::vector<C> blocks;
  for (int64_t at = 0; at < k; at += 4096) {
    C p[16] = {};
    for (int64_t i = at; i < std::min(k, at + 4096); ++i) p[(i - at) % 16] = step(C(Compute<T>::load(a[i])), C(Compute<T>::load(b[i])), p[(i - at) % 16]);
    for (int half : {8, 4, 2, 1})
      for (int j = 0; j < half; ++j) p[j] = wrap_add(p[j], p[j + half]);
    blocks.push_back(p[0]);
  }
  if (blocks.empty()) blocks.push_back(0);
  while (blocks.size() > 1) {
    std::vector<C> next;
    for (size_t i = 0; i < blocks.size(); i += 2) next.push_back(i + 1 < blocks.size() ? wrap_add(blocks[i], blocks[i + 1]) : blocks[i]);
    blocks = next;
  }
  return Compute<T>::store(blocks[0]);
}

template <class T> void check_dots() {
  INFO(name_of(dtype_for<T>()));
  std::mt19937 random(2);
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {1, 1, 100}, {5, 1, 33}, {1, 7, 33}, {3, 4, 17}, {2, 1, 30000}, {1, 1, 0}}) {
    std::vector<T> a(static_cast<size_t>(m * k + 1)), b(static_cast<size_t>(n * k + 1)), c(static_cast<size_t>(m * n));
    for (T& e : a) e = random_element<T>(random);
    for (T& e : b) e = random_element<T>(random);
    dot_rows(0, m, n, k, a.data(), b.data(), c.data());
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const T expected = dot_by_definition(a.data() + i * k, b.data() + j * k, k);
        CHECK(std::memcmp(&c[static_cast<size_t>(i * n + j)], &expected, sizeof(T)) == 0);
      }
  }
}

TEST_CASE("vector forms follow the reduction order", "[gemm]") {
  check_dots<float>();
  check_dots<double>();
  check_dots<Half>();
  check_dots<int16_t>();
  check_dots<uint64_t>();
}

/// So large that threads share the packed operand.
template <class T> void check_large_product() {
  INFO(name_of(dtype_for<T>()));
  std::mt19937 random(5);
  const ContractSizes s{1, 701, 301, 403};
  std::vector<T> a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n)), c(static_cast<size_t>(s.m * s.n)), expected(c.size());
  for (T& e : a) e = random_element<T>(random);
  for (T& e : b) e = random_element<T>(random);
  for (bool turned : {false, true}) {
    ContractSizes t = s;
    t.b_transposed = turned;
    const Strided<T> right = turned ? Strided<T>{b.data(), 1, s.k} : Strided<T>{b.data(), s.n, 1};
    gemm_rows<T>(0, s.m, s.n, s.k, {a.data(), s.k, 1}, right, expected.data());
    contract(dtype_for<T>(), t, false, reinterpret_cast<std::byte*>(a.data()), reinterpret_cast<std::byte*>(b.data()), reinterpret_cast<std::byte*>(c.data()));
    CHECK(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)) == 0);
  }
}

TEST_CASE("a large product on all threads", "[gemm]") {
  check_large_product<float>();
  check_large_product<double>();
  check_large_product<Half>();
  check_large_product<BFloat>();
}

TEST_CASE("contract: batches, threads and both forms", "[gemm]") {
  std::mt19937 random(3);
  const ContractSizes s{3, 700, 40, 50};
  std::vector<float> a(static_cast<size_t>(s.batch * s.m * s.k)), b(static_cast<size_t>(s.batch * s.k * s.n)), c(static_cast<size_t>(s.batch * s.m * s.n));
  for (float& e : a) e = random_element<float>(random);
  for (float& e : b) e = random_element<float>(random);
  auto bytes = [](auto& v) { return reinterpret_cast<std::byte*>(v.data()); };
  contract(DType::F32, s, false, bytes(a), bytes(b), bytes(c));
  for (int64_t i = 0; i < s.batch; ++i) {
    auto expected = chain<float>(s.m, s.n, s.k, {a.data() + i * s.m * s.k, s.k, 1}, {b.data() + i * s.k * s.n, s.n, 1});
    CHECK(std::memcmp(c.data() + i * s.m * s.n, expected.data(), expected.size() * sizeof(float)) == 0);
  }
  // The same numbers with one operand or both lying the other way.
  std::vector<float> at(a.size()), bt(b.size()), again(c.size());
  for (int64_t i = 0; i < s.batch; ++i)
    for (int64_t p = 0; p < s.k; ++p) {
      for (int64_t r = 0; r < s.m; ++r) at[static_cast<size_t>((i * s.k + p) * s.m + r)] = a[static_cast<size_t>((i * s.m + r) * s.k + p)];
      for (int64_t j = 0; j < s.n; ++j) bt[static_cast<size_t>((i * s.n + j) * s.k + p)] = b[static_cast<size_t>((i * s.k + p) * s.n + j)];
    }
  for (int which : {1, 2, 3}) {
    ContractSizes t = s;
    t.a_transposed = which & 1;
    t.b_transposed = which & 2;
    contract(DType::F32, t, false, which & 1 ? bytes(at) : bytes(a), which & 2 ? bytes(bt) : bytes(b), bytes(again));
    CHECK(std::memcmp(again.data(), c.data(), c.size() * sizeof(float)) == 0);
  }
  contract(DType::F32, s, true, bytes(a), bytes(b), bytes(c));
  CHECK(c[57] == dot_by_definition(a.data() + s.k, b.data() + 7 * s.k, s.k));
}

}  // namespace
}  // namespace tercet
