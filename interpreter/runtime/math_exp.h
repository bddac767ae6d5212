// exp, exp2, expm1, and what else is made of a power of two.
//
// x = n log 2 + r with |r| <= log(2)/2; a polynomial in r; then 2^n in two factors, so that the result is rounded once
// where it is denormal and overflows only where it must. n comes from adding a number whose last place is 1.
#pragma once
#include "interpreter/runtime/math_coefficients.h"
#include "interpreter/runtime/math_core.h"

namespace tercet {

/// The integer nearest to x, as a float and as two's complement bits; |x| < 2^21 (f32), 2^50 (f64).
struct NearestF32 {
  template <class N> struct Result { N value; Rebind<N, uint32_t> integer; };
  template <class N> TERCET_MATH Result<N> apply(N scaled_plus_shift) {
    N value = scaled_plus_shift - like(scaled_plus_shift, shift);
    auto bits = bits_f32(scaled_plus_shift);
    return {value, bits - like_bits(bits, 0x4b400000u)};
  }
  static constexpr double shift = 0x1.8p23;
};
struct NearestF64 {
  template <class N> struct Result { N value; Rebind<N, uint64_t> integer; };
  template <class N> TERCET_MATH Result<N> apply(N scaled_plus_shift) {
    N value = scaled_plus_shift - like(scaled_plus_shift, shift);
    auto bits = bits_f64(scaled_plus_shift);
    return {value, bits - like_bits(bits, 0x4338000000000000u)};
  }
  static constexpr double shift = 0x1.8p52;
};

/// y * 2^n, rounded once; |n| < 300 (f32) or 2100 (f64).
template <class N, class U> [[gnu::always_inline]] inline N scale_f32(N y, U n) {
  U half = bit_cast_to<uint32_t>(shr(bit_cast_to<int32_t>(n), like(bit_cast_to<int32_t>(n), 1)));
  return y * power_of_two_f32(half) * power_of_two_f32(n - half);
}
template <class N, class U> [[gnu::always_inline]] inline N scale_f64(N y, U n) {
  U half = bit_cast_to<uint64_t>(shr(bit_cast_to<int64_t>(n), like(bit_cast_to<int64_t>(n), 1)));
  return y * power_of_two_f64(half) * power_of_two_f64(n - half);
}

/// x clamped to [low, high]; NaN stays.
template <class N> [[gnu::always_inline]] inline N clamp_keeping_nan(N x, double low, double high) {
  x = select(x < like(x, low), like(x, low), x);
  return select(x > like(x, high), like(x, high), x);
}

/// n and r = hi + lo with x = n log 2 + r.
struct ReduceExpF32 {
  template <class N> struct Result { N hi, lo; Rebind<N, uint32_t> n; };
  template <class N> TERCET_MATH Result<N> apply(N x) {
    auto k = NearestF32::apply(fma(x, like(x, 0x1.715476p+0), like(x, NearestF32::shift)));
    // The first product is exact (15 bits of log 2 times 9 bits of n), and so is its difference from x.
    return {fma(k.value, like(x, -0x1.62e4p-1), x), k.value * like(x, -0x1.7f7d1cp-20), k.integer};
  }
};
struct ReduceExpF64 {
  template <class N> struct Result { N hi, lo; Rebind<N, uint64_t> n; };
  template <class N> TERCET_MATH Result<N> apply(N x) {
    auto k = NearestF64::apply(fma(x, like(x, 0x1.71547652b82fep+0), like(x, NearestF64::shift)));
    return {fma(k.value, like(x, -0x1.62e42fefa38p-1), x), k.value * like(x, -0x1.ef35793c7673p-45), k.integer};
  }
};

/// exp(x + tail) for a tail below 2^-20 |x|.
struct ExpTailF64 {
  template <class N> TERCET_MATH N apply(N x, N tail) {
    auto [hi, lo, n] = ReduceExpF64::apply(clamp_keeping_nan(x, -760, 720));
    lo = lo + tail;
    N r = hi + lo;
    N y = fma(poly<coefficient::exp_f64>(r) * r, r, lo) + hi;
    return scale_f64(like(x, 1) + y, n);
  }
};
struct ExpF32 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [hi, lo, n] = ReduceExpF32::apply(clamp_keeping_nan(x, -110, 100));
    N r = hi + lo;
    return scale_f32(like(x, 1) + (fma(poly<coefficient::exp_f32>(r) * r, r, lo) + hi), n);
  }
};
struct ExpF64 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [hi, lo, n] = ReduceExpF64::apply(clamp_keeping_nan(x, -760, 720));
    N r = hi + lo;
    return scale_f64(like(x, 1) + (fma(poly<coefficient::exp_f64>(r) * r, r, lo) + hi), n);
  }
};
struct Exp {
  template <class N> TERCET_MATH N apply(N x) { return by_width<ExpF32, ExpF64>(x); }
};

struct Exp2F32 {
  template <class N> TERCET_MATH N apply(N x) {
    N limited = clamp_keeping_nan(x, -160, 140);
    auto k = NearestF32::apply(limited + like(x, NearestF32::shift));
    N r = limited - k.value;
    return scale_f32(fma(poly<coefficient::exp2_f32>(r), r, like(x, 1)), k.integer);
  }
};
struct Exp2F64 {
  template <class N> TERCET_MATH N apply(N x) {
    N limited = clamp_keeping_nan(x, -1100, 1040);
    auto k = NearestF64::apply(limited + like(x, NearestF64::shift));
    N r = limited - k.value;
    return scale_f64(fma(poly<coefficient::exp2_f64>(r), r, like(x, 1)), k.integer);
  }
};
struct Exp2 {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Exp2F32, Exp2F64>(x); }
};

/// expm1(x) = 2^n (1 + p) - 1 as hi + lo, for |x| < 700 and not tiny. Valid as a Pair.
struct Expm1PairF64 {
  template <class N> TERCET_MATH Pair<N> apply(N x) {
    auto [hi, lo, n] = ReduceExpF64::apply(x);
    N r = hi + lo;
    N rest = fma(poly<coefficient::expm1_f64>(r) * r, r, lo - (r - hi));
    N power = power_of_two_f64(n);
    auto [sum, error] = fast_two_sum(power - like(x, 1), power * r);
    return fast_two_sum(sum, fma(power, rest, error));
  }
};
/// 2^n (1+p) - 1 with the factor 2 taken apart, so that only results above the largest number overflow.
struct Expm1F32 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [hi, lo, n] = ReduceExpF32::apply(clamp_keeping_nan(x, -30, 89));
    N r = hi + lo;
    N rest = fma(poly<coefficient::expm1_f32>(r) * r, r, lo - (r - hi));
    N power = power_of_two_f32(n - like_bits(n, 1));
    auto [sum, error] = fast_two_sum(power - like(x, 0.5), power * r);
    N y = (sum + fma(power, rest, error)) * like(x, 2);
    return select(absolute(x) < like(x, 0x1p-26), x, y);
  }
};
struct Expm1F64 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [hi, lo, n] = ReduceExpF64::apply(clamp_keeping_nan(x, -60, 710));
    N r = hi + lo;
    N rest = fma(poly<coefficient::expm1_f64>(r) * r, r, lo - (r - hi));
    N power = power_of_two_f64(n - like_bits(n, 1));
    auto [sum, error] = fast_two_sum(power - like(x, 0.5), power * r);
    N y = (sum + fma(power, rest, error)) * like(x, 2);
    return select(absolute(x) < like(x, 0x1p-55), x, y);
  }
};
struct Expm1 {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Expm1F32, Expm1F64>(x); }
};

/// 1 / (1 + exp(-x)), without losing the small results: e / (1 + e) with e = exp(-|x|) where x < 0.
struct Sigmoid {
  template <class N> TERCET_MATH N apply(N x) {
    N e = Exp::apply(-absolute(x));
    return select(x < like(x, 0), e, like(x, 1)) / (like(x, 1) + e);
  }
};

}  // namespace tercet
