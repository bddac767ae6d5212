// Expressions with bodies: branches, blocks, comprehensions, folds, transforms, calls.
#include <fmt/format.h>

#include <utility>

#include "tests/random/generator.h"

namespace tercet::random_programs {
namespace {

/// The same names, but an expression assigns to none of them.
Scope inside(const Scope& s) {
  Scope out = s;
  out.in_loop = out.may_return = false;
  for (Variable& v : out.variables) v.assignable = false;
  return out;
}

}  // namespace

Code Generator::branch(const Ty& t, Scope& s, int depth) {
  Scope in = inside(s);
  Code c = expr({DType::Bool, {}}, in, depth - 1), a = expr(t, in, depth - 1), b = expr(t, in, depth - 1);
  if (rng.chance(15)) return code(t, "(if $ { $ } else if $ { $ } else { $ })", {c, a, expr({DType::Bool, {}}, in, depth - 2), b, expr(t, in, depth - 2)});
  return code(t, "(if $ { $ } else { $ })", {c, a, b});
}

Code Generator::block(const Ty& t, Scope& s, int depth) {
  Scope in = inside(s);
  std::vector<Code> parts;
  Ty local = any_type();
  std::string name = fresh("v");
  parts.push_back(statement("let " + name + " = $\n", {expr(local, in, depth - 1)}));
  in.variables.push_back({name, local});
  return code(t, "{ $$ }", {sequence(parts), expr(t, in, depth - 1)});
}

Code Generator::comprehension(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0 || t.shape[0] > 9) return nullptr;
  Scope in = inside(s);
  Ty part{t.dtype, {t.shape.begin() + 1, t.shape.end()}};
  std::string i = fresh("n");
  if (rng.chance(60)) {
    std::string limit = size(t.shape[0], s);
    in.variables.push_back({"i32(" + i + ")", {DType::I32, {}}});
    return code(t, "[$ for " + i + " in 0.." + limit + "]", {expr(part, in, depth - 1)});
  }
  Ty row = any_type(2), rows = row;
  rows.shape.insert(rows.shape.begin(), t.shape[0]);
  in.variables.push_back({i, row});
  return code(t, "[$ for " + i + " in $]", {expr(part, in, depth - 1), expr(rows, s, depth - 1)});
}

Code Generator::folded(const Ty& t, Scope& s, int depth) {
  Scope in = closed(s);
  std::string c = fresh("c"), x = fresh("x");
  Ty row = any_type(2), rows = row, carry = t;
  bool stacked = t.rank() > 0 && t.shape[0] <= 100 && rng.chance(40);
  int n = stacked ? t.shape[0] : rng.pick({1, 2, 3, 5});
  rows.shape.insert(rows.shape.begin(), n);
  if (stacked) carry = any_type(2);
  in.variables.push_back({c, carry});
  in.variables.push_back({x, row});
  Code init = expr(carry, s, depth - 1), xs = expr(rows, s, depth - 1);
  if (stacked) {
    Ty y{t.dtype, {t.shape.begin() + 1, t.shape.end()}};
    return code(t, "scan((" + c + ", " + x + ") => ($, $), $, $)[1]", {expr(carry, in, depth - 1), expr(y, in, depth - 1), init, xs});
  }
  if (rng.chance(30)) return code(t, "scan((" + c + ", " + x + ") => ($, $), $, $)[0]", {expr(carry, in, depth - 1), expr(any_type(1), in, depth - 2), init, xs});
  return code(t, "fold((" + c + ", " + x + ") => $, $, $)", {expr(carry, in, depth - 1), init, xs});
}

Code Generator::mapped(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0) return nullptr;
  bool outer = std::exchange(lanes, true);
  Scope in = closed(s);
  std::vector<Code> arguments;
  std::string specs, names, call;
  if (t.shape[0] <= 100 && rng.chance(25)) {   // one after another
    Ty part{t.dtype, {t.shape.begin() + 1, t.shape.end()}}, row = any_type(2), rows = row;
    rows.shape.insert(rows.shape.begin(), t.shape[0]);
    std::string x = fresh("x");
    in.variables.push_back({x, row});
    Code e = code(t, "map(" + x + " => $, $" + (rng.chance(25) ? ", batch=2)" : ")"), {expr(part, in, depth - 1), expr(rows, s, depth - 1)});
    lanes = outer;
    return e;
  }
  int out = rng.chance(70) ? 0 : rng.below(t.rank()), n = t.shape[static_cast<size_t>(out)];
  Ty part = t;
  part.shape.erase(part.shape.begin() + out);
  int params = rng.between(1, 3), first_mapped = rng.below(params);
  for (int i = 0; i < params; ++i) {
    Ty param = any_type(2), given = param;
    std::string x = fresh("x");
    in.variables.push_back({x, param});
    bool mapped = i == first_mapped || rng.chance(40);
    int axis = mapped ? rng.chance(70) ? 0 : rng.below(param.rank() + 1) : -1;
    if (mapped) given.shape.insert(given.shape.begin() + axis, n);
    specs += (i ? ", " : "") + (mapped ? std::to_string(axis) : "_");
    names += (i ? ", " : "") + x;
    call += i ? ", $" : "$";
    arguments.push_back(expr(given, s, depth - 1));
  }
  if (out) specs += fmt::format(", out={}", out);
  std::vector<Code> children{expr(part, in, depth - 1)};
  lanes = outer;
  children.insert(children.end(), arguments.begin(), arguments.end());
  return code(t, "(vmap[" + specs + "] ((" + names + ") => $))(" + call + ")", children);
}

Code Generator::helper_call(const Ty& t, Scope& s, int depth) {
  std::vector<const Helper*> fitting;
  for (const Helper& h : helpers)
    if (h.result == t) fitting.push_back(&h);
  if (fitting.empty()) return nullptr;
  const Helper& h = *rng.pick(fitting);
  std::vector<Code> arguments;
  std::string form = rng.chance(20) ? "(jit " + h.name + ")(" : h.name + "(";
  for (size_t i = 0; i < h.params.size(); ++i) {
    form += i ? ", $" : "$";
    arguments.push_back(expr(h.params[i], s, depth - 1));
  }
  return code(t, form + ")", arguments);
}

Code Generator::lambda_call(const Ty& t, Scope& s, int depth) {
  Scope in = closed(s);
  Ty a = any_type(), b = any_type();
  std::string x = fresh("x"), y = fresh("y");
  in.variables.push_back({x, a});
  in.variables.push_back({y, b});
  Code e = expr(t, in, depth - 1);
  return code(t, "((" + x + ", " + y + ") => $)($, $)", {e, expr(a, s, depth - 1), expr(b, s, depth - 1)});
}

Code Generator::structure(const Ty& t, Scope& s, int depth) {
  Code a = expr(t, s, depth - 1), b = expr(t, s, depth - 1);
  switch (rng.below(3)) {
    case 0: return code(t, "($, $)[1]", {a, b});
    case 1: return code(t, "(p=$, q=$).p", {a, b});
    default: return t.dtype == DType::Bool ? nullptr : code(t, "(($, $) + ($, $))[0]", {a, b, leaf(t, s), leaf(t, s)});
  }
}

}  // namespace tercet::random_programs
