// sinh, cosh, tanh and their inverses; softplus and logaddexp.
//
// With |x| = n log 2 + r:  sinh = (2^n - 2^-n)/2 cosh r + (2^n + 2^-n)/2 sinh r, and cosh likewise. For n = 0 this is
// sinh r alone, so small arguments keep their relative accuracy. Half of the factor 2^n is applied last (overflow).
#pragma once
#include "interpreter/runtime/math_exp.h"
#include "interpreter/runtime/math_log.h"

namespace tercet {

/// A quarter of 2^n + 2^-n and of 2^n - 2^-n, and the parts of sinh r = r + odd, cosh r = 1 + even.
template <class N> struct HyperbolicParts { N sum, difference, r, odd, even; };
struct HyperbolicF32 {
  template <class N> TERCET_MATH HyperbolicParts<N> apply(N ax) {
    auto [hi, lo, n] = ReduceExpF32::apply(clamp_keeping_nan(ax, 0, 89.5));
    N r = hi + lo, z = r * r;
    N up = power_of_two_f32(n - like_bits(n, 2));
    N down = select(n > like_bits(n, 60), like(ax, 0), power_of_two_f32(like_bits(n, 0) - n - like_bits(n, 2)));
    return {up + down, up - down, r, fma(z * r, poly<coefficient::sinh_f32>(z), lo - (r - hi)),
            z * poly<coefficient::cosh_f32>(z)};
  }
};
struct HyperbolicF64 {
  template <class N> TERCET_MATH HyperbolicParts<N> apply(N ax) {
    auto [hi, lo, n] = ReduceExpF64::apply(clamp_keeping_nan(ax, 0, 710.7));
    N r = hi + lo, z = r * r;
    N up = power_of_two_f64(n - like_bits(n, 2));
    N down = select(n > like_bits(n, 60), like(ax, 0), power_of_two_f64(like_bits(n, 0) - n - like_bits(n, 2)));
    return {up + down, up - down, r, fma(z * r, poly<coefficient::sinh_f64>(z), lo - (r - hi)),
            z * poly<coefficient::cosh_f64>(z)};
  }
};
struct Hyperbolic {
  template <class N> TERCET_MATH HyperbolicParts<N> apply(N ax) { return by_width<HyperbolicF32, HyperbolicF64>(ax); }
};

struct Sinh {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto p = Hyperbolic::apply(ax);
    // difference (1 + even) + sum (r + odd), the two largest terms summed with their error.
    auto [main, error] = two_sum(p.difference, p.sum * p.r);
    N y = main + fma(p.difference, p.even, fma(p.sum, p.odd, error));
    return with_sign(select(ax < like(x, 0x1p-14), fma(ax * ax, ax * like(x, 0x1.555556p-3), ax), y * like(x, 2)), x);
  }
};
struct Cosh {
  template <class N> TERCET_MATH N apply(N x) {
    auto p = Hyperbolic::apply(absolute(x));
    N rest = fma(p.sum, p.even, p.difference * (p.r + p.odd));
    return (p.sum + rest) * like(x, 2);
  }
};

/// p / (p + 2) for a pair p >= 0: the quotient of the leading parts and one step of long division.
template <class N> [[gnu::always_inline]] inline N over_two_more(Pair<N> p) {
  auto below = two_sum(p.hi, like(p.hi, 2));
  N inverse = like(p.hi, 1) / below.hi;
  N q = p.hi * inverse;
  N remainder = fma(-q, below.hi, p.hi) + fma(-q, below.lo + p.lo, p.lo);
  return fma(remainder, inverse, q);
}

/// tanh x = x + x^3 q(x^2) up to 0.906; above that (E - 1) / (E + 1) with E = exp(2|x|): E + 1 is rounded once, and E - 1 is exactly 2
/// less, so that a rounding error shrinks by 2 / (E + 1). From 8.66, where that stops being exact, the
/// result is the last number before 1, then 1.
struct TanhF32 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x), z = ax * ax;
    // The first term apart: the rounding of the others, which are a quarter of it, counts less.
    N rest = fma(z, like(x, coefficient::tanh_f32[0]), z * z * poly<coefficient::tanh_f32, 1>(z));
    N near = fma(ax, rest, ax);
    N limited = select(ax > like(x, 8.66), like(x, 8.66), ax);   // NaN stays
    auto k = NearestF32::apply(fma(limited, like(x, 0x1.715476p+1), like(x, NearestF32::shift)));
    N r = fma(k.value, like(x, -0x1.62e43p-2), limited);
    N power = power_of_two_f32(k.integer);
    N above = fma(power, r * poly<coefficient::exp_double_f32>(r), power + like(x, 1));
    N far = (above - like(x, 2)) / above;
    N y = select(ax > like(x, 9.02), like(x, 1), select(ax < like(x, 0.906), near, far));
    return with_sign(y, x);
  }
};
/// tanh x = p / (p + 2) with p = expm1(2|x|) kept to more than working precision.
struct TanhF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto p = Expm1PairF64::apply(clamp_keeping_nan(ax + ax, 0, 50));
    N y = over_two_more(p);
    return with_sign(select(ax < like(x, 0x1p-28), ax, y), x);
  }
};
struct Tanh {
  template <class N> TERCET_MATH N apply(N x) { return by_width<TanhF32, TanhF64>(x); }
};

/// asinh x = log1p(x + x^2 / (1 + sqrt(1 + x^2))); log x + log 2 where x^2 is not needed.
struct AsinhF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x), one = like(x, 1);
    auto big = ax > like(x, 0x1p60);
    N square = ax * ax;
    N argument = select(big, ax, ax + square / (one + square_root(one + square)));
    N y = Log1pF64::apply(argument) + select(big, like(x, 0x1.62e42fefa39efp-1), like(x, 0));
    return with_sign(y, x);
  }
};
/// acosh x = log1p(t + sqrt(2t + t^2)), t = x - 1.
struct AcoshF64 {
  template <class N> TERCET_MATH N apply(N x) {
    auto big = x > like(x, 0x1p60);
    N t = x - like(x, 1);
    N argument = select(big, x, t + square_root(fma(t, t, t + t)));
    N y = Log1pF64::apply(argument) + select(big, like(x, 0x1.62e42fefa39efp-1), like(x, 0));
    return select(x < like(x, 1), nan_like(x), y);
  }
};
/// atanh x = log1p(2x / (1 - x)) / 2.
struct AtanhF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    N y = like(x, 0.5) * Log1pF64::apply((ax + ax) / (like(x, 1) - ax));
    return with_sign(select(ax < like(x, 0x1p-28), ax, y), x);
  }
};
struct Asinh {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Widened<AsinhF64>, AsinhF64>(x); }
};
struct Acosh {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Widened<AcoshF64>, AcoshF64>(x); }
};
struct Atanh {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Widened<AtanhF64>, AtanhF64>(x); }
};

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)).
struct Softplus {
  template <class N> TERCET_MATH N apply(N x) {
    return select(x > like(x, 0), x, like(x, 0)) + Log1p::apply(Exp::apply(-absolute(x)));
  }
};
/// log(exp(a) + exp(b)); equal infinities give themselves.
struct LogAddExp {
  template <class N> TERCET_MATH N apply(N a, N b) {
    N difference = select(eq(a, b), like(a, 0), a - b);
    return select(a > b, a, b) + Log1p::apply(Exp::apply(-absolute(difference)));
  }
};

}  // namespace tercet
