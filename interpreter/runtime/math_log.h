// log, log2, log10, log1p.
//
// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); f is exact. log(1+f) = f + rest, where rest is small beside f, so
// that summing e log 2, f and rest from the largest down with one error term loses less than a unit in the last place.
// f64: with s = f/(2+f), log(1+f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)), the form of Sun's libm (1993).
#pragma once
#include "interpreter/runtime/math_coefficients.h"
#include "interpreter/runtime/math_core.h"

namespace tercet {

/// e (as a float), f and rest of a positive finite x, denormals included.
struct SplitLogF32 {
  template <class N> struct Result { N e, f, rest; };
  template <class N> TERCET_MATH Result<N> apply(N x) {
    auto denormal = x < like(x, 0x1p-126);
    auto bits = bits_f32(select(denormal, x * like(x, 0x1p23), x));
    auto above = bit_cast_to<int32_t>(bits - like_bits(bits, 0x3f3504f3u));       // sqrt(1/2), rounded
    auto exponent = shr(above, like(above, 23));
    N f = bit_cast_to<float>(bits - shl(bit_cast_to<uint32_t>(exponent), like_bits(bits, 23))) - like(x, 1);
    N e = cast<float>(exponent) - select(denormal, like(x, 23), like(x, 0));
    return {e, f, (f * f) * fma(poly<coefficient::log_f32>(f), f, like(x, -0.5))};
  }
};
struct SplitLogF64 {
  template <class N> struct Result { N e, f, rest; };
  template <class N> TERCET_MATH Result<N> apply(N x) {
    auto denormal = x < like(x, 0x1p-1022);
    auto bits = bits_f64(select(denormal, x * like(x, 0x1p52), x));
    auto above = bit_cast_to<int64_t>(bits - like_bits(bits, 0x3fe6a09e667f3bcdu));
    auto exponent = bit_cast_to<uint64_t>(shr(above, like(above, 52)));
    N f = bit_cast_to<double>(bits - shl(exponent, like_bits(bits, 52))) - like(x, 1);
    // Integer to float by way of the bits of 1.5 * 2^52, which every instruction set has.
    N e = bit_cast_to<double>(exponent + like_bits(bits, 0x4338000000000000u)) -
          select(denormal, like(x, 0x1.8p52 + 52), like(x, 0x1.8p52));
    N s = f / (f + like(x, 2)), z = s * s, half_square = like(x, 0.5) * f * f;
    N r = z * poly<coefficient::log_f64>(z);
    return {e, f, fma(s, half_square + r, -half_square)};
  }
};

/// The values at 0, below 0, at infinity and NaN of every logarithm; `y` elsewhere.
template <class N> [[gnu::always_inline]] inline N log_special_cases(N x, N y) {
  y = select(x < infinity_like(x), y, x);
  y = select(x < like(x, 0), nan_like(x), y);
  return select(eq(x, like(x, 0)), -infinity_like(x), y);
}

struct LogF32 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [e, f, rest] = SplitLogF32::apply(x);
    auto [sum, error] = fast_two_sum(e * like(x, 0x1.62e4p-1), f);
    return log_special_cases(x, sum + (error + fma(e, like(x, 0x1.7f7d1cp-20), rest)));
  }
};
struct LogF64 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [e, f, rest] = SplitLogF64::apply(x);
    auto [sum, error] = fast_two_sum(e * like(x, 0x1.62e42fefa38p-1), f);
    return log_special_cases(x, sum + (error + fma(e, like(x, 0x1.ef35793c7673p-45), rest)));
  }
};
struct Log {
  template <class N> TERCET_MATH N apply(N x) { return by_width<LogF32, LogF64>(x); }
};

/// e * (exponent_hi + exponent_lo) + (f + rest) * (scale_hi + scale_lo): a logarithm to another base.
template <class Split, const auto& base> struct LogToBase {
  template <class N> TERCET_MATH N apply(N x) {
    auto [e, f, rest] = Split::apply(x);
    auto [main, low] = two_product(f, like(x, base.scale_hi));
    auto [sum, error] = fast_two_sum(e * like(x, base.exponent_hi), main);
    N small = fma(f, like(x, base.scale_lo), low) + fma(e, like(x, base.exponent_lo), error);
    return log_special_cases(x, sum + fma(rest, like(x, base.scale_hi), small));
  }
};
struct LogBase { double exponent_hi, exponent_lo, scale_hi, scale_lo; };
inline constexpr LogBase base_2_f32 = {1, 0, 0x1.715476p+0, 0x1.4ae0cp-26};
inline constexpr LogBase base_2_f64 = {1, 0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr LogBase base_10_f32 = {0x1.344p-2, 0x1.3509f8p-18, 0x1.bcb7b2p-2, -0x1.5b235ep-27};
inline constexpr LogBase base_10_f64 = {0x1.34413509f78p-2, 0x1.fef311f12b358p-46, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

struct Log2 {
  template <class N> TERCET_MATH N apply(N x) {
    return by_width<LogToBase<SplitLogF32, base_2_f32>, LogToBase<SplitLogF64, base_2_f64>>(x);
  }
};
struct Log10 {
  template <class N> TERCET_MATH N apply(N x) {
    return by_width<LogToBase<SplitLogF32, base_10_f32>, LogToBase<SplitLogF64, base_10_f64>>(x);
  }
};

/// log(1 + x): u = 1 + x rounded, c what was lost; log(u) + c/u.
struct Log1pF32 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [u, lost] = two_sum(like(x, 1), x);
    auto [e, f, rest] = SplitLogF32::apply(u);
    auto [sum, error] = fast_two_sum(e * like(x, 0x1.62e4p-1), f);
    N y = sum + (error + fma(e, like(x, 0x1.7f7d1cp-20), rest + lost / u));
    return select(absolute(x) < like(x, 0x1p-26), x, log_special_cases(u, y));
  }
};
struct Log1pF64 {
  template <class N> TERCET_MATH N apply(N x) {
    auto [u, lost] = two_sum(like(x, 1), x);
    auto [e, f, rest] = SplitLogF64::apply(u);
    auto [sum, error] = fast_two_sum(e * like(x, 0x1.62e42fefa38p-1), f);
    N y = sum + (error + fma(e, like(x, 0x1.ef35793c7673p-45), rest + lost / u));
    return select(absolute(x) < like(x, 0x1p-55), x, log_special_cases(u, y));
  }
};
struct Log1p {
  template <class N> TERCET_MATH N apply(N x) { return by_width<Log1pF32, Log1pF64>(x); }
};

}  // namespace tercet
