// f16 and bf16 rows to and from f32, a vector at a time; bit for bit to_float, to_half and to_bfloat of dtype.h.
#pragma once
#include <cstdint>

#include "interpreter/runtime/dtype.h"

namespace tercet {

void widen_row(const Half* from, int64_t count, float* to);
void widen_row(const BFloat* from, int64_t count, float* to);
void narrow_row(const float* from, int64_t count, Half* to);
void narrow_row(const float* from, int64_t count, BFloat* to);

}  // namespace tercet
