// Library: functions of functions that have to do with derivatives. The rules are interpreter/passes/reverse.h.
#include <fmt/format.h>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using A = BuiltinArguments;

const Sym& function(Elaborator& e, const Sym& f, const char* what) {
  if (!f.is_function()) e.error(Kind::Type, fmt::format("{} takes a function first, and this is {}", what, describe(f)));
  return f;
}

/// Reads `wrt`: a position, a name, or a tuple of these.
void read_wanted(Elaborator& e, const Sym& wrt, TransformSpec& spec) {
  if (auto* t = wrt.as<Sym::Tuple>()) {
    for (const Sym& x : t->elements) read_wanted(e, x, spec);
    return;
  }
  const Leaf* x = wrt.leaf();
  bool named = x && x->type.dtype == DType::Str;
  spec.wanted.push_back(named ? e.static_string(wrt, "`wrt`") : std::to_string(e.static_int(wrt, "`wrt`")));
  spec.text += spec.wanted.back() + ",";
}

Sym value_and_grad(Elaborator& e, A& a) {
  TransformSpec spec;
  if (!absent(a[1])) read_wanted(e, *a[1], spec);
  if (!absent(a[2]) && e.static_bool(*a[2], "`aux`")) spec.aux = true, spec.text += "aux";
  return derivative_of(Derivative::ValueAndGradient, function(e, *a[0], "value_and_grad"), std::move(spec));
}

Sym jacobian(Elaborator& e, A& a) {
  TransformSpec spec;
  if (!absent(a[1])) read_wanted(e, *a[1], spec);
  return derivative_of(Derivative::Jacobian, function(e, *a[0], "jacobian"), std::move(spec));
}

Sym hessian(Elaborator& e, A& a) {
  return derivative_of(Derivative::Jacobian, derivative_of(Derivative::Gradient, function(e, *a[0], "hessian")));
}

Sym checkpoint(Elaborator& e, A& a) { return derivative_of(Derivative::Checkpoint, function(e, *a[0], "checkpoint")); }

Sym custom_grad(Elaborator& e, A& a) {
  for (size_t i = 0; i < 3; ++i) function(e, *a[i], "custom_grad(f, forward, backward)");
  return derivative_of(Derivative::Custom, Sym::Tuple{{*a[0], *a[1], *a[2]}});
}

Sym vjp(Elaborator& e, A& a) { return e.vjp(function(e, *a[0], "vjp"), a[1]->as<Sym::Tuple>()->elements); }

/// One value, or a tuple with one for each parameter.
std::vector<Sym> each(const Sym& x, size_t parameters) {
  auto* t = x.as<Sym::Tuple>();
  return t && (parameters != 1 || t->elements.size() == 1) ? t->elements : std::vector<Sym>{x};
}

Sym jvp(Elaborator& e, A& a) {
  size_t parameters = e.parameter_names(function(e, *a[0], "jvp")).size();
  return e.jvp(*a[0], each(*a[1], parameters), each(*a[2], parameters));
}

Sym stop_gradient(Elaborator& e, A& a) {
  return map_leaves<Leaf>(*a[0], [&](const Leaf& x) { return is_float(x.type.dtype) && x.frame ? e.emit(stop_gradient_op, {e.use(x)}, {}, x.weak) : x; });
}

constexpr BuiltinDef list[] = {
    {"value_and_grad", "f, wrt=, aux=", "The function that gives f's value and its gradient by the first parameter, or those in wrt.", value_and_grad},
    {"vjp", "f, *xs", "(f(xs), the function from a cotangent of the value to cotangents of the xs).", vjp},
    {"jvp", "f, xs, ts", "(f(xs), its change when the xs change by ts).", jvp},
    {"jacobian", "f, wrt=", "The function that gives the matrix of f's partial derivatives: the value's shape, then the parameter's.", jacobian},
    {"hessian", "f", "The function that gives the matrix of f's second derivatives by its first parameter.", hessian},
    {"stop_gradient", "x", "x, as a constant to gradients.", stop_gradient},
    {"checkpoint", "f", "f, whose gradient computes inner values again instead of keeping them.", checkpoint},
    {"custom_grad", "f, forward, backward", "f with rules of its own: forward(x) gives (f(x), kept), backward(kept, cotangent) the gradient by x.", custom_grad},
};

}  // namespace
const BuiltinList derivative_builtins = list;

}  // namespace tercet
