// The inner tiles of gemm.cpp, one set per instruction set.
#pragma once
#include <cstdint>

namespace tercet {

/// c[rows, columns] (row r at c + r * ldc) += a b over k steps; `first` starts from +0 instead of from c.
/// a is packed: step p has its `tile_rows` values at a + p * tile_rows. b has step p at b + p * ldb, `tile_columns` values
/// readable. rows <= tile_rows, columns <= tile_columns.
template <class T> struct GemmKernel {
  int tile_rows, tile_columns;
  void (*run)(int rows, int columns, int64_t k, const T* a, const T* b, int64_t ldb, T* c, int64_t ldc, bool first);
};

extern const GemmKernel<float> gemm_avx2_f32, gemm_avx512_f32;
extern const GemmKernel<double> gemm_avx2_f64, gemm_avx512_f64;

}  // namespace tercet
