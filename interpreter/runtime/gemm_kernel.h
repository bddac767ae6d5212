// The inner tiles of gemm.cpp, one set per instruction set.
#pragma once
#include <cstdint>

namespace tercet {

/// Element (r, p) of a left operand at data[r * row + p * step]. Packed: row 1, step `tile_rows`.
template <class T> struct GemmLeft {
  const T* data;
  int64_t row, step;
};

/// c[rows, columns] (row r at c + r * ldc) += a b over k steps; `first` starts from +0 instead of from c.
/// b has step p at b + p * ldb, whole vectors readable. The tile of `rows` rows and v vectors is tiles[v - 1][rows - 1].
template <class T> struct GemmKernel {
  using Tile = void(int columns, int64_t k, const GemmLeft<T>& a, const T* b, int64_t ldb, T* c, int64_t ldc, bool first);
  int tile_rows, tile_columns, lanes;
  Tile* tiles[4][12];
};

/// Two shapes that fill the registers: for matrices, and for few columns (or few rows of a product turned round).
template <class T> struct GemmKernels { GemmKernel<T> wide, narrow; };

extern const GemmKernels<float> gemm_avx2_f32, gemm_avx512_f32;
extern const GemmKernels<double> gemm_avx2_f64, gemm_avx512_f64;

}  // namespace tercet
