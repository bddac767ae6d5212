#include "interpreter/runtime/contract.h"

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/gemm.h"
#include "interpreter/runtime/parallel.h"

namespace tercet {
namespace {

/// Rows per chunk: below about 100 microseconds of work another thread does not pay, and each chunk of a matrix product
/// packs the right side for itself, which wants some 200 rows to hide behind.
int64_t row_grain(int64_t n, int64_t k, bool vector_form) {
  return std::max<int64_t>(vector_form ? 1 : 192, (int64_t{1} << 21) / std::max<int64_t>(1, n * k));
}

}  // namespace

void contract(DType dtype, ContractSizes s, bool vector_form, const std::byte* a_bytes, const std::byte* b_bytes, std::byte* out_bytes) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>) {
      auto *a = reinterpret_cast<const T*>(a_bytes), *b = reinterpret_cast<const T*>(b_bytes);
      auto* out = reinterpret_cast<T*>(out_bytes);
      for (int64_t i = 0; i < s.batch; ++i, a += s.m * s.k, b += s.k * s.n, out += s.m * s.n)
        parallel_chunks(s.m, row_grain(s.n, s.k, vector_form), [&](int64_t, int64_t begin, int64_t end) {
          if (vector_form) dot_rows<T>(begin, end, s.n, s.k, a, b, out);
          else gemm_rows<T>(begin, end, s.n, s.k, {a, s.k, 1}, {b, s.n, 1}, out);
        });
    }
  });
}

}  // namespace tercet
