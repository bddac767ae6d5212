// One statement of a program becomes one function.
#include "interpreter/elaborate/elaborator.h"

namespace tercet {

void Elaborator::start() {
  contexts_.clear();
  active_.clear();
  written_.clear();
  axes_.clear();
  inside_jit_ = false;
  contexts_.emplace_back();
  contexts_.back().top_level = true;
  contexts_.back().home = home_;
  contexts_.back().scopes.emplace_back();
}

FunctionPtr Elaborator::function(const ast::Expr& expression, std::span<const Tree<Type>> arguments) {
  Frame root("function", nullptr, true);
  frame_ = &root;
  start();
  inside_jit_ = true;
  std::vector<CallArgument> values;
  for (const Tree<Type>& t : arguments)
    values.push_back({"", map_leaves<Leaf>(t, [&](const Type& x) { return root.param(x, false); }), expression.span});
  try {
    Sym result = apply(expr(expression), std::move(values), expression.span);
    std::vector<Leaf> leaves;
    collect_leaves(result, leaves);
    std::vector<ValueId> results;
    for (const Leaf& leaf : leaves) results.push_back(root.use(leaf));
    return root.finish(std::move(results));
  } catch (const StaticNeeded& needed) {
    fail(Kind::Value, needed.span, needed.message, "write it as a number");
  }
}

Elaborated Elaborator::statement(const ast::Stmt& s) {
  Frame root("statement", nullptr);
  frame_ = &root;
  start();
  Elaborated out;
  try {
    Sym value = execute(s, true);
    if (s.as<ast::ExprStmt>()) out.value = value;
  } catch (const StaticNeeded& needed) {
    fail(Kind::Value, needed.span, needed.message, "write it as a number");
  } catch (const Bottom&) {
    fail(Kind::Limit, s.span, "this never returns");
  }
  for (const std::string& name : written_) {
    Binding& b = contexts_.back().scopes[0].names.at(name);
    out.bindings.push_back({name, b.value, b.is_var});
  }
  for (Elaborated::Bound& b : out.bindings) collect_leaves(b.value, out.result_leaves);
  if (out.value) collect_leaves(*out.value, out.result_leaves);
  std::vector<ValueId> results;
  for (const Leaf& leaf : out.result_leaves) results.push_back(root.carry(leaf));
  out.inputs = root.hidden;
  out.function = root.finish(std::move(results));
  frame_ = nullptr;
  return out;
}

}  // namespace tercet
