// "Number": what a scalar function is written over, once, for every evaluator.
//
// A function such as tanh is a template over N. N is either a plain C++ type (float, double, int32_t, … : the
// reference evaluator) or Num (a handle to a vector value under construction: the compiler). Both follow strict IEEE
// rules, so the bits agree by construction. A function may use only what is declared here, branch-free: choose with
// select(). Example:
//
//   template <class N> N relu(N x) { return select(x > like(x, 0.0), x, like(x, 0.0)); }
//
// Rules that keep both sides equal: no contraction (write fma where it is meant), integer arithmetic wraps, shifts are
// by 0 <= n < width, and float -> int conversions saturate (NaN gives 0).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "interpreter/runtime/dtype.h"

namespace tercet {

class NumberBuilder;

/// A value under construction: one vector register's worth of lanes of `dtype` (Bool is a lane mask).
/// f16 and bf16 never occur: they are widened to F32 on load and rounded after each operation by the emitter.
struct Num {
  NumberBuilder* builder = nullptr;
  void* handle = nullptr;      // the back end's own value
  DType dtype = DType::F32;
};

enum class NumUnary : uint8_t {
  Neg, Not, Abs, Sqrt, Floor, Ceil, Trunc, RoundEven, IsNan,  // Not: bitwise on ints, logical on bool
  CountLeadingZeros, PopCount
};
enum class NumBinary : uint8_t {
  Add, Sub, Mul, Div,                 // Div: floats only
  And, Or, Xor, Shl, Shr,             // Shr: arithmetic for signed types, logical for unsigned
  DivTrunc, RemTrunc,                 // integers; a zero divisor gives 0, INT_MIN / -1 wraps
  Min, Max,                           // IEEE maximum/minimum: NaN wins, +0 > -0
  MulHigh                             // upper half of the product, unsigned 32-bit only
};
enum class NumCompare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };  // ordered; Ne is true on NaN

/// Implemented by a back end. Every method maps lanes to lanes.
class NumberBuilder {
 public:
  virtual ~NumberBuilder() = default;
  virtual Num constant_float(DType dtype, double value) = 0;
  virtual Num constant_int(DType dtype, uint64_t bits) = 0;   // truncated to the width; Bool: 0 or 1
  virtual Num unary(NumUnary op, Num x) = 0;
  virtual Num binary(NumBinary op, Num a, Num b) = 0;
  virtual Num compare(NumCompare op, Num a, Num b) = 0;       // -> Bool
  virtual Num fma(Num a, Num b, Num c) = 0;                   // floats: a*b+c rounded once
  virtual Num select(Num mask, Num a, Num b) = 0;
  virtual Num bitcast(Num x, DType to) = 0;                   // same width
  virtual Num convert(Num x, DType to) = 0;                   // language casts: saturate, wrap, round, as language.md 5
};

// ---- the vocabulary for Num ----
inline Num operator+(Num a, Num b) { return a.builder->binary(NumBinary::Add, a, b); }
inline Num operator-(Num a, Num b) { return a.builder->binary(NumBinary::Sub, a, b); }
inline Num operator*(Num a, Num b) { return a.builder->binary(NumBinary::Mul, a, b); }
inline Num operator/(Num a, Num b) { return a.builder->binary(NumBinary::Div, a, b); }
inline Num operator&(Num a, Num b) { return a.builder->binary(NumBinary::And, a, b); }
inline Num operator|(Num a, Num b) { return a.builder->binary(NumBinary::Or, a, b); }
inline Num operator^(Num a, Num b) { return a.builder->binary(NumBinary::Xor, a, b); }
inline Num operator-(Num a) { return a.builder->unary(NumUnary::Neg, a); }
inline Num operator~(Num a) { return a.builder->unary(NumUnary::Not, a); }
inline Num operator<(Num a, Num b) { return a.builder->compare(NumCompare::Lt, a, b); }
inline Num operator<=(Num a, Num b) { return a.builder->compare(NumCompare::Le, a, b); }
inline Num operator>(Num a, Num b) { return a.builder->compare(NumCompare::Gt, a, b); }
inline Num operator>=(Num a, Num b) { return a.builder->compare(NumCompare::Ge, a, b); }
inline Num eq(Num a, Num b) { return a.builder->compare(NumCompare::Eq, a, b); }
inline Num ne(Num a, Num b) { return a.builder->compare(NumCompare::Ne, a, b); }
inline Num both(Num a, Num b) { return a.builder->binary(NumBinary::And, a, b); }    // masks
inline Num either(Num a, Num b) { return a.builder->binary(NumBinary::Or, a, b); }   // masks
inline Num negation(Num a) { return a.builder->unary(NumUnary::Not, a); }            // mask
inline Num shl(Num a, Num n) { return a.builder->binary(NumBinary::Shl, a, n); }
inline Num shr(Num a, Num n) { return a.builder->binary(NumBinary::Shr, a, n); }
inline Num div_trunc(Num a, Num b) { return a.builder->binary(NumBinary::DivTrunc, a, b); }
inline Num rem_trunc(Num a, Num b) { return a.builder->binary(NumBinary::RemTrunc, a, b); }
inline Num mul_high(Num a, Num b) { return a.builder->binary(NumBinary::MulHigh, a, b); }
inline Num minimum(Num a, Num b) { return a.builder->binary(NumBinary::Min, a, b); }
inline Num maximum(Num a, Num b) { return a.builder->binary(NumBinary::Max, a, b); }
inline Num fma(Num a, Num b, Num c) { return a.builder->fma(a, b, c); }
inline Num select(Num m, Num a, Num b) { return a.builder->select(m, a, b); }
inline Num absolute(Num a) { return a.builder->unary(NumUnary::Abs, a); }
inline Num square_root(Num a) { return a.builder->unary(NumUnary::Sqrt, a); }
inline Num round_floor(Num a) { return a.builder->unary(NumUnary::Floor, a); }
inline Num round_ceil(Num a) { return a.builder->unary(NumUnary::Ceil, a); }
inline Num round_trunc(Num a) { return a.builder->unary(NumUnary::Trunc, a); }
inline Num round_even(Num a) { return a.builder->unary(NumUnary::RoundEven, a); }
inline Num is_nan(Num a) { return a.builder->unary(NumUnary::IsNan, a); }
inline Num leading_zeros(Num a) { return a.builder->unary(NumUnary::CountLeadingZeros, a); }
inline Num pop_count(Num a) { return a.builder->unary(NumUnary::PopCount, a); }
inline DType dtype_of(Num a) { return a.dtype; }
/// A float constant (float dtypes) or an integer constant (int dtypes, bool) of x's dtype.
inline Num like(Num x, double value) {
  return is_float(x.dtype) ? x.builder->constant_float(x.dtype, value)
                           : x.builder->constant_int(x.dtype, static_cast<uint64_t>(static_cast<int64_t>(value)));
}
inline Num like_bits(Num x, uint64_t bits) { return x.builder->constant_int(x.dtype, bits); }  // int dtypes
template <class To> Num cast(Num x);      // language cast to To's dtype, see dtype_for
template <class To> Num bit_cast_to(Num x);

// ---- the same vocabulary for plain C++ numbers ----
template <class T> concept Scalar = std::is_arithmetic_v<T>;
template <class T> concept ScalarFloat = std::is_floating_point_v<T>;
template <class T> concept ScalarInt = std::is_integral_v<T>;

template <class T> constexpr DType dtype_for() {
  if constexpr (std::is_same_v<T, bool>) return DType::Bool;
  else if constexpr (std::is_same_v<T, float>) return DType::F32;
  else if constexpr (std::is_same_v<T, double>) return DType::F64;
  else if constexpr (std::is_same_v<T, Half>) return DType::F16;
  else if constexpr (std::is_same_v<T, BFloat>) return DType::BF16;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? DType::I8 : sizeof(T) == 2 ? DType::I16 : sizeof(T) == 4 ? DType::I32 : DType::I64;
  else return sizeof(T) == 1 ? DType::U8 : sizeof(T) == 2 ? DType::U16 : sizeof(T) == 4 ? DType::U32 : DType::U64;
}
template <Scalar T> DType dtype_of(T) { return dtype_for<T>(); }
template <Scalar T> bool eq(T a, T b) { return a == b; }
template <Scalar T> bool ne(T a, T b) { return a != b; }
inline bool both(bool a, bool b) { return a & b; }
inline bool either(bool a, bool b) { return a | b; }
inline bool negation(bool a) { return !a; }
template <Scalar T> T select(bool m, T a, T b) { return m ? a : b; }
template <ScalarFloat T> T fma(T a, T b, T c) { return std::fma(a, b, c); }
template <ScalarInt T> T shl(T a, T n) { return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << n); }
template <ScalarInt T> T shr(T a, T n) { return static_cast<T>(a >> n); }
/// Wrapping integer arithmetic: unsigned inside, so that overflow is defined. (Small types promote to int first.)
template <ScalarInt T> T wrap_add(T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
template <ScalarInt T> T wrap_sub(T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
template <ScalarInt T> T wrap_mul(T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
template <ScalarFloat T> T wrap_add(T a, T b) { return a + b; }
template <ScalarFloat T> T wrap_sub(T a, T b) { return a - b; }
template <ScalarFloat T> T wrap_mul(T a, T b) { return a * b; }
inline Num wrap_add(Num a, Num b) { return a + b; }
inline Num wrap_sub(Num a, Num b) { return a - b; }
inline Num wrap_mul(Num a, Num b) { return a * b; }
template <ScalarInt T> T div_trunc(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) if (b == T(-1)) return wrap_sub(T(0), a);
  return static_cast<T>(a / b);
}
template <ScalarInt T> T rem_trunc(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) if (b == T(-1)) return 0;
  return static_cast<T>(a % b);
}
inline uint32_t mul_high(uint32_t a, uint32_t b) { return static_cast<uint32_t>((uint64_t{a} * b) >> 32); }
template <ScalarInt T> T minimum(T a, T b) { return a < b ? a : b; }
template <ScalarInt T> T maximum(T a, T b) { return a > b ? a : b; }
template <ScalarFloat T> bool is_nan(T a) { return a != a; }
template <ScalarInt T> bool is_nan(T) { return false; }
template <ScalarFloat T> T minimum(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  return a < b ? a : b < a ? b : std::signbit(a) ? a : b;
}
template <ScalarFloat T> T maximum(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  return a > b ? a : b > a ? b : std::signbit(a) ? b : a;
}
template <ScalarFloat T> T absolute(T a) { return std::fabs(a); }
template <ScalarInt T> T absolute(T a) { return a < 0 ? wrap_sub(T(0), a) : a; }
template <ScalarFloat T> T square_root(T a) { return std::sqrt(a); }
template <ScalarFloat T> T round_floor(T a) { return std::floor(a); }
template <ScalarFloat T> T round_ceil(T a) { return std::ceil(a); }
template <ScalarFloat T> T round_trunc(T a) { return std::trunc(a); }
template <ScalarFloat T> T round_even(T a) { return std::nearbyint(a); }
template <ScalarInt T> T leading_zeros(T a) { return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(a))); }
template <ScalarInt T> T pop_count(T a) { return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(a))); }
template <ScalarFloat T> T like(T, double value) { return static_cast<T>(value); }
template <ScalarInt T> T like(T, double value) { return static_cast<T>(static_cast<int64_t>(value)); }
template <ScalarInt T> T like_bits(T, uint64_t bits) { return static_cast<T>(bits); }

/// Language casts between plain numbers.
template <Scalar To, Scalar From> To cast(From x) {
  if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return 0;
    // 2^(bits) as From is exact, and anything at or above it saturates.
    const From limit = std::ldexp(From(1), std::numeric_limits<To>::digits);
    if (x >= limit) return std::numeric_limits<To>::max();
    if constexpr (std::is_signed_v<To>) { if (x < -limit) return std::numeric_limits<To>::min(); }
    else if (x <= From(-1)) return 0;
    return static_cast<To>(x);
  } else return static_cast<To>(x);
}
template <Scalar To, Scalar From> To bit_cast_to(From x) { return std::bit_cast<To>(x); }
template <class To> Num cast(Num x) { return x.builder->convert(x, dtype_for<To>()); }
template <class To> Num bit_cast_to(Num x) { return x.builder->bitcast(x, dtype_for<To>()); }

/// The type a template should name when it means "N, but with lanes of type T": T itself for plain numbers, Num else.
template <class N, class T> using Rebind = std::conditional_t<std::is_same_v<N, Num>, Num, T>;

}  // namespace tercet
