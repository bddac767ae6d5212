// Names, sizes and promotion of element types; conversions of the 16-bit floats.
#include "interpreter/runtime/dtype.h"

#include <algorithm>
#include <bit>

#include "base/diagnostic.h"

namespace tercet {
namespace {

struct DTypeFacts {
  const char* name;
  uint8_t size;
};

constexpr DTypeFacts facts[dtype_count] = {{"bool", 1}, {"i8", 1},  {"i16", 2},  {"i32", 4}, {"i64", 8},
                                           {"u8", 1},   {"u16", 2}, {"u32", 4},  {"u64", 8}, {"f16", 2},
                                           {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"str", 16}, {"key", 16}};

const DTypeFacts& facts_of(DType dtype) { return facts[static_cast<int>(dtype)]; }

/// The signed type that holds every value of an unsigned one: u8 -> i16. There is none for u64.
DType signed_above(DType unsigned_int) {
  return static_cast<DType>(static_cast<int>(unsigned_int) - static_cast<int>(DType::U8) + static_cast<int>(DType::I16));
}

DType promote_ints(DType a, DType b) {
  if (is_signed_int(a) == is_signed_int(b)) return std::max(a, b);
  const DType from_signed = is_signed_int(a) ? a : b;
  const DType from_unsigned = is_signed_int(a) ? b : a;
  if (from_unsigned == DType::U64) return DType::F32;  // no integer type holds both
  return std::max(from_signed, signed_above(from_unsigned));
}

DType promote_floats(DType a, DType b) {
  if (a == b) return a;
  return std::max({a, b, DType::F32});  // f16 and bf16 do not contain each other
}

/// Bool < weak int < ints < weak float < floats: what a weak operand may be raised over without changing the other.
int category_of(DType d) { return d == DType::Bool ? 0 : is_int(d) ? 1 : 2; }

/// A scalar of F32 shape whose exponent field has `exponent` bits and fraction `fraction` bits, as f32.
float widen(uint32_t bits, int exponent_bits, int fraction_bits) {
  const uint32_t sign = (bits >> (exponent_bits + fraction_bits)) << 31;
  const uint32_t magnitude = bits & ((1u << (exponent_bits + fraction_bits)) - 1);
  const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  if (magnitude > infinity) return std::bit_cast<float>(0x7fc00000u);  // one NaN
  if (magnitude == infinity) return std::bit_cast<float>(sign | 0x7f800000u);
  // Read as a tiny f32, then rescale: this treats denormals like all others, and the product is exact.
  const float tiny = std::bit_cast<float>(magnitude << (23 - fraction_bits));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const float scale = std::bit_cast<float>(static_cast<uint32_t>(127 + 127 - bias) << 23);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(tiny * scale));
}

}  // namespace

const char* name_of(DType dtype) { return facts_of(dtype).name; }

bool parse_dtype(std::string_view name, DType* out) {
  for (int i = 0; i < dtype_count; ++i) {
    if (name != facts[i].name) continue;
    *out = static_cast<DType>(i);
    return true;
  }
  return false;
}

size_t size_of(DType dtype) { return facts_of(dtype).size; }

DType promote(DType a, DType b) {
  if (a == b) return a;
  TERCET_CHECK(is_number(a) && is_number(b));
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  if (is_int(a) && is_int(b)) return promote_ints(a, b);
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  return is_float(a) ? a : b;
}

DType promote(DType a, bool a_weak, DType b, bool b_weak, bool* weak_out) {
  *weak_out = a_weak && b_weak;
  if (a_weak == b_weak || a == b) return promote(a, b);
  TERCET_CHECK(is_number(a) && is_number(b));
  const DType weak = a_weak ? a : b;
  const DType strong = a_weak ? b : a;
  return category_of(weak) <= category_of(strong) ? strong : weak;
}

float to_float(Half h) { return widen(h.bits, 5, 10); }

float to_float(BFloat b) {
  const uint32_t bits = static_cast<uint32_t>(b.bits) << 16;
  return std::bit_cast<float>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits);
}

Half to_half(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {0x7e00};
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // 65520 and up round to infinity
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is a multiple of 2^-24: adding 0.5 (whose last place is 2^-24) rounds it, ties to even.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000u))};
  }
  const uint32_t rebased = magnitude - (112u << 23);
  return {static_cast<uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13))};
}

BFloat to_bfloat(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fc0};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

}  // namespace tercet
