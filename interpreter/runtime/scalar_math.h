// The elementary functions of the language, each a struct with a static template `apply` over Number:
//
//   unary   Exp Exp2 Expm1 Log Log2 Log10 Log1p Sqrt Rsqrt Cbrt Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh
//           Atanh Erf Erfc ErfInv Lgamma Sigmoid Softplus        (f32, f64)
//           Sign Round Floor Ceil Trunc                          (floats and integers)
//           IsNan IsInf IsFinite                                 (floats -> bool)
//   binary  Atan2(y, x) Hypot Fmod LogAddExp CopySign            (f32, f64)
//           Pow FloorDiv Modulo                                  (floats and integers; an integer zero divisor gives 0)
//           IntPower(base, exponent)                             (integers, wrapping)
//
// One algorithm each, branch-free, the same for every evaluator. Errors and sources: docs/numerics.md.
// f16 and bf16: evaluate in f32 and round. Example: `for (i…) y[i] = Exp::apply(x[i]);` is a vector loop under -O3
// -fno-trapping-math -fno-math-errno (neither option changes a value).
#pragma once
#include "interpreter/runtime/math_basic.h"
#include "interpreter/runtime/math_division.h"
#include "interpreter/runtime/math_erf.h"
#include "interpreter/runtime/math_exp.h"
#include "interpreter/runtime/math_gamma.h"
#include "interpreter/runtime/math_hyperbolic.h"
#include "interpreter/runtime/math_inverse_trig.h"
#include "interpreter/runtime/math_log.h"
#include "interpreter/runtime/math_pow.h"
#include "interpreter/runtime/math_root.h"
#include "interpreter/runtime/math_trig.h"
