// What the elementary functions share: dispatch on f32/f64, polynomials, bit fields and double-length sums.
//
// A function is a struct with one static `apply`, a template over Number (number.h). Example:
//
//   struct Exp { template <class N> static N apply(N x) { return by_width<ExpF32, ExpF64>(x); } };
//   float y = Exp::apply(1.0f);                       // plain C++
//   Num z = Exp::apply(x);                            // code under construction
#pragma once
#include <cstddef>

#include "interpreter/runtime/number.h"

/// Every piece must be inlined into the loop over an array, or the loop is not vectorised.
#define TERCET_MATH [[gnu::always_inline]] static inline

namespace tercet {

/// Narrow::apply for f32 and Wide::apply for f64: chosen at compile time for plain numbers, at run time for Num.
template <class Narrow, class Wide, class N, class... More>
[[gnu::always_inline]] inline auto by_width(N x, More... more) {
  if constexpr (std::is_same_v<N, float>) return Narrow::apply(x, more...);
  else if constexpr (std::is_same_v<N, double>) return Wide::apply(x, more...);
  else return dtype_of(x) == DType::F32 ? Narrow::apply(x, more...) : Wide::apply(x, more...);
}

/// The f32 function that evaluates Wide in f64 and rounds once: for functions where speed matters less.
template <class Wide> struct Widened {
  template <class N, class... More> TERCET_MATH N apply(N x, More... more) {
    return cast<float>(Wide::apply(cast<double>(x), cast<double>(more)...));
  }
};

/// c[0] + c[1] x + c[2] x^2 + …, by Horner's rule with fma.
template <const auto& coefficients, size_t first = 0, class N> [[gnu::always_inline]] inline N poly(N x) {
  constexpr size_t count = sizeof(coefficients) / sizeof(coefficients[0]);
  if constexpr (first + 1 == count) return like(x, coefficients[first]);
  else return fma(poly<coefficients, first + 1>(x), x, like(x, coefficients[first]));
}

// ---- bits: U is u32 for f32 and u64 for f64 ----
template <class N> [[gnu::always_inline]] inline auto bits_f32(N x) { return bit_cast_to<uint32_t>(x); }
template <class N> [[gnu::always_inline]] inline auto bits_f64(N x) { return bit_cast_to<uint64_t>(x); }

/// The magnitude of `magnitude` (not negative) with the sign bit of `sign`.
struct WithSignF32 {
  template <class N> TERCET_MATH N apply(N magnitude, N sign) {
    auto s = bits_f32(sign);
    return bit_cast_to<float>(bits_f32(magnitude) | (s & like_bits(s, 0x80000000u)));
  }
};
struct WithSignF64 {
  template <class N> TERCET_MATH N apply(N magnitude, N sign) {
    auto s = bits_f64(sign);
    return bit_cast_to<double>(bits_f64(magnitude) | (s & like_bits(s, uint64_t{1} << 63)));
  }
};
template <class N> [[gnu::always_inline]] inline N with_sign(N magnitude, N sign) {
  return by_width<WithSignF32, WithSignF64>(magnitude, sign);
}

/// x where the mask holds gets its sign flipped.
template <class M, class N> [[gnu::always_inline]] inline N negate_if(M mask, N x) { return select(mask, -x, x); }

/// 2^n for -126 <= n <= 127 (f32) or -1022 <= n <= 1023 (f64); n is a u32 or u64 holding two's complement.
template <class U> [[gnu::always_inline]] inline auto power_of_two_f32(U n) {
  return bit_cast_to<float>(shl(n + like_bits(n, 127), like_bits(n, 23)));
}
template <class U> [[gnu::always_inline]] inline auto power_of_two_f64(U n) {
  return bit_cast_to<double>(shl(n + like_bits(n, 1023), like_bits(n, 52)));
}

/// An unevaluated sum hi + lo, |lo| at most half a unit in the last place of hi.
template <class N> struct Pair { N hi, lo; };

/// a + b exactly, when |a| >= |b| or a is 0 (Dekker).
template <class N> [[gnu::always_inline]] inline Pair<N> fast_two_sum(N a, N b) {
  N s = a + b;
  return {s, b - (s - a)};
}
/// a + b exactly (Knuth).
template <class N> [[gnu::always_inline]] inline Pair<N> two_sum(N a, N b) {
  N s = a + b, part = s - a;
  return {s, (a - (s - part)) + (b - part)};
}
/// a * b exactly.
template <class N> [[gnu::always_inline]] inline Pair<N> two_product(N a, N b) {
  N p = a * b;
  return {p, fma(a, b, -p)};
}

template <class N> [[gnu::always_inline]] inline N infinity_like(N x) {
  return like(x, std::numeric_limits<double>::infinity());
}
template <class N> [[gnu::always_inline]] inline N nan_like(N x) {
  return like(x, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace tercet
