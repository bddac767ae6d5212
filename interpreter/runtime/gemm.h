// Matrix products with one defined order of every sum (language.md section 10).
//
// gemm: C[i, j] = chain of acc = fma(A[i, p], B[p, j], acc), p ascending, from +0. The order depends on nothing
// else: not on blocking, threads or instruction set, so any split into row ranges gives the same bits.
// dot_rows: both operands have the summed axis innermost; the products enter the reduction order of reduce.h: partial
// p mod 16 of a block of 4096 is the chain fma(a, b, partial) from +0; partials and blocks combine by the same trees.
// f16 and bf16 are widened, summed in f32 and rounded once; integers wrap (any order gives the same).
//
// Method: Goto and van de Geijn (2008): B packed in panels for the first-level cache, A for the second, a tile of C in
// registers. Sums of a k-block are kept in C between blocks, which loses nothing.
// Example: two threads: gemm_rows(0, m / 2, …) and gemm_rows(m / 2, m, …).
#pragma once
#include <cstdint>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/dtype.h"
#include "interpreter/runtime/scratch.h"

namespace tercet {

/// A matrix in memory: element (i, j) at data[i * row_stride + j * column_stride].
template <class T> struct Strided {
  const T* data;
  int64_t row_stride, column_stride;
};

/// So many rows or columns do not repay packing the other operand.
inline constexpr int64_t gemm_in_place = 256;

/// The instruction set to use; Best is what this machine has. For tests: all give the same bits.
enum class GemmIsa : uint8_t { Best, Avx2, Avx512 };
bool gemm_isa_available(GemmIsa isa);

/// c[m, n] = a[m, k] b[k, n]; row i of c starts at c + i * c_stride. A part of a larger product is one of these too.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, int64_t c_stride, GemmIsa isa = GemmIsa::Best);

/// The right operand of a product whose rows are computed in several pieces: packed once for all of them, in parts that do not hang on
/// each other. T is float, double, Half or BFloat; sums are of type C.
/// Example: PackedRight<float> packed(n, k); for (int64_t i = 0; i < packed.parts(); ++i) packed.pack(i, b); gemm(m, n, k, a, packed, c, n);
template <class T> class PackedRight {
 public:
  using C = typename Compute<T>::type;
  PackedRight(int64_t n, int64_t k, GemmIsa isa = GemmIsa::Best);
  int64_t parts() const;
  void pack(int64_t part, Strided<T> b);
  /// The block that begins at this column and this k; both are beginnings of blocks.
  const C* block(int64_t column, int64_t k) const;
  GemmIsa isa() const { return isa_; }

 private:
  int64_t n_, k_, padded_;   // columns, filled up to whole tiles
  GemmIsa isa_;
  Scratch<C> panels_;
};
template <class T> void gemm(int64_t m, int64_t n, int64_t k, Strided<T> a, const PackedRight<T>& b, T* c, int64_t c_stride);

/// Rows [begin, end) of the packed row-major c[m, n] = a[m, k] b[k, n].
template <class T>
void gemm_rows(int64_t begin, int64_t end, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, GemmIsa isa = GemmIsa::Best) {
  a.data += begin * a.row_stride;
  gemm(end - begin, n, k, a, b, c + begin * n, n, isa);
}

/// Rows [begin, end) of the row-major c[m, n]: c[i, j] = dot(a + i * k, b + j * k), each of length k.
template <class T> void dot_rows(int64_t begin, int64_t end, int64_t n, int64_t k, const T* a, const T* b, T* c);

}  // namespace tercet
