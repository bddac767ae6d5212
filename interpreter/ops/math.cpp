// Rows: mathematical functions. Their algorithms are interpreter/runtime/math_*.h, their errors docs/numerics.md.
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/scalar_math.h"

namespace tercet {
namespace {

constexpr NotDifferentiable piecewise{"it is piecewise constant"};
constexpr double ln_2 = 0.69314718055994530942, ln_10 = 2.30258509299404568402, pi = 3.14159265358979323846, two_over_sqrt_pi = 1.12837916709551257390;

template <class Fn, Expr (*Derivative)(Expr x, Expr r)> constexpr OpDef math(const char* name, const char* doc) {
  return unary_op<Fn, Domain::Floats>(name, doc, Public{"x", Promotion::CommonFloat}, ByPartials{partial_1<Derivative>});
}
template <class Fn> constexpr OpDef math2(const char* name, const char* doc, PartialFn partial) {
  return binary_op<Fn, Domain::Floats>(name, doc, Public{"x, y", Promotion::CommonFloat}, ByPartials{partial});
}
template <class Fn> constexpr OpDef rounding(const char* name, const char* doc) {
  return unary_op<Fn, Domain::Numbers>(name, doc, Public{"x", Promotion::Common}, piecewise);
}

/// The logarithmic derivative of the gamma function: eight steps of its recurrence, then the asymptotic series
/// (Abramowitz and Stegun 6.3.5, 6.3.18); below 1/2 its reflection (6.3.7).
Expr digamma_above(Expr x) {
  Expr sum = 1.0 / x, z = x + 8.0;
  for (int k = 1; k < 8; ++k) sum = sum + 1.0 / (x + k);
  Expr w = 1.0 / (z * z);
  Expr series = w * (1.0 / 12 - w * (1.0 / 120 - w * (1.0 / 252 - w * (1.0 / 240 - (1.0 / 132) * w))));
  return call("log", z) - 0.5 * (1.0 / z) - series - sum;
}
Expr digamma(Expr x, Expr) {
  Expr low = x < x.number(0.5), y = choose(low, 1.0 - x, x), turn = choose(low, pi * x, x.number(1));
  Expr above = digamma_above(y);
  return choose(low, above - pi / call("tan", turn), above);
}

Expr sigmoid(Expr x) { return call("sigmoid", x); }
/// The share of x in logaddexp(x, y); equal ones, infinities among them, have half each.
Expr share(Expr x, Expr y, Expr) { return choose(x == y, x.number(0.5), sigmoid(x - y)); }
/// x / r, and 0 where r is.
Expr part(Expr x, Expr r) { return choose(r == r.number(0), r.number(0), x / r); }
Expr one(Expr x, Expr, Expr) { return x.number(1); }
Expr nothing(Expr, Expr, Expr) { return {}; }

constexpr PartialFn of_angle = partial_2<+[](Expr y, Expr x, Expr) { return x / (x * x + y * y); }, +[](Expr y, Expr x, Expr) { return -(y / (x * x + y * y)); }>;
constexpr PartialFn of_hypot = partial_2<+[](Expr x, Expr, Expr r) { return part(x, r); }, +[](Expr, Expr y, Expr r) { return part(y, r); }>;
constexpr PartialFn of_fmod = partial_2<one, +[](Expr x, Expr y, Expr) { return -call("trunc", x / y); }>;
constexpr PartialFn of_logaddexp = partial_2<share, +[](Expr x, Expr y, Expr r) { return share(y, x, r); }>;
constexpr PartialFn of_copysign = partial_2<+[](Expr x, Expr y, Expr) { return call("copysign", x.number(1), x) * call("copysign", x.number(1), y); }, nothing>;

}  // namespace

const OpDef exp_op = math<Exp, +[](Expr, Expr r) { return r; }>("exp", "e to the power x.");
const OpDef exp2_op = math<Exp2, +[](Expr, Expr r) { return ln_2 * r; }>("exp2", "2 to the power x.");
const OpDef expm1_op = math<Expm1, +[](Expr, Expr r) { return r + 1.0; }>("expm1", "exp(x) - 1, accurate near 0.");
const OpDef log_op = math<Log, +[](Expr x, Expr) { return 1.0 / x; }>("log", "Natural logarithm.");
const OpDef log2_op = math<Log2, +[](Expr x, Expr) { return 1.0 / (ln_2 * x); }>("log2", "Logarithm to base 2.");
const OpDef log10_op = math<Log10, +[](Expr x, Expr) { return 1.0 / (ln_10 * x); }>("log10", "Logarithm to base 10.");
const OpDef log1p_op = math<Log1p, +[](Expr x, Expr) { return 1.0 / (x + 1.0); }>("log1p", "log(1 + x), accurate near 0.");
const OpDef sqrt_op = math<Sqrt, +[](Expr, Expr r) { return 0.5 / r; }>("sqrt", "Square root.");
const OpDef rsqrt_op = math<Rsqrt, +[](Expr x, Expr r) { return -0.5 * r / x; }>("rsqrt", "1 / sqrt(x).");
const OpDef cbrt_op = math<Cbrt, +[](Expr, Expr r) { return 1.0 / (3.0 * r * r); }>("cbrt", "Cube root.");
const OpDef sin_op = math<Sin, +[](Expr x, Expr) { return call("cos", x); }>("sin", "Sine of x radians.");
const OpDef cos_op = math<Cos, +[](Expr x, Expr) { return -call("sin", x); }>("cos", "Cosine of x radians.");
const OpDef tan_op = math<Tan, +[](Expr, Expr r) { return r * r + 1.0; }>("tan", "Tangent of x radians.");
const OpDef asin_op = math<Asin, +[](Expr x, Expr) { return call("rsqrt", 1.0 - x * x); }>("asin", "Inverse sine, in radians.");
const OpDef acos_op = math<Acos, +[](Expr x, Expr) { return -call("rsqrt", 1.0 - x * x); }>("acos", "Inverse cosine, in radians.");
const OpDef atan_op = math<Atan, +[](Expr x, Expr) { return 1.0 / (x * x + 1.0); }>("atan", "Inverse tangent, in radians.");
const OpDef sinh_op = math<Sinh, +[](Expr x, Expr) { return call("cosh", x); }>("sinh", "Hyperbolic sine.");
const OpDef cosh_op = math<Cosh, +[](Expr x, Expr) { return call("sinh", x); }>("cosh", "Hyperbolic cosine.");
const OpDef tanh_op = math<Tanh, +[](Expr, Expr r) { return 1.0 - r * r; }>("tanh", "Hyperbolic tangent.");
const OpDef asinh_op = math<Asinh, +[](Expr x, Expr) { return call("rsqrt", x * x + 1.0); }>("asinh", "Inverse hyperbolic sine.");
const OpDef acosh_op = math<Acosh, +[](Expr x, Expr) { return call("rsqrt", (x - 1.0) * (x + 1.0)); }>("acosh", "Inverse hyperbolic cosine.");
const OpDef atanh_op = math<Atanh, +[](Expr x, Expr) { return 1.0 / ((1.0 - x) * (x + 1.0)); }>("atanh", "Inverse hyperbolic tangent.");
const OpDef erf_op = math<Erf, +[](Expr x, Expr) { return two_over_sqrt_pi * call("exp", -(x * x)); }>("erf", "Error function.");
const OpDef erfc_op = math<Erfc, +[](Expr x, Expr) { return -two_over_sqrt_pi * call("exp", -(x * x)); }>("erfc", "1 - erf(x), accurate for large x.");
const OpDef erfinv_op = math<ErfInv, +[](Expr, Expr r) { return (1.0 / two_over_sqrt_pi) * call("exp", r * r); }>("erfinv", "Inverse error function.");
const OpDef lgamma_op = math<Lgamma, digamma>("lgamma", "Logarithm of the absolute value of the gamma function.");
const OpDef sigmoid_op = math<Sigmoid, +[](Expr, Expr r) { return r * (1.0 - r); }>("sigmoid", "1 / (1 + exp(-x)).");
const OpDef softplus_op = math<Softplus, +[](Expr x, Expr) { return sigmoid(x); }>("softplus", "log(1 + exp(x)).");
const OpDef atan2_op = math2<Atan2>("atan2", "Angle of the point (y, x), in radians.", of_angle);
const OpDef hypot_op = math2<Hypot>("hypot", "sqrt(x * x + y * y) without overflow.", of_hypot);
const OpDef fmod_op = math2<Fmod>("fmod", "Remainder with the sign of x.", of_fmod);
const OpDef logaddexp_op = math2<LogAddExp>("logaddexp", "log(exp(x) + exp(y)) without overflow.", of_logaddexp);
const OpDef copysign_op = math2<CopySign>("copysign", "x with the sign of y.", of_copysign);
const OpDef sign_op = rounding<Sign>("sign", "-1, 0 or 1; NaN stays.");
const OpDef floor_op = rounding<Floor>("floor", "Rounded down; integers stay.");
const OpDef ceil_op = rounding<Ceil>("ceil", "Rounded up; integers stay.");
const OpDef trunc_op = rounding<Trunc>("trunc", "Rounded towards 0; integers stay.");
const OpDef round_op = rounding<Round>("round", "Rounded to nearest, ties to even; integers stay.");

namespace {
constexpr const OpDef* rows[] = {&exp_op, &exp2_op, &expm1_op, &log_op, &log2_op, &log10_op, &log1p_op, &sqrt_op, &rsqrt_op, &cbrt_op, &sin_op, &cos_op, &tan_op, &asin_op, &acos_op, &atan_op, &sinh_op, &cosh_op, &tanh_op, &asinh_op, &acosh_op, &atanh_op, &erf_op, &erfc_op, &erfinv_op, &lgamma_op, &sigmoid_op, &softplus_op, &atan2_op, &hypot_op, &fmod_op, &logaddexp_op, &copysign_op, &sign_op, &floor_op, &ceil_op, &trunc_op, &round_op};
}
const Family math_rows = rows;

}  // namespace tercet
