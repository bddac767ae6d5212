// sin, cos, tan. f32 is evaluated in f64 after an exact reduction, so its error is that of the last rounding.
#pragma once
#include "interpreter/runtime/math_coefficients.h"
#include "interpreter/runtime/math_trig_reduce.h"

namespace tercet {

/// sin and cos of r in f64, |r| <= pi/4, good enough for an f32 result.
template <class D> struct SinCos { D sin, cos; };
template <class D> [[gnu::always_inline]] inline SinCos<D> sin_cos_narrow(D r) {
  D z = r * r;
  return {fma(z * r, poly<coefficient::sin_f32_wide>(z), r),
          fma(z, fma(z, poly<coefficient::cos_f32_wide>(z), like(r, -0.5)), like(r, 1))};
}

/// The sign bit of bit 1 of q, as a number to xor with.
template <class U> [[gnu::always_inline]] inline U quadrant_sign_f32(U q) { return shl(q & like_bits(q, 2), like_bits(q, 30)); }
template <class U> [[gnu::always_inline]] inline U quadrant_sign_f64(U q) { return shl(q & like_bits(q, 2), like_bits(q, 62)); }
template <class U> [[gnu::always_inline]] inline auto is_odd(U q) { return ne(q & like_bits(q, 1), like_bits(q, 0)); }
template <class N> [[gnu::always_inline]] inline N nan_unless_finite(N ax, N y) {
  return select(ax < infinity_like(ax), y, nan_like(y));
}

struct SinF32 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [r, q] = ReduceTrigF32::apply(ax);
    auto both_parts = sin_cos_narrow(r);
    auto y = bits_f32(cast<float>(select(is_odd(q), both_parts.cos, both_parts.sin)));
    auto sign = bits_f32(x) & like_bits(y, 0x80000000u);
    return nan_unless_finite(ax, bit_cast_to<float>(y ^ sign ^ quadrant_sign_f32(q)));
  }
};
struct CosF32 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [r, q] = ReduceTrigF32::apply(ax);
    auto both_parts = sin_cos_narrow(r);
    auto y = bits_f32(cast<float>(select(is_odd(q), both_parts.sin, both_parts.cos)));
    return nan_unless_finite(ax, bit_cast_to<float>(y ^ quadrant_sign_f32(q + like_bits(q, 1))));
  }
};
struct TanF32 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [r, q] = ReduceTrigF32::apply(ax);
    auto both_parts = sin_cos_narrow(r);
    auto odd = is_odd(q);
    auto ratio = select(odd, -both_parts.cos, both_parts.sin) / select(odd, both_parts.sin, both_parts.cos);
    auto y = bits_f32(cast<float>(ratio));
    return nan_unless_finite(ax, bit_cast_to<float>(y ^ (bits_f32(x) & like_bits(y, 0x80000000u))));
  }
};

/// sin and cos of hi + lo as pairs, |hi| <= pi/4.
template <class N> struct SinCosPairs { Pair<N> sin, cos; };
template <class N> [[gnu::always_inline]] inline SinCosPairs<N> sin_cos_pairs(N hi, N lo) {
  N z = hi * hi, half = like(hi, 0.5) * z;
  // sin(hi + lo) = hi + (hi^3 q + lo (1 - z/2))
  N sin_rest = fma(z * hi, poly<coefficient::sin_f64>(z), fma(-half, lo, lo));
  // cos(hi + lo) = (1 - z/2) + (z^2 q - hi lo)
  N main = like(hi, 1) - half;
  N error = (like(hi, 1) - main) - half;
  N cos_rest = error + fma(z * z, poly<coefficient::cos_f64>(z), -(hi * lo));
  return {{hi, sin_rest}, {main, cos_rest}};
}

struct SinF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [hi, lo, q] = ReduceTrigF64::apply(ax);
    auto parts = sin_cos_pairs(hi, lo);
    auto odd = is_odd(q);
    auto y = bits_f64(select(odd, parts.cos.hi, parts.sin.hi) + select(odd, parts.cos.lo, parts.sin.lo));
    auto sign = bits_f64(x) & like_bits(y, uint64_t{1} << 63);
    return nan_unless_finite(ax, bit_cast_to<double>(y ^ sign ^ quadrant_sign_f64(q)));
  }
};
struct CosF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [hi, lo, q] = ReduceTrigF64::apply(ax);
    auto parts = sin_cos_pairs(hi, lo);
    auto odd = is_odd(q);
    auto y = bits_f64(select(odd, parts.sin.hi, parts.cos.hi) + select(odd, parts.sin.lo, parts.cos.lo));
    return nan_unless_finite(ax, bit_cast_to<double>(y ^ quadrant_sign_f64(q + like_bits(q, 1))));
  }
};
struct TanF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [hi, lo, q] = ReduceTrigF64::apply(ax);
    auto parts = sin_cos_pairs(hi, lo);
    auto sine = fast_two_sum(parts.sin.hi, parts.sin.lo), cosine = fast_two_sum(parts.cos.hi, parts.cos.lo);
    auto odd = is_odd(q);
    N top = select(odd, -cosine.hi, sine.hi), top_lo = select(odd, -cosine.lo, sine.lo);
    N bottom = select(odd, sine.hi, cosine.hi), bottom_lo = select(odd, sine.lo, cosine.lo);
    // One step of long division makes up for the low parts.
    N inverse = like(x, 1) / bottom;
    N ratio = top * inverse;
    N remainder = fma(-ratio, bottom, top) + fma(-ratio, bottom_lo, top_lo);
    N y = select(ax < like(x, 0x1p-27), ax, fma(remainder, inverse, ratio));
    auto sign = bits_f64(x) & like_bits(bits_f64(x), uint64_t{1} << 63);
    return nan_unless_finite(ax, bit_cast_to<double>(bits_f64(y) ^ sign));
  }
};

struct Sin {
  template <class N> TERCET_MATH N apply(N x) { return by_width<SinF32, SinF64>(x); }
};
struct Cos {
  template <class N> TERCET_MATH N apply(N x) { return by_width<CosF32, CosF64>(x); }
};
struct Tan {
  template <class N> TERCET_MATH N apply(N x) { return by_width<TanF32, TanF64>(x); }
};

}  // namespace tercet
