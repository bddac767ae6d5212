// The element types of arrays and their layout.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tercet {

/// bool is one byte, 0 or 1. str elements are StringRef (16 bytes). key elements are KeyBits (16 bytes).
enum class DType : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, Str, Key };
inline constexpr int dtype_count = 15;

const char* name_of(DType dtype);                         // "f32"
bool parse_dtype(std::string_view name, DType* out);      // false when `name` is none
size_t size_of(DType dtype);                              // bytes of one element

inline bool is_float(DType d) { return d >= DType::F16 && d <= DType::F64; }
inline bool is_signed_int(DType d) { return d >= DType::I8 && d <= DType::I64; }
inline bool is_unsigned_int(DType d) { return d >= DType::U8 && d <= DType::U64; }
inline bool is_int(DType d) { return d >= DType::I8 && d <= DType::U64; }
inline bool is_number(DType d) { return d <= DType::F64; }  // bool counts: it promotes to every number

/// Dtype of a strong value joined with a strong value (jax-semantics section 0).
DType promote(DType a, DType b);
/// The result dtype of two operands, either of which may be weak; `*weak_out` tells whether the result is weak.
DType promote(DType a, bool a_weak, DType b, bool b_weak, bool* weak_out);

/// IEEE half and bfloat16 as storage; arithmetic happens in f32 and rounds to nearest even.
struct Half { uint16_t bits; };
struct BFloat { uint16_t bits; };
float to_float(Half h);
float to_float(BFloat b);
Half to_half(float f);
BFloat to_bfloat(float f);

}  // namespace tercet
