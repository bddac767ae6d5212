// Rows: mathematical functions. Their algorithms are interpreter/runtime/math_*.h, their errors docs/numerics.md.
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/scalar_math.h"

namespace tercet {
namespace {

constexpr NotYet by_partials{"partial derivatives come with gradients"};
constexpr NotDifferentiable piecewise{"it is piecewise constant"};

template <class Fn> constexpr OpDef math(const char* name, const char* doc) {
  return unary_op<Fn, Domain::Floats>(name, doc, Public{"x", Promotion::CommonFloat}, by_partials);
}
template <class Fn> constexpr OpDef math2(const char* name, const char* doc) {
  return binary_op<Fn, Domain::Floats>(name, doc, Public{"x, y", Promotion::CommonFloat}, by_partials);
}

}  // namespace

const OpDef exp_op = math<Exp>("exp", "e to the power x.");
const OpDef exp2_op = math<Exp2>("exp2", "2 to the power x.");
const OpDef expm1_op = math<Expm1>("expm1", "exp(x) - 1, accurate near 0.");
const OpDef log_op = math<Log>("log", "Natural logarithm.");
const OpDef log2_op = math<Log2>("log2", "Logarithm to base 2.");
const OpDef log10_op = math<Log10>("log10", "Logarithm to base 10.");
const OpDef log1p_op = math<Log1p>("log1p", "log(1 + x), accurate near 0.");
const OpDef sqrt_op = math<Sqrt>("sqrt", "Square root.");
const OpDef rsqrt_op = math<Rsqrt>("rsqrt", "1 / sqrt(x).");
const OpDef cbrt_op = math<Cbrt>("cbrt", "Cube root.");
const OpDef sin_op = math<Sin>("sin", "Sine of x radians.");
const OpDef cos_op = math<Cos>("cos", "Cosine of x radians.");
const OpDef tan_op = math<Tan>("tan", "Tangent of x radians.");
const OpDef asin_op = math<Asin>("asin", "Inverse sine, in radians.");
const OpDef acos_op = math<Acos>("acos", "Inverse cosine, in radians.");
const OpDef atan_op = math<Atan>("atan", "Inverse tangent, in radians.");
const OpDef sinh_op = math<Sinh>("sinh", "Hyperbolic sine.");
const OpDef cosh_op = math<Cosh>("cosh", "Hyperbolic cosine.");
const OpDef tanh_op = math<Tanh>("tanh", "Hyperbolic tangent.");
const OpDef asinh_op = math<Asinh>("asinh", "Inverse hyperbolic sine.");
const OpDef acosh_op = math<Acosh>("acosh", "Inverse hyperbolic cosine.");
const OpDef atanh_op = math<Atanh>("atanh", "Inverse hyperbolic tangent.");
const OpDef erf_op = math<Erf>("erf", "Error function.");
const OpDef erfc_op = math<Erfc>("erfc", "1 - erf(x), accurate for large x.");
const OpDef erfinv_op = math<ErfInv>("erfinv", "Inverse error function.");
const OpDef lgamma_op = math<Lgamma>("lgamma", "Logarithm of the absolute value of the gamma function.");
const OpDef sigmoid_op = math<Sigmoid>("sigmoid", "1 / (1 + exp(-x)).");
const OpDef softplus_op = math<Softplus>("softplus", "log(1 + exp(x)).");
const OpDef atan2_op = math2<Atan2>("atan2", "Angle of the point (y, x), in radians.");
const OpDef hypot_op = math2<Hypot>("hypot", "sqrt(x * x + y * y) without overflow.");
const OpDef fmod_op = math2<Fmod>("fmod", "Remainder with the sign of x.");
const OpDef logaddexp_op = math2<LogAddExp>("logaddexp", "log(exp(x) + exp(y)) without overflow.");
const OpDef copysign_op = math2<CopySign>("copysign", "x with the sign of y.");
const OpDef sign_op = unary_op<Sign, Domain::Numbers>("sign", "-1, 0 or 1; NaN stays.", Public{"x", Promotion::Common}, piecewise);
const OpDef floor_op = unary_op<Floor, Domain::Numbers>("floor", "Rounded down; integers stay.", Public{"x", Promotion::Common}, piecewise);
const OpDef ceil_op = unary_op<Ceil, Domain::Numbers>("ceil", "Rounded up; integers stay.", Public{"x", Promotion::Common}, piecewise);
const OpDef trunc_op = unary_op<Trunc, Domain::Numbers>("trunc", "Rounded towards 0; integers stay.", Public{"x", Promotion::Common}, piecewise);
const OpDef round_op = unary_op<Round, Domain::Numbers>("round", "Rounded to nearest, ties to even; integers stay.", Public{"x", Promotion::Common}, piecewise);

namespace {
constexpr const OpDef* rows[] = {&exp_op, &exp2_op, &expm1_op, &log_op, &log2_op, &log10_op, &log1p_op, &sqrt_op, &rsqrt_op, &cbrt_op, &sin_op, &cos_op, &tan_op, &asin_op, &acos_op, &atan_op, &sinh_op, &cosh_op, &tanh_op, &asinh_op, &acosh_op, &atanh_op, &erf_op, &erfc_op, &erfinv_op, &lgamma_op, &sigmoid_op, &softplus_op, &atan2_op, &hypot_op, &fmod_op, &logaddexp_op, &copysign_op, &sign_op, &floor_op, &ceil_op, &trunc_op, &round_op};
}
const Family math_rows = rows;

}  // namespace tercet
