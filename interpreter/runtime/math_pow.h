// pow. Integers multiply repeatedly (IntPower).
//
// x^y = 2^(y log2 |x|). f32: in f64, which has digits to spare. f64: log2 |x| as an unevaluated sum of two numbers with
// about 68 digits, from log(m) = 2 atanh(s), s = (m-1)/(m+1). Special cases as C99 F.9.4.4.
#pragma once
#include "interpreter/runtime/math_division.h"
#include "interpreter/runtime/math_exp.h"
#include "interpreter/runtime/math_log.h"

namespace tercet {

/// log2 of a positive f32 in f64, relative error about 2^-36.
struct Log2WideOfF32 {
  template <class N> TERCET_MATH auto apply(N ax) {
    auto denormal = ax < like(ax, 0x1p-126);
    auto bits = bits_f32(select(denormal, ax * like(ax, 0x1p23), ax));
    auto above = bit_cast_to<int32_t>(bits - like_bits(bits, 0x3f3504f3u));
    auto exponent = shr(above, like(above, 23));
    auto m = cast<double>(bit_cast_to<float>(bits - shl(bit_cast_to<uint32_t>(exponent), like_bits(bits, 23))));
    auto e = cast<double>(cast<float>(exponent) - select(denormal, like(ax, 23), like(ax, 0)));
    auto s = (m - like(m, 1)) / (m + like(m, 1));
    return fma(s, poly<coefficient::log2_f32_wide>(s * s), e);
  }
};

/// 2^t rounded to f32, t in f64.
struct Exp2OfWide {
  template <class D> TERCET_MATH auto apply(D t) {
    D limited = clamp_keeping_nan(t, -200, 200);
    auto k = NearestF64::apply(limited + like(t, NearestF64::shift));
    D r = limited - k.value;
    D y = fma(poly<coefficient::exp2_f32_wide>(r), r, like(t, 1));
    return cast<float>(y * power_of_two_f64(k.integer));  // f64 has room for 2^-200; one rounding to f32
  }
};

/// log2 of a positive f64 as a pair.
struct Log2PairF64 {
  template <class N> TERCET_MATH Pair<N> apply(N ax) {
    const auto [e, f, unused] = SplitLogF64::apply(ax);
    N two = like(ax, 2);
    // s = f / (2 + f) = hi + lo
    auto below = fast_two_sum(two, f);
    N inverse = like(ax, 1) / below.hi;
    N s = f * inverse;
    N s_lo = (fma(-s, below.hi, f) - s * below.lo) * inverse;
    // atanh(s)/s = 1 + z (1/3 + z q), z = s^2
    auto z = two_product(s, s);
    N z_lo = fma(two * s, s_lo, z.lo);
    auto third = fast_two_sum(like(ax, 0x1.5555555555555p-2), z.hi * poly<coefficient::log_tail_f64>(z.hi));
    N third_lo = third.lo + like(ax, 0x1.5555555555555p-56);
    auto u = two_product(z.hi, third.hi);
    N u_lo = u.lo + fma(z.hi, third_lo, z_lo * third.hi);
    auto ratio = fast_two_sum(like(ax, 1), u.hi);
    N ratio_lo = ratio.lo + u_lo;
    // times 2/log(2)
    auto scaled = two_product(s, like(ax, 0x1.71547652b82fep+1));
    N scaled_lo = fma(s, like(ax, 0x1.777d0ffda0d24p-55), fma(s_lo, like(ax, 0x1.71547652b82fep+1), scaled.lo));
    auto product = two_product(scaled.hi, ratio.hi);
    N product_lo = product.lo + fma(scaled.hi, ratio_lo, scaled_lo * ratio.hi);
    auto sum = fast_two_sum(e, product.hi);
    return fast_two_sum(sum.hi, sum.lo + product_lo);
  }
};

/// 2^(hi + lo) for |hi| < 1e300; NaN stays.
struct Exp2PairF64 {
  template <class N> TERCET_MATH N apply(N hi, N lo) {
    N limited = clamp_keeping_nan(hi, -1100, 1040);
    lo = select(absolute(hi) < like(hi, 1100), lo, like(lo, 0));
    auto k = NearestF64::apply(limited + like(hi, NearestF64::shift));
    N r = (limited - k.value) + lo;
    return scale_f64(fma(poly<coefficient::exp2_f64>(r), r, like(hi, 1)), k.integer);
  }
};

/// Puts sign and special values on `magnitude`, which is |x|^y wherever x is finite and not 0.
template <class N> [[gnu::always_inline]] inline N pow_cases(N x, N y, N magnitude) {
  N zero = like(x, 0), one = like(x, 1), ax = absolute(x), half_y = like(x, 0.5) * y;
  auto integer = eq(round_trunc(y), y);
  auto odd = both(integer, ne(round_trunc(half_y), half_y));
  auto negative = negation(eq(with_sign(one, x), one));
  // |x| = 0 or inf: 0 or inf, decided by the sign of y.
  auto x_zero = eq(ax, zero), x_infinite = eq(ax, infinity_like(x));
  auto grows = either(both(x_zero, y < zero), both(x_infinite, y > zero));
  N r = select(either(x_zero, x_infinite), select(grows, infinity_like(x), zero), magnitude);
  // y = +-inf: by |x| against 1.
  auto y_grows = either(both(ax > one, y > zero), both(ax < one, y < zero));
  N limit = select(eq(ax, one), one, select(y_grows, infinity_like(x), zero));
  r = select(eq(absolute(y), infinity_like(x)), limit, r);
  r = select(both(negative, odd), -r, r);
  auto undefined = both(both(x < zero, negation(integer)), ax < infinity_like(x));
  r = select(either(undefined, either(is_nan(x), is_nan(y))), nan_like(x), r);
  return select(either(eq(x, one), eq(y, zero)), one, r);
}

struct PowF32 {
  template <class N> TERCET_MATH N apply(N x, N y) {
    N magnitude = Exp2OfWide::apply(cast<double>(y) * Log2WideOfF32::apply(absolute(x)));
    return pow_cases(x, y, magnitude);
  }
};
struct PowF64 {
  template <class N> TERCET_MATH N apply(N x, N y) {
    auto log = Log2PairF64::apply(absolute(x));
    N limited = clamp_keeping_nan(y, -0x1p65, 0x1p65);  // beyond, the result is 0, 1 or infinite anyway
    auto t = two_product(limited, log.hi);
    return pow_cases(x, y, Exp2PairF64::apply(t.hi, fma(limited, log.lo, t.lo)));
  }
};
struct Pow {
  template <class N> TERCET_MATH N apply(N x, N y) {
    if constexpr (std::is_floating_point_v<N>) return by_width<PowF32, PowF64>(x, y);
    else if constexpr (std::is_integral_v<N>) return IntPower::apply(x, y);
    else return is_float(dtype_of(x)) ? by_width<PowF32, PowF64>(x, y) : IntPower::apply(x, y);
  }
};

}  // namespace tercet
