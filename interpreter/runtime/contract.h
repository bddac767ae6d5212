// Contraction of packed operands: the native kernel behind `dot`, the same for reference and compiled code.
#pragma once
#include <cstddef>
#include <cstdint>

#include "interpreter/runtime/dtype.h"

namespace tercet {

/// a is [batch, m, k], b is [batch, k, n] (products of vectors: [batch, n, k]), out is [batch, m, n]; all row-major.
/// Products of matrices also take a as [batch, k, m] and b as [batch, n, k].
struct ContractSizes {
  int64_t batch, m, k, n;
  bool a_transposed = false, b_transposed = false;
};

/// f16 and bf16 multiply and add in f32 and round once at the end; integers wrap. The order of each element's sum is
/// that of the `dot` row: k ascending as one fma chain, or the reduction order for products of `vectors`.
void contract(DType dtype, ContractSizes sizes, bool vectors, const std::byte* a, const std::byte* b, std::byte* out);

}  // namespace tercet
