// erf, erfc, erfinv.
//
// erf: a polynomial below 1, else 1 - erfc. erfc(x) = exp(-x^2) P(t) / (1 + 2x) with t = (x-4)/(x+4), which maps the
// half line to a bounded interval (Shepherd and Laframboise, 1981); the rounding error of x^2 enters exp as a tail.
// erfinv: Giles' variable w = -log(1 - x^2) with polynomials of our own in w and sqrt(w); f64 adds one step of Halley.
#pragma once
#include "interpreter/runtime/math_exp.h"
#include "interpreter/runtime/math_log.h"

namespace tercet {

struct ErfF32 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x), z = ax * ax;
    N small = fma(ax, poly<coefficient::erf_f32>(z), ax);
    N d = select(ax > like(x, 4), like(x, 3), ax - like(x, 1));
    N big = like(x, 1) - ExpF32::apply(poly<coefficient::log_erfc_f32>(d));
    return with_sign(select(ax >= like(x, 1), big, small), x);
  }
};

/// erf of 0 <= ax <= 1.
template <class N> [[gnu::always_inline]] inline N erf_small_f64(N ax) {
  return fma(ax, poly<coefficient::erf_f64>(ax * ax), ax);
}
/// erfc(ax) = scale * gauss, gauss = exp(-ax^2), for 0.6 <= ax.
template <class N> struct ErfcParts { N scale, gauss; };
template <class N> [[gnu::always_inline]] inline ErfcParts<N> erfc_parts_f64(N ax) {
  N limited = clamp_keeping_nan(ax, 0, 30);
  N t = (limited - like(ax, 4)) / (limited + like(ax, 4));
  auto square = two_product(limited, limited);
  return {poly<coefficient::erfcx_f64>(t) / fma(limited, like(ax, 2), like(ax, 1)),
          ExpTailF64::apply(-square.hi, -square.lo)};
}
struct ErfF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto tail = erfc_parts_f64(ax);
    return with_sign(select(ax > like(x, 1), fma(-tail.scale, tail.gauss, like(x, 1)), erf_small_f64(ax)), x);
  }
};
struct Erf {
  template <class N> TERCET_MATH N apply(N x) { return by_width<ErfF32, ErfF64>(x); }
};

struct ErfcF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x), one = like(x, 1);
    auto parts = erfc_parts_f64(ax);
    N tail = parts.scale * parts.gauss;
    N right = select(ax < like(x, 0.65), one - erf_small_f64(ax), tail);
    N left = select(ax <= one, one + erf_small_f64(ax), like(x, 2) - tail);
    return select(x < like(x, 0), left, right);
  }
};
struct Erfc {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Widened<ErfcF64>, ErfcF64>(x); }
};

/// erfinv(x)/x from f64 arithmetic, with 25 digits; `ax` = |x| < 1.
template <const auto& tail, class D> [[gnu::always_inline]] inline D erfinv_ratio(D ax) {
  D product = (like(ax, 1) - ax) * (like(ax, 1) + ax);
  auto [e, f, rest] = SplitLogF64::apply(product);
  D w = -fma(e, like(ax, 0x1.62e42fefa39efp-1), f + rest);
  D central = poly<coefficient::erfinv_central>(w - like(ax, 2.5));
  D far = poly<tail>(square_root(w) - like(ax, 3));
  return select(w < like(ax, 5), central, far);
}
template <class N> [[gnu::always_inline]] inline N erfinv_cases(N x, N y) {
  y = select(eq(absolute(x), like(x, 1)), with_sign(infinity_like(x), x), y);
  return select(absolute(x) <= like(x, 1), y, nan_like(x));
}
struct ErfInvF32 {
  template <class N> TERCET_MATH N apply(N x) {
    auto ax = cast<double>(absolute(x));
    auto y = cast<float>(ax * erfinv_ratio<coefficient::erfinv_tail_f32>(ax));
    return erfinv_cases(x, with_sign(y, x));
  }
};
struct ErfInvF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x), one = like(x, 1);
    N y = ax * erfinv_ratio<coefficient::erfinv_tail_f64>(ax);
    auto parts = erfc_parts_f64(y);
    // erf(y) - x, by way of erfc where that has the digits.
    N off = select(y < like(x, 0.65), erf_small_f64(y) - ax, (one - ax) - parts.scale * parts.gauss);
    N step = off * like(x, 0x1.c5bf891b4ef6bp-1) / parts.gauss;  // sqrt(pi)/2
    return erfinv_cases(x, with_sign(y - step / fma(y, step, one), x));
  }
};
struct ErfInv {
  template <class N> TERCET_MATH N apply(N x) { return by_width<ErfInvF32, ErfInvF64>(x); }
};

}  // namespace tercet
