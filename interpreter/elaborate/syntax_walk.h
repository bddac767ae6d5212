// One step down the syntax tree: what every reading of it that runs nothing is made of.
#pragma once
#include "grammar/ast.h"

namespace tercet {

/// Calls `expr` for the expressions, `stmt` for the statements directly inside a node, in source order. The bodies of
/// lambdas and functions are not entered.
template <class E, class S> void children(const ast::Expr& e, E&& expr, S&& stmt) {
  auto maybe = [&](const ast::ExprPtr& p) { if (p) expr(*p); };
  auto all = [&](const std::vector<ast::ExprPtr>& list) { for (auto& p : list) maybe(p); };
  if (auto* n = e.as<ast::FString>()) for (auto& p : n->parts) maybe(p.hole);
  if (auto* n = e.as<ast::Tuple>()) all(n->elements);
  if (auto* n = e.as<ast::Record>()) { maybe(n->base); for (auto& f : n->fields) maybe(f.value); }
  if (auto* n = e.as<ast::ArrayLiteral>()) all(n->elements);
  if (auto* n = e.as<ast::Comprehension>()) { maybe(n->source); maybe(n->filter); maybe(n->body); }
  if (auto* n = e.as<ast::Block>()) for (auto& s : n->statements) stmt(*s);
  if (auto* n = e.as<ast::If>()) { maybe(n->condition); maybe(n->then_branch); maybe(n->else_branch); }
  if (auto* n = e.as<ast::Range>()) { maybe(n->low); maybe(n->high); }
  if (auto* n = e.as<ast::Chain>()) { maybe(n->first); for (auto& l : n->links) maybe(l.operand); }
  if (auto* n = e.as<ast::Unary>()) maybe(n->operand);
  if (auto* n = e.as<ast::Call>()) { maybe(n->callee); for (auto& a : n->arguments) maybe(a.value); }
  if (auto* n = e.as<ast::Pipe>()) { maybe(n->first); all(n->stages); }
  if (auto* n = e.as<ast::Index>()) {
    maybe(n->base);
    for (auto& i : n->items) { maybe(i.element); maybe(i.start); maybe(i.stop); maybe(i.step); }
  }
  if (auto* n = e.as<ast::Member>()) maybe(n->base);
  if (auto* n = e.as<ast::Transform>()) { for (auto& a : n->specs) maybe(a.value); maybe(n->operand); }
}

/// Calls `expr` for the expressions directly inside a statement, in source order.
template <class E> void expressions(const ast::Stmt& s, E&& expr) {
  auto maybe = [&](const ast::ExprPtr& p) { if (p) expr(*p); };
  if (auto* n = s.as<ast::Let>()) maybe(n->value);
  if (auto* n = s.as<ast::Assign>()) { maybe(n->target); maybe(n->value); }
  if (auto* n = s.as<ast::For>()) { maybe(n->source); maybe(n->body); }
  if (auto* n = s.as<ast::While>()) { maybe(n->condition); maybe(n->body); }
  if (auto* n = s.as<ast::Return>()) maybe(n->value);
  if (auto* n = s.as<ast::ExprStmt>()) maybe(n->value);
}

}  // namespace tercet
