// x = q pi/2 + r with |r| <= pi/4, for every finite x (Payne and Hanek, 1983).
//
// x = m 2^e with an integer m. Only a window of the binary digits of 2/pi matters for x 2/pi modulo 4: the digits before
// it give multiples of 4, those after it less than the accuracy wanted. The window is cut out of a constant by selects
// (a barrel shifter), the product is taken in fixed point, and its digits give q and r. All lanes do the same work.
#pragma once
#include "interpreter/runtime/math_core.h"

namespace tercet {

/// Digits of 1/(2 pi) 2^-23 and of 1/(2 pi) 2^-52, most significant word first. With these shifts the exponent field of
/// x >= 1, counted from 1.0, says how far the window moves, and the product's fraction is a fraction of a turn.
inline constexpr uint32_t turn_digits_f32[7] = {0x00000051, 0x7cc1b727, 0x220a94fe, 0x13abe8fa,
                                                0x9a6ee06d, 0xb14acc9e, 0x21c820ff};
inline constexpr uint64_t turn_digits_f64[19] = {
    0x000000000000028b, 0xe60db9391054a7f0, 0x9d5f47d4d377036d, 0x8a5664f10e4107f9, 0x458eaf7aef1586dc,
    0x91b8e909374b8019, 0x24bba827464873f8, 0x77ac72c4a69cfba2, 0x08d7d4baed1213a6, 0x71c09ad17df904e6,
    0x4758e60d4ce7d272, 0x117e2ef7e4a0ec7f, 0xe25fff7816603fbc, 0xbc462d6829b47db4, 0xd9fb3c9f2c26dd3d,
    0x18fd9a797fa8b5d4, 0x9eeb1faf97c5ecf4, 0x1ce7de294a4ba9af, 0xed7ec47e35742158};

/// words[i] = words[i + step] where `bit` of index is set, for i < count.
template <size_t count, class U> [[gnu::always_inline]] inline void barrel_step(U* words, U index, uint32_t step) {
  auto moved = ne(index & like_bits(index, step), like_bits(index, 0));
  for (size_t i = 0; i < count; ++i) words[i] = select(moved, words[i + step], words[i]);
}
/// words[i] shifted left by n bits of its width, filled from words[i + 1].
template <size_t count, class U> [[gnu::always_inline]] inline void funnel_shift(U* words, U n, uint32_t width) {
  U back = like_bits(n, width - 1) - n, single = like_bits(n, 1);
  for (size_t i = 0; i < count; ++i) words[i] = shl(words[i], n) | shr(shr(words[i + 1], single), back);
}

/// |x| = q pi/2 + r: q modulo 4 in u32 lanes, r in f64 (50 digits are right). x is f32; its magnitude is `ax`.
struct ReduceTrigF32 {
  template <class N> struct Result { Rebind<N, double> r; Rebind<N, uint32_t> q; };
  template <class N> TERCET_MATH Result<N> apply(N ax) {
    auto bits = bits_f32(ax);
    auto exponent = shr(bits, like_bits(bits, 23)) - like_bits(bits, 127);
    auto m = (bits & like_bits(bits, 0x7fffff)) | like_bits(bits, 0x800000);
    decltype(bits) w[7];
    for (int i = 0; i < 7; ++i) w[i] = like_bits(bits, turn_digits_f32[i]);
    auto index = shr(exponent, like_bits(bits, 5));
    barrel_step<5>(w, index, 2);
    barrel_step<4>(w, index, 1);
    funnel_shift<3>(w, exponent & like_bits(bits, 31), 32);
    // 64 digits of the fraction of m * 0.w0 w1 w2.
    auto low = m * w[1], add = mul_high(m, w[2]);
    auto sum = low + add;
    auto high = m * w[0] + mul_high(m, w[1]) + select(sum < add, like_bits(bits, 1), like_bits(bits, 0));
    // The first two are q; the rest, read as signed, the distance from the nearest quarter turn.
    auto q = shr(high + like_bits(bits, 0x20000000), like_bits(bits, 30));
    auto fraction = bit_cast_to<int32_t>(shl(high, like_bits(bits, 2)) | shr(sum, like_bits(bits, 30)));
    auto small = cast<double>(shl(sum, like_bits(bits, 2)));
    auto big = cast<double>(fraction);
    auto r = fma(big, like(big, 0x1.921fb54442d18p-32), small * like(big, 0x1.921fb54442d18p-64));
    // Below 1 the window would start before the first digit; there q is 0 or 1.
    auto wide = cast<double>(ax);
    auto below_one = ax < like(ax, 1), near = ax < like(ax, 0x1.921fb4p-1);
    r = select(near, wide, select(below_one, wide - like(wide, 0x1.921fb54442d18p+0), r));
    return {r, select(near, like_bits(q, 0), select(below_one, like_bits(q, 1), q))};
  }
};

/// The 32-bit digits 1..4 of the fraction of m * 0.w0 w1 w2, for m < 2^53.
template <class U> struct TurnFraction { U d1, d2, d3, d4; };
template <class U> [[gnu::always_inline]] inline TurnFraction<U> turn_fraction(U m, const U* w) {
  const U mask = like_bits(m, 0xffffffff), half = like_bits(m, 32);
  auto low = [&](U x) { return x & mask; };
  auto high = [&](U x) { return shr(x, half); };
  const U m0 = low(m), m1 = high(m);
  const U a1 = high(w[0]), a2 = low(w[0]), a3 = high(w[1]), a4 = low(w[1]), a5 = high(w[2]), a6 = low(w[2]);
  const U p2 = m0 * a2, p3 = m0 * a3, p4 = m0 * a4, p5 = m0 * a5;
  const U r3 = m1 * a3, r4 = m1 * a4, r5 = m1 * a5, r6 = m1 * a6;
  const U c4 = low(p4) + high(p5) + low(r5) + high(r6);
  const U c3 = low(p3) + high(p4) + low(r4) + high(r5) + high(c4);
  const U c2 = low(p2) + high(p3) + low(r3) + high(r4) + high(c3);
  const U c1 = m0 * a1 + high(p2) + m1 * a2 + high(r3) + high(c2);
  return {low(c1), low(c2), low(c3), low(c4)};
}

/// |x| = q pi/2 + hi + lo: q modulo 4 in u64 lanes, hi + lo right to about 2^-64 of itself for every f64.
struct ReduceTrigF64 {
  template <class N> struct Result { N hi, lo; Rebind<N, uint64_t> q; };
  template <class N> TERCET_MATH Result<N> apply(N ax) {
    auto bits = bits_f64(ax);
    using U = decltype(bits);
    auto c = [&](uint64_t value) { return like_bits(bits, value); };
    U exponent = shr(bits, c(52)) - c(1023);
    U m = (bits & c((uint64_t{1} << 52) - 1)) | c(uint64_t{1} << 52);
    U w[19];
    for (int i = 0; i < 19; ++i) w[i] = c(turn_digits_f64[i]);
    U index = shr(exponent, c(6));
    barrel_step<11>(w, index, 8);
    barrel_step<7>(w, index, 4);
    barrel_step<5>(w, index, 2);
    barrel_step<4>(w, index, 1);
    funnel_shift<3>(w, exponent & c(63), 64);
    const auto f = turn_fraction(m, w);
    U q = shr(f.d1 + c(0x20000000), c(30)) & c(3);
    // Digits below the quarter turn, moved up by its two bits: each becomes an exact float through the bits of 2^52.
    auto digit = [&](U upper, U lower) { return (shl(upper, c(2)) | shr(lower, c(30))) & c(0xffffffff); };
    auto to_float = [&](U d) { return bit_cast_to<double>(d | c(0x4330000000000000)) - like(ax, 0x1p52); };
    N big = bit_cast_to<double>((digit(f.d1, f.d2) ^ c(0x80000000)) | c(0x4330000000000000)) - like(ax, 0x1p52 + 0x1p31);
    auto top = fast_two_sum(big * like(ax, 0x1p-32), to_float(digit(f.d2, f.d3)) * like(ax, 0x1p-64));
    N rest = fma(to_float(digit(f.d3, f.d4)), like(ax, 0x1p-96), to_float(digit(f.d4, c(0))) * like(ax, 0x1p-128));
    auto turn = fast_two_sum(top.hi, top.lo + rest);
    // times pi/2
    auto r = two_product(turn.hi, like(ax, 0x1.921fb54442d18p+0));
    N r_lo = fma(turn.hi, like(ax, 0x1.1a62633145c07p-54), fma(turn.lo, like(ax, 0x1.921fb54442d18p+0), r.lo));
    // Below 1 the window would start before the first digit; there q is 0 or 1, and the difference is exact.
    auto below_one = ax < like(ax, 1), near = ax < like(ax, 0x1.921fb54442d18p-1);
    return {select(near, ax, select(below_one, ax - like(ax, 0x1.921fb54442d18p+0), r.hi)),
            select(near, like(ax, 0), select(below_one, like(ax, -0x1.1a62633145c07p-54), r_lo)),
            select(near, c(0), select(below_one, c(1), q))};
  }
};

}  // namespace tercet
