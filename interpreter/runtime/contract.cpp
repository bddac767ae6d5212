#include "interpreter/runtime/contract.h"

#include <algorithm>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/gemm.h"
#include "interpreter/runtime/matvec.h"
#include "interpreter/runtime/parallel.h"

namespace tercet {
namespace {

/// Multiply-adds below which another thread does not pay: about 20 microseconds of a matrix product.
constexpr int64_t worthwhile = int64_t{1} << 21;

/// How many of `count` equal pieces to do at once, each of `work` multiply-adds.
int64_t grain_of(int64_t work, int64_t least) { return std::max(least, worthwhile / std::max<int64_t>(1, work)); }

/// Rows (or columns) of a product to do at once. Each chunk packs the other operand for itself, unless that is small
/// enough to be read in place, so there are as few as will do: one a thread, or more for work that is to be polled.
int64_t product_grain(int64_t count, int64_t work, bool packs) {
  constexpr int64_t longest = int64_t{1} << 31;   // multiply-adds: some 20 ms
  int64_t chunks = std::max(available_threads(), count * work / longest);
  return std::max(grain_of(work, packs ? 192 : 12), (count + chunks - 1) / chunks);
}

/// Rows in pieces that share the packed right operand, several a thread: one that is held up leaves its pieces to the others.
template <class T> void shared_product(Strided<T> a, Strided<T> b, ContractSizes s, T* out) {
  constexpr int64_t pieces_of_thread = 4, least_rows = 96;
  PackedRight<T> packed(s.n, s.k);
  parallel_chunks(packed.parts(), 8, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) packed.pack(i, b);
  });
  const int64_t pieces = available_threads() * pieces_of_thread;
  parallel_chunks(s.m, std::max(least_rows, (s.m + pieces - 1) / pieces), [&](int64_t, int64_t begin, int64_t end) {
    gemm<T>(end - begin, s.n, s.k, {a.data + begin * a.row_stride, a.row_stride, a.column_stride}, packed, out + begin * s.n, s.n);
  });
}
/// Does that pay? It takes a right operand that one thread would pack for long, and memory for it.
template <class T> bool shares_packing(ContractSizes s) {
  constexpr int64_t least = int64_t{1} << 26, most_bytes = int64_t{64} << 20;   // multiply-adds: half a millisecond
  return available_threads() > 1 && s.m >= s.n && s.n > gemm_in_place && s.k > gemm_in_place && s.m * s.n * s.k >= least &&
         s.n * s.k * static_cast<int64_t>(sizeof(typename Compute<T>::type)) <= most_bytes;
}

/// One product in parallel, along its longer side.
template <class T> void matrix_product(const T* a, const T* b, ContractSizes s, T* out) {
  const Strided<T> left = s.a_transposed ? Strided<T>{a, 1, s.m} : Strided<T>{a, s.k, 1};
  const Strided<T> right = s.b_transposed ? Strided<T>{b, 1, s.k} : Strided<T>{b, s.n, 1};
  if constexpr (!std::is_integral_v<T>)
    if (shares_packing<T>(s)) return shared_product<T>(left, right, s, out);
  const bool packs = std::min(s.m, s.n) > gemm_in_place || s.k > gemm_in_place;
  if (s.m >= s.n) {
    parallel_chunks(s.m, product_grain(s.m, s.n * s.k, packs), [&](int64_t, int64_t begin, int64_t end) {
      gemm_rows<T>(begin, end, s.n, s.k, left, right, out);
    });
  } else {
    parallel_chunks(s.n, product_grain(s.n, s.m * s.k, packs), [&](int64_t, int64_t begin, int64_t end) {
      gemm<T>(s.m, end - begin, s.k, left, {b + begin * right.column_stride, right.row_stride, right.column_stride}, out + begin, s.n);
    });
  }
}

/// Dot products of every row of a with every row of b.
template <class T> void dot_products(const T* a, const T* b, ContractSizes s, T* out) {
  if (s.m >= s.n) {
    parallel_chunks(s.m, grain_of(s.n * s.k, 1), [&](int64_t, int64_t begin, int64_t end) { dot_rows<T>(begin, end, s.n, s.k, a, b, out); });
  } else {
    for (int64_t i = 0; i < s.m; ++i)
      parallel_chunks(s.n, grain_of(s.k, 1), [&](int64_t, int64_t begin, int64_t end) {
        dot_rows<T>(0, 1, end - begin, s.k, a + i * s.k, b + begin * s.k, out + i * s.n + begin);
      });
  }
}

/// A vector and a matrix: the matrix is read as it lies, its rows as so many sums or by columns.
template <class T> void vector_product(const T* a, const T* b, ContractSizes s, T* out) {
  const bool left = s.m == 1;                       // the vector is a
  const T *vector = left ? a : b, *matrix = left ? b : a;
  const int64_t n = left ? s.n : s.m;
  if (left ? !s.b_transposed : s.a_transposed) return matrix_product(vector, matrix, {1, 1, s.k, n}, out);   // [k, n]
  parallel_chunks(n, grain_of(s.k, 8), [&](int64_t, int64_t begin, int64_t end) {
    if constexpr (std::is_integral_v<T>) dot_rows<T>(begin, end, 1, s.k, matrix, vector, out);   // any order gives the same
    else chain_rows<T>(begin, end, s.k, matrix, vector, out);
  });
}

template <class T> void product(const T* a, const T* b, ContractSizes s, bool vectors, T* out) {
  if (vectors) dot_products(a, b, s, out);
  else if (s.m == 1 || s.n == 1) vector_product(a, b, s, out);
  else matrix_product(a, b, s, out);
}

/// The products of a batch: one after another when each is big enough for all threads, else side by side.
template <class T> void products(const T* a, const T* b, ContractSizes s, bool vectors, T* out) {
  const int64_t work = s.m * s.n * s.k;
  auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) product(a + i * s.m * s.k, b + i * s.k * s.n, s, vectors, out + i * s.m * s.n);
  };
  if (s.batch == 1 || work >= 64 * worthwhile) run(0, s.batch);
  else parallel_chunks(s.batch, grain_of(work, 1), [&](int64_t, int64_t begin, int64_t end) { run(begin, end); });
}

}  // namespace

void contract(DType dtype, ContractSizes s, bool vectors, const std::byte* a, const std::byte* b, std::byte* out) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>)
      products(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b), s, vectors, reinterpret_cast<T*>(out));
  });
}

}  // namespace tercet
