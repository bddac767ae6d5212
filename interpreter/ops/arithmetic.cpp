// Rows: arithmetic on numbers.
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/scalar_math.h"

namespace tercet {
namespace {

struct Add { template <class N> static N apply(N a, N b) { return wrap_add(a, b); } };
struct Sub { template <class N> static N apply(N a, N b) { return wrap_sub(a, b); } };
struct Mul { template <class N> static N apply(N a, N b) { return wrap_mul(a, b); } };
struct Div { template <class N> static N apply(N a, N b) { return a / b; } };
struct Maximum { template <class N> static N apply(N a, N b) { return maximum(a, b); } };
struct Minimum { template <class N> static N apply(N a, N b) { return minimum(a, b); } };
struct Neg {
  template <ScalarFloat N> static N apply(N x) { return -x; }
  template <ScalarInt N> static N apply(N x) { return wrap_sub(N(0), x); }
  static Num apply(Num x) { return -x; }
};
struct Abs { template <class N> static N apply(N x) { return absolute(x); } };
struct Fma { template <class N> static N apply(N a, N b, N c) { return fma(a, b, c); } };

constexpr NotYet by_partials{"partial derivatives come with gradients"};

}  // namespace

const OpDef add_op = binary_op<Add, Domain::Numbers>("add", "Sum, element by element.", Public{"x, y", Promotion::Common}, Linear{});
const OpDef sub_op = binary_op<Sub, Domain::Numbers>("sub", "Difference, element by element.", Public{"x, y", Promotion::Common}, Linear{});
const OpDef mul_op = binary_op<Mul, Domain::Numbers>("mul", "Product, element by element.", Public{"x, y", Promotion::Common}, by_partials);
const OpDef div_op = binary_op<Div, Domain::Floats>("div", "Quotient as a float, element by element.", Public{"x, y", Promotion::CommonFloat}, by_partials);
const OpDef floor_div_op = binary_op<FloorDiv, Domain::Numbers>("floor_div", "Quotient rounded down.", Internal{}, NotDifferentiable{"it is piecewise constant"});
const OpDef mod_op = binary_op<Modulo, Domain::Numbers>("mod", "Remainder with the sign of the divisor.", Internal{}, by_partials);
const OpDef pow_op = binary_op<Pow, Domain::Numbers>("pow", "x to the power y.", Internal{}, by_partials);
const OpDef neg_op = unary_op<Neg, Domain::Numbers>("neg", "Negation.", Public{"x", Promotion::Common}, Linear{});
const OpDef abs_op = unary_op<Abs, Domain::Numbers>("abs", "Absolute value.", Public{"x", Promotion::Common}, by_partials);
const OpDef maximum_op = binary_op<Maximum, Domain::NumbersAndBool>("maximum", "The larger of two numbers; NaN wins.", Public{"x, y", Promotion::CommonOrBool}, by_partials);
const OpDef minimum_op = binary_op<Minimum, Domain::NumbersAndBool>("minimum", "The smaller of two numbers; NaN wins.", Public{"x, y", Promotion::CommonOrBool}, by_partials);
const OpDef fma_op = {
    .name = "fma", .doc = "x * y + z, rounded once.", .surface = Public{"x, y, z", Promotion::CommonFloat},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_same<Domain::Floats, 3>, .eval = each3<Fma, Domain::Floats>,
    .batch = BatchElementwise{}, .diff = by_partials, .code = CodeElementwise{emit3<Fma>},
    .samples = elementwise_samples<Domain::Floats, 3>};

namespace {
constexpr const OpDef* rows[] = {&add_op, &sub_op, &mul_op, &div_op, &floor_div_op, &mod_op, &pow_op, &neg_op, &abs_op, &maximum_op, &minimum_op, &fma_op};
}
const Family arithmetic_rows = rows;

}  // namespace tercet
