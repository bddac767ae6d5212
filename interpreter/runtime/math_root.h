// sqrt, rsqrt, cbrt, hypot.
#pragma once
#include "interpreter/runtime/math_coefficients.h"
#include "interpreter/runtime/math_core.h"

namespace tercet {

struct Sqrt {
  template <class N> TERCET_MATH N apply(N x) { return square_root(x); }
};

/// 1 / sqrt(x). -0 gives -inf, as C's 1/sqrt(x).
struct Rsqrt {
  template <class N> TERCET_MATH N apply(N x) { return like(x, 1) / square_root(x); }
};

/// cbrt: a third of the bit pattern is a first guess t, right to 4 %. With d = t^3/x - 1 the root is t (1+d)^(-1/3), a
/// polynomial; one Newton step with an exact residual follows. Tiny numbers, whose residual would be denormal, are scaled
/// by a cube first.
struct CbrtF32 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto tiny = ax < like(x, 0x1p-96);
    N a = select(tiny, ax * like(x, 0x1p24), ax);
    auto bits = bits_f32(a);
    N t = bit_cast_to<float>(mul_high(bits, like_bits(bits, 0x55555556u)) + like_bits(bits, 0x2a50e0b5u));
    N inverse = like(x, 1) / a;
    N d = fma(t * t, t * inverse, like(x, -1));
    t = fma(t * d, poly<coefficient::cbrt_f32>(d), t);
    auto square = two_product(t, t);
    N residual = fma(square.hi, t, -a) + square.lo * t;
    t = fma(residual * inverse, t * like(x, -0x1.555556p-2), t);
    N y = with_sign(t * select(tiny, like(x, 0x1p-8), like(x, 1)), x);
    return select(both(ax < infinity_like(x), ax > like(x, 0)), y, x);
  }
};
struct CbrtF64 {
  template <class N> TERCET_MATH N apply(N x) {
    N ax = absolute(x);
    auto tiny = ax < like(x, 0x1p-900);
    N a = select(tiny, ax * like(x, 0x1p54), ax);
    // Only the upper half of the pattern is needed for a guess; times 2^32/3.
    auto bits = bits_f64(a);
    auto third = shr(shr(bits, like_bits(bits, 32)) * like_bits(bits, 0x55555556u), like_bits(bits, 32));
    N t = bit_cast_to<double>(shl(third + like_bits(bits, 0x2a9f716cu), like_bits(bits, 32)));
    // x/4 keeps the reciprocal of the largest numbers normal.
    N inverse = like(x, 0.25) / (a * like(x, 0.25));
    N d = fma(t * t, t * inverse, like(x, -1));
    t = fma(t * d, poly<coefficient::cbrt_f64>(d), t);
    auto square = two_product(t, t);
    N residual = fma(square.hi, t, -a) + square.lo * t;
    t = fma(residual * inverse, t * like(x, -0x1.5555555555555p-2), t);
    N y = with_sign(t * select(tiny, like(x, 0x1p-18), like(x, 1)), x);
    return select(both(ax < infinity_like(x), ax > like(x, 0)), y, x);
  }
};
struct Cbrt {
  template <class N> TERCET_MATH N apply(N x) { return by_width<CbrtF32, CbrtF64>(x); }
};

/// sqrt(x^2 + y^2) without overflow on the way; an infinity wins over NaN.
struct HypotF32 {
  template <class N> TERCET_MATH N apply(N x, N y) {
    auto wx = cast<double>(x), wy = cast<double>(y);
    N h = cast<float>(square_root(fma(wx, wx, wy * wy)));
    auto infinite = either(eq(absolute(x), infinity_like(x)), eq(absolute(y), infinity_like(x)));
    return select(infinite, infinity_like(x), h);
  }
};
struct HypotF64 {
  template <class N> TERCET_MATH N apply(N x, N y) {
    N ax = absolute(x), ay = absolute(y);
    N big = select(ax > ay, ax, ay), small = select(ax > ay, ay, ax);
    auto huge = big > like(x, 0x1p500), tiny = big < like(x, 0x1p-450);
    N scale = select(huge, like(x, 0x1p-600), select(tiny, like(x, 0x1p600), like(x, 1)));
    N back = select(huge, like(x, 0x1p600), select(tiny, like(x, 0x1p-600), like(x, 1)));
    big = big * scale;
    small = small * scale;
    auto b = two_product(big, big);
    auto s = two_product(small, small);
    auto sum = fast_two_sum(b.hi, s.hi);
    N h = square_root(sum.hi);
    // h^2 + rest = the exact sum: one step towards its root.
    N rest = -fma(h, h, -sum.hi) + (sum.lo + b.lo + s.lo);
    N corrected = select(h > like(x, 0), h + rest / (h + h), h) * back;
    auto infinite = either(eq(ax, infinity_like(x)), eq(ay, infinity_like(x)));
    return select(infinite, infinity_like(x), select(either(is_nan(x), is_nan(y)), nan_like(x), corrected));
  }
};
struct Hypot {
  template <class N> TERCET_MATH N apply(N x, N y) { return by_width<HypotF32, HypotF64>(x, y); }
};

}  // namespace tercet
