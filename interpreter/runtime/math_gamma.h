// lgamma: log |Gamma(x)|.
//
// x >= 8: Stirling's series. Below, the recurrence leads to 2 + t with |t| <= 1/2, where lgamma(2+t) = t q(t):
// lgamma(x) = t q(t) +- log(product). x < 0: log(pi / |x sin(pi x)|) - lgamma(-x). Logarithms are kept as pairs, so
// that the zeros at 1 and 2 keep their relative accuracy; near the zeros at negative x the error is absolute.
#pragma once
#include "interpreter/runtime/math_log.h"
#include "interpreter/runtime/math_trig.h"

namespace tercet {

/// log of a positive finite x as a pair.
template <class N> [[gnu::always_inline]] inline Pair<N> log_pair_f64(N x) {
  auto [e, f, rest] = SplitLogF64::apply(x);
  auto [sum, error] = fast_two_sum(e * like(x, 0x1.62e42fefa38p-1), f);
  return fast_two_sum(sum, error + fma(e, like(x, 0x1.ef35793c7673p-45), rest));
}

/// |sin(pi x)|.
template <class N> [[gnu::always_inline]] inline N sin_pi_magnitude_f64(N x) {
  N r = absolute(x - round_even(x));
  auto far = r > like(x, 0.25);
  N angle = like(x, 0x1.921fb54442d18p+1) * select(far, like(x, 0.5) - r, r);
  auto parts = sin_cos_pairs(angle, like(x, 0));
  return select(far, parts.cos.hi + parts.cos.lo, parts.sin.hi + parts.sin.lo);
}

/// lgamma of a > 0, finite.
template <class N> [[gnu::always_inline]] inline N lgamma_positive_f64(N a) {
  const N one = like(a, 1);
  auto large = a >= like(a, 8);
  auto below_half = a < like(a, 0.5), below_one = a < like(a, 1.5);
  // Down from [2.5, 8) to [1.5, 2.5): the factors passed on the way.
  N y = a, product = one;
  for (int i = 0; i < 6; ++i) {
    auto more = y >= like(a, 2.5);
    y = select(more, y - one, y);
    product = select(more, product * y, product);
  }
  N t = select(below_half, a, select(below_one, a - one, y - like(a, 2)));
  product = select(below_half, fma(a, a, a), select(below_one, a, product));
  t = select(large, like(a, 0), t);
  auto log = log_pair_f64(select(large, a, product));
  auto near = two_product(t, poly<coefficient::lgamma_f64>(t));
  N log_hi = negate_if(below_one, log.hi), log_lo = negate_if(below_one, log.lo);
  auto middle = two_sum(near.hi, log_hi);
  N small = middle.hi + (middle.lo + (near.lo + log_lo));
  // (a - 1/2) log a - a + log(2 pi)/2 + series/a
  N inverse = one / a, shifted = a - like(a, 0.5);
  auto main = two_product(shifted, log.hi);
  auto sum = two_sum(main.hi, -a);
  N rest = fma(inverse, poly<coefficient::stirling_f64>(inverse * inverse), like(a, 0x1.d67f1c864beb5p-1));
  N stirling = sum.hi + (sum.lo + (rest + fma(shifted, log.lo, main.lo)));
  // Beyond 2^60 the small terms are nothing and their products may overflow.
  N huge = a * (log.hi - one);
  return select(a > like(a, 0x1p60), huge, select(large, stirling, small));
}

struct LgammaF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    N positive = lgamma_positive_f64(ax);
    N sine = sin_pi_magnitude_f64(x);
    auto log = log_pair_f64(select(sine > like(x, 0), ax * sine, like(x, 1)));
    N reflected = ((like(x, 0x1.250d048e7a1bdp+0) - log.hi) - positive) - log.lo;
    // Next to 0 the product would be denormal, and |x| gives the same.
    N y = select(x < like(x, -0x1p-60), reflected, positive);
    auto pole = both(x <= like(x, 0), eq(sine, like(x, 0)));
    y = select(either(pole, eq(ax, infinity_like(x))), infinity_like(x), y);
    return select(is_nan(x), nan_like(x), y);
  }
};
struct Lgamma {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Widened<LgammaF64>, LgammaF64>(x); }
};

}  // namespace tercet
