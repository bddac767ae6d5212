// Statements, functions, parameters, patterns and types of the AST.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grammar/builder.h"
#include "grammar/literals.h"
#include "grammar/operator_table.h"
#include "grammar/parser.h"
#include "grammar/unicode.h"

namespace tercet {

using enum TokenType;

ast::Program AstBuilder::program() {
  if (tree_.nodes.empty()) return {};
  Cursor c(TreeNode(list_, tree_, 0));
  return c.at(Rule::Statements) ? ast::Program{statements(c.next()).list} : ast::Program{};
}

AstBuilder::Statements AstBuilder::statements(TreeNode node) {
  constexpr size_t max_diagnostics = 10;
  Statements out;
  for (Cursor c(node); !c.done() && diagnostics_.size() < max_diagnostics;) {
    TreeNode child = c.next();
    if (child.rule() != Rule::Statement || child.data().broken) continue;
    try {
      uint32_t height = 0;
      out.list.push_back(statement(child, height));
      out.height = std::max(out.height, height);
    } catch (const Failure& failure) {
      diagnostics_.insert(diagnostics_.end(), failure.diagnostics().begin(), failure.diagnostics().end());
    }
  }
  return out;
}

ast::StmtPtr AstBuilder::statement(TreeNode node, uint32_t& height) {
  return std::make_shared<const ast::Stmt>(ast::Stmt{node.span(), statement_node(node, height)});
}

decltype(ast::Stmt::node) AstBuilder::statement_node(TreeNode node, uint32_t& height) {
  Cursor c(node);
  switch (c.peek().type()) {
    case LET:
    case VAR:
      return let(c, c.peek().type() == VAR, height);
    case FOR:
      return for_loop(c, height);
    case WHILE:
      return while_loop(c, height);
    case RETURN:
      return return_statement(node, height);
    case IMPORT:
      return import(c);
    case BREAK:
    case CONTINUE:
      if (!context_.in_loop)
        fail(Kind::Unsupported, node.span(), fmt::format("`{}` outside of a loop has no meaning", c.peek().text()),
             "it stands in the body of a `for` or `while`");
      if (c.at(BREAK)) return ast::Break{};
      return ast::Continue{};
    default:
      break;
  }
  if (c.at(DECORATOR) || c.at(Rule::Function)) return function_statement(node, height);
  return expression_statement(node, height);
}

ast::Let AstBuilder::let(Cursor c, bool is_var, uint32_t& height) {
  c.next();
  ast::Pattern to = pattern(c.next());
  c.next();
  Made value = expression(c.next());
  height = value.height;
  return {std::move(to), value.expr, is_var};
}

ast::For AstBuilder::for_loop(Cursor c, uint32_t& height) {
  c.next();
  ast::Pattern each = pattern(c.next());
  c.next();
  Made source = expression(c.next());
  Made body = within({true, context_.in_function, false}, [&] { return block(c.next()); });
  height = std::max(source.height, body.height);
  return {std::move(each), source.expr, body.expr};
}

ast::While AstBuilder::while_loop(Cursor c, uint32_t& height) {
  c.next();
  Made condition = expression(c.next());
  Made body = within({true, context_.in_function, false}, [&] { return block(c.next()); });
  height = std::max(condition.height, body.height);
  return {condition.expr, body.expr};
}

ast::Return AstBuilder::return_statement(TreeNode node, uint32_t& height) {
  if (!context_.in_function)
    fail(Kind::Unsupported, node.span(), "`return` outside of a function has no meaning",
         "a program ends after its last statement");
  Cursor c(node);
  c.next();
  if (c.done()) return {};
  Made value = expression(c.next());
  height = value.height;
  return {value.expr};
}

ast::Import AstBuilder::import(Cursor c) {
  c.next();
  TreeNode what = c.next();
  ast::Import out;
  out.is_file = what.type() == STRING;
  std::string_view text = what.text();
  out.path = out.is_file
                 ? unescape(text.substr(1, text.size() - 2), list_.source->span(what.span().begin + 1, what.span().end))
                 : canonical_name(text);
  if (c.accept(AS)) out.alias = canonical_name(c.next().text());
  return out;
}

namespace {

/// `x`, `x[i]`, `x.a[i]` can stand left of `=`.
bool is_target(const ast::Expr& e) {
  const ast::Expr* at = &e;
  for (;;) {
    if (auto* index = at->as<ast::Index>())
      at = index->base.get();
    else if (auto* member = at->as<ast::Member>())
      at = member->base.get();
    else
      return at->as<ast::Name>() != nullptr;
  }
}

std::string help_for_target(const ast::Expr& e) {
  if (e.as<ast::Tuple>()) return "new names are bound by `let (a, b) = …`; `(a, b) = …` assigns to names, elements and members that are there";
  if (e.as<ast::Call>()) return "a function is declared by `fn f(x) = …`; two values are compared by `==`";
  return "only a name, and its elements and members, can be assigned; two values are compared by `==`";
}

}  // namespace

/// `(a, b[i]) = value` is { let (x, y) = value; a = x; b[i] = y } with names that no program has.
decltype(ast::Stmt::node) AstBuilder::assignment_of_several(const ast::Tuple& targets, Span span, Cursor c, uint32_t& height) {
  const Span op = c.next().span();
  Made value = expression(c.next());
  height = std::max(height, value.height) + 2;
  ast::Pattern parts{span, {}, {}, true};
  ast::Block block;
  for (size_t i = 0; i < targets.elements.size(); ++i) parts.elements.push_back({targets.elements[i]->span, fmt::format("%part{}", i), {}, false});
  const Span whole = span.joined(value.span);
  block.statements.push_back(std::make_shared<const ast::Stmt>(ast::Stmt{whole, ast::Let{parts, value.expr, false}}));
  for (size_t i = 0; i < targets.elements.size(); ++i) {
    const ast::ExprPtr& to = targets.elements[i];
    auto part = std::make_shared<const ast::Expr>(ast::Expr{to->span, ast::Name{fmt::format("%part{}", i)}});
    block.statements.push_back(std::make_shared<const ast::Stmt>(ast::Stmt{to->span, ast::Assign{to, std::nullopt, op, part}}));
  }
  return ast::ExprStmt{std::make_shared<const ast::Expr>(ast::Expr{whole, std::move(block)})};
}

decltype(ast::Stmt::node) AstBuilder::expression_statement(TreeNode node, uint32_t& height) {
  Cursor c(node);
  TreeNode first = c.next();
  TreeNode inner = first;
  while (inner.rule() != Rule::IfElse && inner.rule() != Rule::Leaf && inner.has_one_child()) inner = inner.child();
  Made target = inner.rule() == Rule::IfElse && c.done() ? if_else(inner, true) : expression(first);
  height = target.height;
  if (c.done()) return ast::ExprStmt{target.expr};
  if (auto* t = target.expr->as<ast::Tuple>(); t && c.peek().type() == ASSIGN && !t->elements.empty() && std::all_of(t->elements.begin(), t->elements.end(), [](const ast::ExprPtr& e) { return is_target(*e); }))
    return assignment_of_several(*t, target.span, c, height);
  if (!is_target(*target.expr))
    fail(Kind::Syntax, target.span, "this cannot be assigned to", help_for_target(*target.expr));
  TreeNode op = c.next();
  Made value = expression(c.next());
  height = std::max(height, value.height);
  std::optional<ast::BinaryOp> binary;
  if (op.type() == OPERATOR_ASSIGN) binary = operator_named(op.text().substr(0, op.text().size() - 1));
  return ast::Assign{target.expr, binary, op.span(), value.expr};
}

ast::FunctionStmt AstBuilder::function_statement(TreeNode node, uint32_t& height) {
  Cursor c(node);
  ast::FunctionStmt out;
  std::vector<Span> places;
  uint32_t spec_height = 0;
  out.transforms = transform_words(c, DECORATOR, spec_height, places);
  auto doc = list_.docs.find(node.data().first_token);
  MadeFunction made = function(c.next(), doc == list_.docs.end() ? "" : doc->second);
  out.function = made.function;
  height = std::max(made.height, spec_height);
  return out;
}

AstBuilder::MadeFunction AstBuilder::function(TreeNode node, std::string doc) {
  Cursor c(node);
  auto f = std::make_shared<ast::FunctionDef>();
  uint32_t height = 0;
  c.next();
  f->span = node.span();
  f->doc = std::move(doc);
  f->name_span = c.peek().span();
  f->name = canonical_name(c.next().text());
  c.next();
  if (c.at(Rule::Parameters)) f->params = parameters(c.next(), false, height);
  c.next();
  if (c.accept(ARROW)) f->result = type(c.next());
  Made body = within({false, true, false}, [&] { return c.accept(ASSIGN) ? expression(c.next()) : block(c.next()); });
  f->body = body.expr;
  return {f, std::max(height, body.height)};
}

std::vector<ast::Param> AstBuilder::parameters(TreeNode node, bool of_lambda, uint32_t& height) {
  std::vector<ast::Param> out;
  for (Cursor c(node); !c.done();) {
    TreeNode child = c.next();
    if (child.rule() == Rule::Parameter) out.push_back(parameter(child, of_lambda, height));
  }
  check_distinct(out);
  return out;
}

ast::Param AstBuilder::parameter(TreeNode node, bool of_lambda, uint32_t& height) {
  Cursor c(node);
  ast::Param out;
  out.span = node.span();
  TreeNode name = c.next();
  const std::vector<std::string>& words = reserved_words();
  if (name.rule() == Rule::Pattern) {
    out.pattern = pattern(name);
  } else {
    if (std::find(words.begin(), words.end(), name.text()) != words.end())
      fail(Kind::Syntax, name.span(), fmt::format("`{}` is a reserved word and cannot name a parameter", name.text()));
    out.pattern.span = name.span();
    out.pattern.name = canonical_name(name.text());
  }
  if (out.pattern.is_tuple && !of_lambda)
    fail(Kind::Syntax, name.span(), "a parameter of `fn` is a name", "take it apart inside: `let (a, b) = p`");
  if (c.accept(COLON)) out.type = type(c.next());
  if (c.accept(ASSIGN)) {
    Made value = expression(c.next());
    out.default_value = value.expr;
    height = std::max(height, value.height);
  }
  return out;
}

namespace {

void check_distinct_names(const ast::Pattern& p, std::set<std::string>& seen) {
  for (const ast::Pattern& element : p.elements) check_distinct_names(element, seen);
  if (p.is_tuple || p.name == "_") return;
  if (!seen.insert(p.name).second)
    fail(Kind::Syntax, p.span, fmt::format("the name `{}` stands twice", p.name),
         "use `_` for a value that is not needed");
}

ast::Pattern read_pattern(TreeNode node) {
  Cursor c(node);
  ast::Pattern out;
  out.span = node.span();
  if (!c.accept(LPAREN)) {
    out.name = canonical_name(c.peek().text());
    return out;
  }
  out.is_tuple = true;
  while (!c.at(RPAREN)) {
    TreeNode child = c.next();
    if (child.rule() == Rule::Pattern) out.elements.push_back(read_pattern(child));
    if (child.type() == TRAILING_COMMA) return out;
  }
  if (out.elements.size() > 1) return out;
  ast::Pattern inner = std::move(out.elements[0]);
  return inner;
}

}  // namespace

void AstBuilder::check_distinct(const std::vector<ast::Param>& params) {
  std::set<std::string> seen;
  for (const ast::Param& p : params) check_distinct_names(p.pattern, seen);
}

ast::Pattern AstBuilder::pattern(TreeNode node) {
  ast::Pattern out = read_pattern(node);
  std::set<std::string> seen;
  check_distinct_names(out, seen);
  return out;
}

ast::TypeExpr AstBuilder::type(TreeNode node) {
  Cursor c(node);
  ast::TypeExpr out;
  out.span = node.span();
  out.dtype = c.next().text();
  while (!c.done()) {
    TreeNode child = c.next();
    if (child.rule() != Rule::Size) continue;
    TreeNode size = child.child();
    ast::TypeExpr::Size s;
    s.span = size.span();
    if (size.type() == INT) {
      Number n = read_number(size.text(), size.span(), false);
      if (!n.suffix.empty() || n.magnitude > INT64_MAX)
        fail(Kind::Syntax, size.span(), "a size is a plain number", "write it without a suffix");
      s.value = static_cast<int64_t>(n.magnitude);
    } else if (size.type() == STAR) {
      s.ragged = true;
    } else {
      s.name = canonical_name(size.text());
    }
    out.sizes.push_back(std::move(s));
  }
  return out;
}

}  // namespace tercet
