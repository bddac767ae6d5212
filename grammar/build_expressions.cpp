// Expressions of the AST: lambdas, operands with their calls, indices and members, and literals.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "grammar/builder.h"
#include "grammar/literals.h"
#include "grammar/unicode.h"

namespace tercet {

using enum TokenType;

Made AstBuilder::make(Span span, decltype(ast::Expr::node) node, uint32_t height_of_children) {
  uint32_t height = height_of_children + 1;
  if (height > max_depth)
    fail(Kind::Limit, span, "nested too deeply",
         fmt::format("an expression may have {} levels; name parts of it by `let`", max_depth));
  return {std::make_shared<const ast::Expr>(ast::Expr{span, std::move(node)}), height, span};
}

Made AstBuilder::expression(TreeNode node) {
  check_stack(list_.span(node.token()));
  std::vector<TreeNode> heads;
  Cursor c(node);
  while (c.at(Rule::LambdaHead)) {
    heads.push_back(c.next());
    c.next();
  }
  if (heads.empty()) return operation(c.next());
  Made value = within({false, true, false}, [&] { return operation(c.next()); });
  for (size_t i = heads.size(); i-- > 0;)
    value = lambda(heads[i], std::move(value), heads[i].span().joined(node.span()));
  return value;
}

/// `x => …`, or transforms of it: `jit vmap[0] x => …`.
Made AstBuilder::lambda(TreeNode head, Made body, Span span) {
  auto f = std::make_shared<ast::FunctionDef>();
  uint32_t height = body.height;
  Cursor c(head);
  std::vector<Span> places;
  uint32_t spec_height = 0;
  std::vector<ast::Transform> words = transform_words(c, LAMBDA_TRANSFORM, spec_height, places);
  f->span = c.peek().span().joined(span);
  if (c.at(LAMBDA_NAME)) {
    ast::Param p;
    p.span = p.pattern.span = c.peek().span();
    p.pattern.name = canonical_name(c.peek().text());
    f->params.push_back(std::move(p));
  } else {
    c.next();
    if (c.at(Rule::Parameters)) f->params = parameters(c.next(), true, height);
  }
  f->body = body.expr;
  const Span own = f->span;
  return transformed(std::move(words), places, make(own, ast::Lambda{f}, height), spec_height);
}

/// The operand at `c`, past its prefix operators, to its end.
Made AstBuilder::operand(Cursor& c, bool negative) {
  TreeNode first = c.next();
  return postfix(primary(first, c, negative), c);
}

Made AstBuilder::primary(TreeNode node, Cursor& after, bool negative) {
  switch (node.rule()) {
    case Rule::Formatted:
      return formatted(node);
    case Rule::Parenthesis:
      return parenthesis(node);
    case Rule::Array:
      return array(node);
    case Rule::Block:
      return block(node);
    case Rule::IfElse:
      return if_else(node, false);
    case Rule::Transform:
      return transform(node, after);
    default:
      return literal(node, negative);
  }
}

Made AstBuilder::literal(TreeNode node, bool negative) {
  Span span = node.span();
  std::string_view text = node.text();
  switch (node.type()) {
    case NAME:
      return make(span, ast::Name{canonical_name(text)}, 0);
    case TRUE:
    case FALSE:
      return make(span, ast::BoolLiteral{node.type() == TRUE}, 0);
    case NONE:
      return make(span, ast::NoneLiteral{}, 0);
    case STRING: {
      if (node.token().invented) return make(span, ast::StringLiteral{}, 0);
      Span inside = list_.source->span(span.begin + 1, span.end - 1);
      return make(span, ast::StringLiteral{unescape(text.substr(1, text.size() - 2), inside)}, 0);
    }
    case RAW_STRING:
      return make(span, ast::StringLiteral{std::string(text.substr(2, text.size() - 3))}, 0);
    case PLACEHOLDER:
      if (!context_.in_specs)
        fail(Kind::Syntax, span, "`_` is no value",
             "it stands for a value that is not needed, as in `let (_, b) = p`, and for a shared argument of `vmap[0, "
             "_] f`");
      return make(span, ast::Placeholder{}, 0);
    default:
      break;
  }
  Number n = read_number(text, span, negative);
  if (n.is_float) return make(span, ast::FloatLiteral{negative ? -n.value : n.value, n.suffix}, 0);
  return make(span, ast::IntLiteral{n.magnitude, negative, n.suffix}, 0);
}

Made AstBuilder::postfix(Made base, Cursor& c) {
  while (!c.done()) {
    if (c.at(Rule::Call))
      base = call(std::move(base), c.next());
    else if (c.at(Rule::Index))
      base = index(std::move(base), c.next());
    else
      base = member(std::move(base), c);
  }
  return base;
}

Made AstBuilder::member(Made base, Cursor& c) {
  c.next();
  TreeNode name = c.next();
  return make(base.span.joined(name.span()), ast::Member{base.expr, canonical_name(name.text()), name.span()},
              base.height);
}

Made AstBuilder::call(Made callee, TreeNode node) {
  Cursor c(node);
  c.next();
  ast::Call out{callee.expr, {}};
  uint32_t height = callee.height;
  if (c.at(Rule::Arguments)) out.arguments = arguments(c.next(), false, height);
  return make(callee.span.joined(node.span()), std::move(out), height);
}

std::vector<ast::Argument> AstBuilder::arguments(TreeNode node, bool specs, uint32_t& height) {
  std::vector<ast::Argument> out;
  std::set<std::string> names;
  for (Cursor c(node); !c.done();) {
    TreeNode child = c.next();
    if (child.rule() != Rule::Argument) continue;
    Cursor inside(child);
    ast::Argument a;
    a.span = child.span();
    if (inside.at(ARGUMENT_NAME)) {
      TreeNode name = inside.next();
      a.name = canonical_name(name.text());
      if (!names.insert(a.name).second)
        fail(Kind::Syntax, name.span(), fmt::format("the argument `{}` is given twice", a.name));
      inside.next();
    } else if (!specs && !names.empty()) {
      fail(Kind::Syntax, a.span, "an argument without a name stands after one with a name",
           "put it before the named ones, or name it too");
    }
    Made value = expression(inside.next());
    a.value = value.expr;
    height = std::max(height, value.height);
    out.push_back(std::move(a));
  }
  return out;
}

Made AstBuilder::index(Made base, TreeNode node) {
  ast::Index out{base.expr, {}};
  uint32_t height = base.height;
  for (Cursor c(node); !c.done();) {
    TreeNode child = c.next();
    if (child.rule() == Rule::IndexItem) out.items.push_back(index_item(child, height));
  }
  return make(base.span.joined(node.span()), std::move(out), height);
}

ast::IndexItem AstBuilder::index_item(TreeNode node, uint32_t& height) {
  using Form = ast::IndexItem::Form;
  ast::IndexItem out;
  out.span = node.span();
  if (Cursor(node).at(ELLIPSIS)) {
    out.form = Form::Ellipsis;
    return out;
  }
  std::array<ast::ExprPtr, 3> parts;
  size_t at = 0;
  for (Cursor c(node); !c.done();) {
    if (c.accept(COLON)) {
      ++at;
      continue;
    }
    Made value = expression(c.next());
    height = std::max(height, value.height);
    parts[at] = value.expr;
  }
  if (at > 0) {
    out.form = Form::Slice;
    out.start = parts[0], out.stop = parts[1], out.step = parts[2];
  } else if (parts[0]->as<ast::NoneLiteral>()) {
    out.form = Form::NewAxis;
  } else {
    out.element = parts[0];
  }
  return out;
}

}  // namespace tercet
