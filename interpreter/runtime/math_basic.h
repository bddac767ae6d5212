// sign, rounding and classification: one instruction or a few.
#pragma once
#include "interpreter/runtime/math_core.h"

namespace tercet {

/// -1, 0 or 1; a float zero keeps its sign and NaN stays.
struct Sign {
  template <class N> TERCET_MATH N apply(N x) {
    const N zero = like(x, 0);
    return select(x > zero, like(x, 1), select(x < zero, like(x, -1), x));
  }
};

/// Rounding applies to floats; integers are returned as they are.
template <class Operation> struct OnFloats {
  template <class N> TERCET_MATH N apply(N x) {
    if constexpr (std::is_integral_v<N>) return x;
    else return is_float(dtype_of(x)) ? Operation::apply(x) : x;
  }
};
struct RoundEvenFloat {
  template <class N> TERCET_MATH N apply(N x) { return round_even(x); }
};
struct FloorFloat {
  template <class N> TERCET_MATH N apply(N x) { return round_floor(x); }
};
struct CeilFloat {
  template <class N> TERCET_MATH N apply(N x) { return round_ceil(x); }
};
struct TruncFloat {
  template <class N> TERCET_MATH N apply(N x) { return round_trunc(x); }
};
using Round = OnFloats<RoundEvenFloat>;  // half to even
using Floor = OnFloats<FloorFloat>;
using Ceil = OnFloats<CeilFloat>;
using Trunc = OnFloats<TruncFloat>;

/// Masks: Bool lanes, or bool.
struct IsNan {
  template <class N> TERCET_MATH auto apply(N x) { return is_nan(x); }
};
struct IsInf {
  template <class N> TERCET_MATH auto apply(N x) { return eq(absolute(x), infinity_like(x)); }
};
struct IsFinite {
  template <class N> TERCET_MATH auto apply(N x) { return absolute(x) < infinity_like(x); }
};

/// |a| with the sign of b; NaNs are one value, which counts as positive.
struct CopySign {
  template <class N> TERCET_MATH N apply(N a, N b) { return with_sign(absolute(a), select(is_nan(b), like(b, 0), b)); }
};

}  // namespace tercet
