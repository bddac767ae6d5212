// asin, acos, atan, atan2.
//
// atan of a ratio p/q >= 0: with t = p/q, (p-q)/(p+q) or -q/p, whichever is below 1/2 in size, it is 0, pi/4 or pi/2 plus
// atan(t). asin: below 1/2 a polynomial, else pi/2 - 2 asin(sqrt((1-|x|)/2)).
#pragma once
#include "interpreter/runtime/math_coefficients.h"
#include "interpreter/runtime/math_core.h"

namespace tercet {

inline constexpr double pi_hi_f64 = 0x1.921fb54442d18p+1, pi_lo_f64 = 0x1.1a62633145c07p-53;
inline constexpr double pi_hi_f32 = 0x1.921fb6p+1, pi_lo_f32 = -0x1.777a5cp-24;

/// atan(p/q) for p, q >= 0, not both 0, not both infinite, as base + t + rest.
template <class N> struct AtanRatio { N base_hi, base_lo, t, rest; };
template <const auto& q, class N>
[[gnu::always_inline]] inline AtanRatio<N> atan_ratio(N p, N d, double pi_hi, double pi_lo) {
  auto low = p + p < d, high = p > d + d;
  N zero = like(p, 0);
  N top = select(low, p, select(high, -d, p - d));
  N bottom = select(low, d, select(high, p, p + d));
  N base_hi = select(low, zero, select(high, like(p, pi_hi / 2), like(p, pi_hi / 4)));
  N base_lo = select(low, zero, select(high, like(p, pi_lo / 2), like(p, pi_lo / 4)));
  N t = top / bottom, z = t * t;
  return {base_hi, base_lo, t, z * t * poly<q>(z)};
}

struct AtanF32 {
  template <class N> TERCET_MATH N apply(N x) {
    auto a = atan_ratio<coefficient::atan_f32>(absolute(x), like(x, 1), pi_hi_f32, pi_lo_f32);
    return with_sign(a.base_hi + (a.t + (a.rest + a.base_lo)), x);
  }
};
struct AtanF64 {
  template <class N> TERCET_MATH N apply(N x) {
    auto a = atan_ratio<coefficient::atan_f64>(absolute(x), like(x, 1), pi_hi_f64, pi_lo_f64);
    return with_sign(a.base_hi + (a.t + (a.rest + a.base_lo)), x);
  }
};
struct Atan {
  template <class N> TERCET_MATH N apply(N x) { return by_width<AtanF32, AtanF64>(x); }
};

/// atan2 in f64 for an f64 (`q` = atan_f64) or an f32 result (`q` = atan_f32_wide).
template <const auto& q> struct Atan2Wide {
  template <class N> TERCET_MATH N apply(N y, N x) {
    N ay = absolute(y), ax = absolute(x);
    auto infinite = both(eq(ay, infinity_like(y)), eq(ax, infinity_like(y)));
    auto zero = both(eq(ay, like(y, 0)), eq(ax, like(y, 0)));
    // Sums must not overflow. What a quarter rounds away of the smaller one is far below the ratio's last place.
    auto big = either(ay > like(y, 0x1p1020), ax > like(y, 0x1p1020));
    N p = select(infinite, like(y, 1), select(big, ay * like(y, 0.25), ay));
    N d = select(either(infinite, zero), like(y, 1), select(big, ax * like(y, 0.25), ax));
    auto a = atan_ratio<q>(p, d, pi_hi_f64, pi_lo_f64);
    // The left half plane: pi - angle.
    auto left = ne(bits_f64(x) & like_bits(bits_f64(x), uint64_t{1} << 63), like_bits(bits_f64(x), 0));
    N right_angle = a.base_hi + (a.t + (a.rest + a.base_lo));
    N left_angle = (like(y, pi_hi_f64) - a.base_hi) + (like(y, pi_lo_f64) - a.base_lo - a.rest - a.t);
    N angle = with_sign(select(left, left_angle, right_angle), y);
    return select(either(is_nan(x), is_nan(y)), nan_like(y), angle);
  }
};
struct Atan2 {
  template <class N> TERCET_MATH N apply(N y, N x) {
    return by_width<Widened<Atan2Wide<coefficient::atan_f32_wide>>, Atan2Wide<coefficient::atan_f64>>(y, x);
  }
};

/// asin(s) = s + rest where s = |x| below 1/2, sqrt((1-|x|)/2) else.
template <const auto& q, class N> struct AsinParts {
  N s, rest;
};
template <const auto& q, class N> [[gnu::always_inline]] inline AsinParts<q, N> asin_parts(N ax) {
  auto small = ax <= like(ax, 0.5);
  N z = select(small, ax * ax, fma(ax, like(ax, -0.5), like(ax, 0.5)));
  N s = select(small, ax, square_root(z));
  return {s, s * z * poly<q>(z)};
}
template <const auto& q, const double& pi_hi, const double& pi_lo> struct AsinOf {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [s, rest] = asin_parts<q>(ax);
    N big = like(x, pi_hi / 2) - (like(x, 2) * s + fma(like(x, 2), rest, like(x, -pi_lo / 2)));
    return with_sign(select(ax <= like(x, 0.5), s + rest, big), x);
  }
};
template <const auto& q, const double& pi_hi, const double& pi_lo> struct AcosOf {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto [s, rest] = asin_parts<q>(ax);
    auto negative = x < like(x, 0);
    N signed_s = negate_if(negative, s), signed_rest = negate_if(negative, rest);
    N small = like(x, pi_hi / 2) - (signed_s + (signed_rest - like(x, pi_lo / 2)));
    N twice = like(x, 2) * (s + rest);
    N far = like(x, pi_hi) - (like(x, 2) * s + fma(like(x, 2), rest, like(x, -pi_lo)));
    return select(ax <= like(x, 0.5), small, select(negative, far, twice));
  }
};
struct Asin {
  template <class N> TERCET_MATH N apply(N x) {
    return by_width<AsinOf<coefficient::asin_f32, pi_hi_f32, pi_lo_f32>,
                    AsinOf<coefficient::asin_f64, pi_hi_f64, pi_lo_f64>>(x);
  }
};
struct Acos {
  template <class N> TERCET_MATH N apply(N x) {
    return by_width<AcosOf<coefficient::asin_f32, pi_hi_f32, pi_lo_f32>,
                    AcosOf<coefficient::asin_f64, pi_hi_f64, pi_lo_f64>>(x);
  }
};

}  // namespace tercet
