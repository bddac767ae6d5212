// A matrix times a vector, each element in the order of a matrix product (gemm.h): one chain of fma.
#pragma once
#include <cstdint>

namespace tercet {

/// out[i] = sum of matrix[i, p] * vector[p], p ascending from +0, for rows [begin, end) of matrix[…, k]; both in memory row by row.
/// T is float, double, Half or BFloat, which sum in float and round once.
template <class T> void chain_rows(int64_t begin, int64_t end, int64_t k, const T* matrix, const T* vector, T* out);

}  // namespace tercet
