// fmod, floor division and modulo (language.md section 10; floats as CPython corrects them), and integer power.
#pragma once
#include "interpreter/runtime/math_exp.h"

namespace tercet {

/// The remainder of a / b, sign of a, for positive finite f32 a and b: exact. In f64 a quotient digit of 48 bits is taken
/// at a time; q b fits an fma, so each remainder is exact, and a digit that is off by one is put right by the next.
struct FmodPositiveF32 {
  template <class N> TERCET_MATH N apply(N a, N b) {
    auto r = cast<double>(a), d = cast<double>(b);
    auto inverse = like(d, 1) / d;
    step(r, d, inverse, 0x1p240, 0x1p-240);
    step(r, d, inverse, 0x1p192, 0x1p-192);
    step(r, d, inverse, 0x1p144, 0x1p-144);
    step(r, d, inverse, 0x1p96, 0x1p-96);
    step(r, d, inverse, 0x1p48, 0x1p-48);
    step(r, d, inverse, 1, 1);
    r = select(r < like(r, 0), r + d, r);
    return cast<float>(select(r >= d, r - d, r));
  }
  template <class D> TERCET_MATH void step(D& r, D d, D inverse, double scale, double unscale) {
    D q = round_trunc(r * (inverse * like(r, unscale)));
    r = fma(-q, d * like(r, scale), r);
  }
};

/// The same for f64, where quotients have up to 2098 bits: with a = m 2^(e+k), b = n 2^e it is (m (2^k mod n) mod n) 2^e.
/// 2^k comes by repeated squaring modulo n, each product exact as a pair.
struct FmodPositiveF64 {
  template <class N> struct Mantissa { N value; Rebind<N, uint64_t> exponent; };  // value in [2^52, 2^53)
  template <class N> TERCET_MATH Mantissa<N> split(N x) {
    auto denormal = x < like(x, 0x1p-1022);
    auto bits = bits_f64(select(denormal, x * like(x, 0x1p54), x));
    auto e = shr(bits, like_bits(bits, 52)) - select(denormal, like_bits(bits, 1075 + 54), like_bits(bits, 1075));
    auto fraction = bits & like_bits(bits, (uint64_t{1} << 52) - 1);
    return {bit_cast_to<double>(fraction | like_bits(bits, 0x4330000000000000)), e};
  }
  template <class N> TERCET_MATH N centre(N r, N n, N inverse) { return fma(-round_even(r * inverse), n, r); }
  /// x y modulo n, for |x|, |y| about n/2 at most.
  template <class N> TERCET_MATH N multiply(N x, N y, N n, N inverse) {
    auto p = two_product(x, y);
    N r = centre(centre(p.hi, n, inverse), n, inverse);
    return centre(r + p.lo, n, inverse);
  }
  template <class N> TERCET_MATH N apply(N a, N b) {
    auto top = split(a), bottom = split(b);
    using U = decltype(top.exponent);
    const N n = bottom.value, inverse = like(a, 1) / n;
    auto c = [&](uint64_t v) { return like_bits(top.exponent, v); };
    auto whole = a < b;
    U k = select(whole, c(0), top.exponent - bottom.exponent);
    N r = power_of_two_f64(shr(k, c(6)));  // at most 2^33
#pragma GCC unroll 6
    for (int bit = 5; bit >= 0; --bit) {
      r = multiply(r, r, n, inverse);
      r = select(ne(k & c(uint64_t{1} << bit), c(0)), centre(r + r, n, inverse), r);
    }
    r = multiply(r, centre(top.value, n, inverse), n, inverse);
    r = select(r < like(r, 0), r + n, r);
    r = select(r >= n, r - n, r);
    return select(whole, a, scale_f64(r, bottom.exponent));
  }
};

/// C's fmod: exact, the sign of a. NaN for b = 0 or infinite a; a for infinite b.
struct Fmod {
  template <class N> TERCET_MATH N apply(N a, N b) {
    N aa = absolute(a), ab = absolute(b);
    auto fine = both(aa < infinity_like(a), both(ab < infinity_like(a), ab > like(a, 0)));
    // Replaced operands keep the arithmetic below finite.
    N r = by_width<FmodPositiveF32, FmodPositiveF64>(select(fine, aa, like(a, 1)), select(fine, ab, like(a, 1)));
    r = with_sign(r, a);
    auto keeps = both(aa < infinity_like(a), eq(ab, infinity_like(a)));
    return select(fine, r, select(keeps, a, nan_like(a)));
  }
};

/// Floor quotient and modulo of floats. The modulo has the sign of b, also when it is 0.
template <class N> struct FloorParts { N quotient, modulo; };
template <class N> [[gnu::always_inline]] inline FloorParts<N> floor_parts_float(N a, N b) {
  const N zero = like(a, 0), one = like(a, 1);
  N r = Fmod::apply(a, b);
  N q = (a - r) / b;
  auto is_zero = eq(r, zero);
  auto apart = both(negation(is_zero), ne(with_sign(one, r), with_sign(one, b)));
  q = select(apart, q - one, q);
  N modulo = select(is_zero, with_sign(zero, b), select(apart, r + b, r));
  // (a - r)/b is a whole number up to rounding: take the nearest.
  N down = round_floor(q);
  down = select(q - down > like(a, 0.5), down + one, down);
  N quotient = select(eq(q, zero), with_sign(zero, a / b), down);
  return {select(eq(b, zero), a / b, quotient), modulo};
}
/// The same for integers; a zero divisor gives 0 (it is reported elsewhere).
template <class N> [[gnu::always_inline]] inline FloorParts<N> floor_parts_int(N a, N b) {
  const N zero = like(a, 0), one = like(a, 1);
  N q = div_trunc(a, b), r = rem_trunc(a, b);
  N signs = static_cast<N>(r ^ b);
  auto apart = both(ne(r, zero), signs < zero);
  return {select(apart, wrap_sub(q, one), q), select(apart, wrap_add(r, b), r)};
}
template <class N> [[gnu::always_inline]] inline FloorParts<N> floor_parts(N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return floor_parts_float(a, b);
  else if constexpr (std::is_integral_v<N>) return floor_parts_int(a, b);
  else return is_float(dtype_of(a)) ? floor_parts_float(a, b) : floor_parts_int(a, b);
}
struct FloorDiv {
  template <class N> TERCET_MATH N apply(N a, N b) { return floor_parts(a, b).quotient; }
};
struct Modulo {
  template <class N> TERCET_MATH N apply(N a, N b) { return floor_parts(a, b).modulo; }
};

/// base^exponent for integers by repeated multiplication, wrapping. A negative exponent counts as its two's complement.
struct IntPower {
  template <class N> TERCET_MATH N apply(N base, N exponent) {
    N result = like(base, 1);
    const int width = static_cast<int>(8 * size_of(dtype_of(base)));
    for (int bit = 0; bit < width; ++bit) {
      N mask = like_bits(exponent, uint64_t{1} << bit);
      auto set = ne(static_cast<N>(exponent & mask), like(exponent, 0));
      result = select(set, wrap_mul(result, base), result);
      if (bit + 1 < width) base = wrap_mul(base, base);
    }
    return result;
  }
};

}  // namespace tercet
