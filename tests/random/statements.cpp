// Statements and function bodies.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace tercet::random_programs {

std::vector<Code> Generator::statements(Scope& s, int count, int depth) {
  std::vector<Code> out;
  for (int i = 0; i < count; ++i) out.push_back(one_statement(s, depth));
  return out;
}

Code Generator::one_statement(Scope& s, int depth) {
  for (;;) {
    bool outer = lanes;
    try {
      return any_statement(s, depth);
    } catch (const TooLarge&) {
      lanes = outer;
    }
  }
}

Code Generator::any_statement(Scope& s, int depth) {
  int kind = rng.below(100);
  if (kind < 30) {
    Ty t = any_type();
    std::string name = fresh("v");
    Code c = statement("let " + name + " = $\n", {expr(t, s, depth)});
    s.variables.push_back({name, t});
    return c;
  }
  if (kind < 50) {
    Ty t = any_type();
    std::string name = fresh("m");
    Code c = statement("var " + name + " = $\n", {expr(t, s, depth)});
    s.variables.push_back({name, t, true, true});
    return c;
  }
  if (kind < 70) return assignment(s, depth);
  if (kind < 80) return conditional(s, depth);
  if (kind < 90) return loop(s, depth);
  if (kind < 95) return print_statement(s, depth);
  if (kind < 97) return statement(fmt::format("assert($, \"{}\")\n", fresh("a")), {code({DType::Bool, {}}, "($ < 50)", {expr({DType::I32, {}}, s, depth - 1)})});
  Ty a = any_type(), b = any_type();
  std::string x = fresh("v"), y = fresh("v");
  Code c = statement("let (" + x + ", " + y + ") = ($, $)\n", {expr(a, s, depth - 1), expr(b, s, depth - 1)});
  s.variables.push_back({x, a});
  s.variables.push_back({y, b});
  return c;
}

Code Generator::assignment(Scope& s, int depth) {
  std::vector<Variable> targets;
  for (const Variable& v : s.variables)
    if (v.assignable) targets.push_back(v);
  if (targets.empty()) return print_statement(s, depth);
  Variable v = rng.pick(targets);
  const Ty& t = v.type;
  bool arithmetic = t.dtype != DType::Bool;
  std::string op = !arithmetic ? "=" : rng.pick({"=", "+=", "=", "-=", "*="});
  if (t.rank() == 0 || rng.chance(35)) {
    if (op == "=") return statement(v.text + " = $\n", {expr(t, s, depth)});
    return statement(v.text + " " + op + " $\n", {operand(t, s, depth)});
  }
  if (t.shape[0] == 0) return statement(v.text + " = $\n", {expr(t, s, depth)});
  int n = t.shape[0];
  Ty part{t.dtype, {t.shape.begin() + 1, t.shape.end()}}, rows = part;
  if (rng.chance(50)) op = arithmetic ? "+=" : "=";
  switch (rng.below(5)) {
    case 0:
    case 1: return statement(v.text + "[$] " + op + " $\n", {index_below(n, {}, s, depth), expr(part, s, depth - 1)});
    case 2: {
      int m = any_size();
      rows.shape.insert(rows.shape.begin(), m);
      return statement(v.text + "[$] " + op + " $\n", {index_below(n, {m}, s, depth), rng.chance(60) ? expr(rows, s, depth - 1) : expr({t.dtype, {}}, s, depth - 1)});
    }
    case 3: {
      int a = rng.below(n), b = rng.between(a, n);
      rows.shape.insert(rows.shape.begin(), b - a);
      return statement(fmt::format("{}[{}:{}] {} $\n", v.text, a, b, op), {expr(rows, s, depth - 1)});
    }
    default: {
      int m = rng.between(1, n);
      std::string w = fresh("w");
      rows.shape.insert(rows.shape.begin(), m);
      Code start = fixed(fmt::format("let {} = $\n", w), {code({DType::I32, {}}, fmt::format("($ % {})", n - m + 1), {expr({DType::I32, {}}, s, depth - 1)})});
      return statement(fmt::format("${}[{} : {} + {}] {} $\n", v.text, w, w, m, op), {start, expr(rows, s, depth - 1)});
    }
  }
}

Code Generator::conditional(Scope& s, int depth) {
  Code c = expr({DType::Bool, {}}, s, depth - 1);
  if (s.may_return && rng.chance(12)) return statement("if $ { return $ }\n", {c, expr(s.result, s, depth - 1)});
  if (s.in_loop && rng.chance(30)) return statement(rng.pick({"if $ { break }\n", "if $ { continue }\n"}), {c});
  Scope yes = s, no = s;
  Code a = sequence(statements(yes, rng.between(1, 2), depth - 1));
  if (rng.chance(40)) return statement("if $ {\n$}\n", {c, a});
  return statement("if $ {\n$} else {\n$}\n", {c, a, sequence(statements(no, rng.between(1, 2), depth - 1))});
}

/// A loop that reads and writes single elements of an array, as tables and counters are filled, and some of what it filled.
/// The array has more elements than lanes of such a loop would take steps together for.
Code Generator::loop_of_elements(Scope& s) {
  const int n = rng.chance(70) ? 20 : 3, steps = rng.between(1, 9), given = rng.between(1, 3);
  const Ty element{rng.pick({DType::I32, DType::F32, DType::I64, DType::F64}), {}}, number{DType::I32, {}};
  const std::string table = fresh("t"), i = fresh("k"), at = fresh("w"), out = fresh("v");
  Scope in = s;
  in.variables.push_back({"i32(" + i + ")", number});
  in.variables.push_back({"i32(" + at + ")", number});
  auto place = [&](bool target) {
    const std::string text = fmt::format("{}[$ % {}]", table, n);
    const std::vector<Code> index{rng.chance(60) ? code(number, rng.pick({i, at, "(" + i + " + " + at + ")"})) : leaf(number, in)};
    return target ? fixed(text, index) : code(element, text, index);
  };
  std::vector<Code> body{fixed(fmt::format("let {} = {} * 3 % 7\n", at, i))};
  for (int writes = rng.between(1, 2); writes-- > 0;) {
    Code value = code(element, rng.pick({"($ + $)", "maximum($, $)", "($ * $)", "($ - $)"}), {place(false), rng.chance(50) ? place(false) : leaf(element, in)});
    Code write = statement(rng.pick({"$ = $\n", "$ += $\n"}), {place(true), value});
    body.push_back(rng.chance(30) ? statement("if $ < $ {\n$}\n", {leaf(number, in), leaf(number, in), write}) : write);
  }
  const std::string dtype = name_of(element.dtype);
  Code made = fixed(fmt::format("var {} = full([{}], $, dtype={})\n", table, n, dtype), {leaf(element, s)});
  Code loop = statement(fmt::format("for {} in 0..{} {{\n$}}\n", i, size(steps, s)), {sequence(body)});
  Code result = fixed(fmt::format("let {} = {}[:{}]\n", out, table, given));
  s.variables.push_back({out, {element.dtype, {given}}});
  return sequence({made, loop, result});
}

Code Generator::loop(Scope& s, int depth) {
  if (rng.chance(40)) return loop_of_elements(s);
  Scope in = s;
  in.in_loop = true;
  std::string i = fresh("k");
  int count = rng.between(1, 5);
  if (rng.chance(35)) {
    Code limit = rng.chance(50) ? code({DType::I32, {}}, std::to_string(count)) : code({DType::I32, {}}, "($ % 5)", {expr({DType::I32, {}}, s, depth - 1)});
    in.variables.push_back({i, {DType::I32, {}}, false, true});
    std::vector<Code> extra;
    if (rng.chance(40)) extra.push_back(expr({DType::Bool, {}}, s, depth - 1));
    Code inner = sequence(statements(in, rng.between(1, 3), depth - 1));
    std::vector<Code> children{limit};
    children.insert(children.end(), extra.begin(), extra.end());
    children.push_back(inner);
    return statement("var " + i + " = 0i32\nwhile " + i + " < $" + (extra.empty() ? "" : " and $") + " {\n" + i + " += 1\n$}\n", children);
  }
  if (rng.chance(60)) {
    in.variables.push_back({"i32(" + i + ")", {DType::I32, {}}});
    return statement(fmt::format("for {} in 0..{} {{\n$}}\n", i, size(count, s)), {sequence(statements(in, rng.between(1, 3), depth - 1))});
  }
  Ty row = any_type(2), rows = row;
  rows.shape.insert(rows.shape.begin(), count);
  in.variables.push_back({i, row});
  Code xs = expr(rows, s, depth - 1);
  return statement("for " + i + " in $ {\n$}\n", {xs, sequence(statements(in, rng.between(1, 3), depth - 1))});
}

Code Generator::print_statement(Scope& s, int depth) {
  std::string mark = fresh("p");
  if (rng.chance(25)) return statement("print(f\"" + mark + " {$}\")\n", {code({DType::I32, {}}, "$", {leaf({DType::I32, {}}, s)})});
  return statement("print(\"" + mark + "\", $)\n", {expr(any_type(2), s, depth - 1)});
}

Code Generator::body(const Ty& result, Scope& s, int count, int depth) {
  s.result = result;
  std::vector<Code> parts = statements(s, count, depth);
  s.may_return = false;
  return fixed("{\n$$\n}", {sequence(parts), expr(result, s, depth)});
}

Code Generator::body(const char* form, const std::vector<Ty>& results, Scope& s, int count, int depth) {
  std::vector<Code> parts = statements(s, count, depth), values;
  for (const Ty& t : results) values.push_back(expr(t, s, depth));
  return fixed("{\n$$\n}", {sequence(parts), fixed(form, values)});
}

}  // namespace tercet::random_programs
