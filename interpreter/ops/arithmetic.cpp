// Rows: arithmetic on numbers.
#include "interpreter/ops/diff_rules.h"
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

/// The product in which a zero on the left is stronger than anything: 0 * inf is 0, and 0 * NaN.
struct StrongMul { template <class N> static N apply(N a, N b) { return select(eq(a, like(a, 0.0)), like(a, 0.0), a * b); } };

// ---- derivatives ----
void transpose_add(ReverseContext& c) {
  c.add(0, c.cotangent());
  c.add(1, c.cotangent());
}
ValueId negated(ReverseContext& c) { return c.out().emit(neg_op, {c.cotangent()}, {}, c.op().span); }
void transpose_sub(ReverseContext& c) {
  c.add(0, c.cotangent());
  if (c.wanted(1)) c.add(1, negated(c));
}
void transpose_neg(ReverseContext& c) { c.add(0, negated(c)); }

Expr first(Expr x, Expr, Expr) { return x; }
Expr second(Expr, Expr y, Expr) { return y; }
Expr one(Expr x, Expr, Expr) { return x.number(1); }
constexpr ByPartials of_product{partial_2<second, first>};
constexpr ByPartials of_quotient{partial_2<+[](Expr, Expr y, Expr) { return 1.0 / y; }, +[](Expr, Expr y, Expr r) { return -(r / y); }>};
constexpr ByPartials of_modulo{partial_2<one, +[](Expr x, Expr y, Expr) { return -call("floor", x / y); }>};
constexpr ByPartials of_abs{partial_1<+[](Expr x, Expr) { return call("sign", x); }>};
/// x ** (y - 1) * y, and 0 where y is 0; log(x) * x ** y, and 0 where x is 0.
constexpr ByPartials of_power{partial_2<
    +[](Expr x, Expr y, Expr) { return choose(y == y.number(0), y.number(0), y * x.emit(pow_op, {x.id, (y - 1.0).id})); },
    +[](Expr x, Expr, Expr r) { return choose(x == x.number(0), x.number(0), call("log", x) * r); }>};
/// Equal numbers share: half to each.
template <Expr (*Wins)(Expr, Expr)> Expr share_of(Expr x, Expr y, Expr) {
  return choose(Wins(x, y), x.number(1), choose(x == y, x.number(0.5), x.number(0)));
}
Expr larger(Expr x, Expr y) { return x > y; }
Expr smaller(Expr x, Expr y) { return x < y; }
constexpr ByPartials of_maximum{partial_2<share_of<larger>, +[](Expr x, Expr y, Expr r) { return share_of<larger>(y, x, r); }>};
constexpr ByPartials of_minimum{partial_2<share_of<smaller>, +[](Expr x, Expr y, Expr r) { return share_of<smaller>(y, x, r); }>};
ValueId partial_fma(Builder& b, const Op& op, size_t i) { return i == 2 ? filled(b, b.type(op.output()), 1, op.span) : op.inputs[1 - i]; }

}  // namespace

const OpDef add_op = binary_op<Add, Domain::Numbers>("add", "Sum, element by element.", Public{"x, y", Promotion::Common}, Linear{transpose_add});
const OpDef sub_op = binary_op<Sub, Domain::Numbers>("sub", "Difference, element by element.", Public{"x, y", Promotion::Common}, Linear{transpose_sub});
const OpDef mul_op = binary_op<Mul, Domain::Numbers>("mul", "Product, element by element.", Public{"x, y", Promotion::Common}, of_product);
const OpDef div_op = binary_op<Div, Domain::Floats>("div", "Quotient as a float, element by element.", Public{"x, y", Promotion::CommonFloat}, of_quotient);
const OpDef floor_div_op = binary_op<FloorDiv, Domain::Numbers>("floor_div", "Quotient rounded down.", Internal{}, NotDifferentiable{"it is piecewise constant"});
const OpDef mod_op = binary_op<Modulo, Domain::Numbers>("mod", "Remainder with the sign of the divisor.", Internal{}, of_modulo);
const OpDef pow_op = binary_op<Pow, Domain::Numbers>("pow", "x to the power y.", Internal{}, of_power);
const OpDef neg_op = unary_op<Neg, Domain::Numbers>("neg", "Negation.", Public{"x", Promotion::Common}, Linear{transpose_neg});
const OpDef abs_op = unary_op<Abs, Domain::Numbers>("abs", "Absolute value.", Public{"x", Promotion::Common}, of_abs);
const OpDef maximum_op = binary_op<Maximum, Domain::NumbersAndBool>("maximum", "The larger of two numbers; NaN wins.", Public{"x, y", Promotion::CommonOrBool}, of_maximum);
const OpDef minimum_op = binary_op<Minimum, Domain::NumbersAndBool>("minimum", "The smaller of two numbers; NaN wins.", Public{"x, y", Promotion::CommonOrBool}, of_minimum);
const OpDef strong_mul_op = binary_op<StrongMul, Domain::Floats>("strong_mul", "x * y, but 0 where x is 0, whatever y is.", Internal{}, of_product);
const OpDef fma_op = {
    .name = "fma", .doc = "x * y + z, rounded once.", .surface = Public{"x, y, z", Promotion::CommonFloat},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_same<Domain::Floats, 3>, .eval = each3<Fma, Domain::Floats>,
    .batch = BatchElementwise{}, .diff = ByPartials{partial_fma}, .code = CodeElementwise{emit3<Fma>},
    .samples = elementwise_samples<Domain::Floats, 3>};

namespace {
constexpr const OpDef* rows[] = {&add_op, &sub_op, &mul_op, &div_op, &floor_div_op, &mod_op, &pow_op, &neg_op, &abs_op, &maximum_op, &minimum_op, &strong_mul_op, &fma_op};
}
const Family arithmetic_rows = rows;

}  // namespace tercet
