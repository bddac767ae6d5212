// Atoms of the AST: parentheses, arrays, blocks, `if`, transforms and formatted strings.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grammar/builder.h"
#include "grammar/literals.h"
#include "grammar/unicode.h"

namespace tercet {

using enum TokenType;

Made AstBuilder::parenthesis(TreeNode node) {
  ast::Tuple out;
  Made only;
  uint32_t height = 0;
  bool trailing_comma = false;
  for (Cursor c(node); !c.done();) {
    TreeNode child = c.next();
    trailing_comma |= child.type() == TRAILING_COMMA;
    if (child.rule() != Rule::Element) continue;
    if (child.child().rule() != Rule::Expression) return record(node);
    only = expression(child.child());
    height = std::max(height, only.height);
    out.elements.push_back(only.expr);
  }
  if (out.elements.size() == 1 && !trailing_comma) return {only.expr, only.height, node.span()};
  return make(node.span(), std::move(out), height);
}

Made AstBuilder::record(TreeNode node) {
  ast::Record out;
  std::set<std::string> names;
  uint32_t height = 0;
  for (Cursor c(node); !c.done();) {
    TreeNode child = c.next();
    if (child.rule() != Rule::Element) continue;
    Cursor inside(child);
    TreeNode first = inside.next();
    if (first.rule() == Rule::Expression)
      fail(Kind::Syntax, child.span(), "parentheses hold either a tuple `(a, b)` or a record `(a=1, b=2)`",
           "name this field, or take the names off the others");
    if (first.type() == ARGUMENT_NAME) inside.next();
    Made value = expression(inside.next());
    height = std::max(height, value.height);
    if (first.type() == DOTDOT) {
      if (out.base || !out.fields.empty())
        fail(Kind::Syntax, child.span(), "a record update starts with the record: `(..r, a=1)`",
             "there is one `..`, and it stands first");
      out.base = value.expr;
      continue;
    }
    out.fields.push_back({child.span(), canonical_name(first.text()), value.expr});
    if (!names.insert(out.fields.back().name).second)
      fail(Kind::Syntax, first.span(), fmt::format("the field `{}` is given twice", out.fields.back().name));
  }
  return make(node.span(), std::move(out), height);
}

Made AstBuilder::array(TreeNode node) {
  ast::ArrayLiteral out;
  uint32_t height = 0;
  for (Cursor c(node); !c.done();) {
    if (c.at(FOR)) return comprehension(node);
    TreeNode child = c.next();
    if (child.rule() != Rule::Expression) continue;
    if (out.elements.empty() && !c.done() && c.at(FOR)) return comprehension(node);
    Made value = expression(child);
    height = std::max(height, value.height);
    out.elements.push_back(value.expr);
  }
  return make(node.span(), std::move(out), height);
}

Made AstBuilder::comprehension(TreeNode node) {
  Cursor c(node);
  c.next();
  Made body = expression(c.next());
  ast::Comprehension out;
  out.body = body.expr;
  c.next();
  out.pattern = pattern(c.next());
  c.next();
  Made source = expression(c.next());
  out.source = source.expr;
  uint32_t height = std::max(body.height, source.height);
  if (c.accept(IF)) {
    Made filter = expression(c.next());
    out.filter = filter.expr;
    height = std::max(height, filter.height);
  }
  return make(node.span(), std::move(out), height);
}

Made AstBuilder::block(TreeNode node) {
  Cursor c(node);
  c.next();
  Statements inside;
  if (c.at(Rule::Statements)) inside = statements(c.next());
  return make(node.span(), ast::Block{std::move(inside.list)}, inside.height);
}

Made AstBuilder::if_else(TreeNode node, bool is_statement) {
  struct Arm {
    Span begin;
    Made condition, body;
  };
  std::vector<Arm> arms;
  Made last;
  Cursor c(node);
  while (!c.done()) {
    if (c.accept(ELSE)) {
      last = block(c.next());
      break;
    }
    c.accept(ELSE_IF);
    Span begin = c.next().span();
    Made condition = expression(c.next());
    arms.push_back({begin, std::move(condition), block(c.next())});
  }
  if (!last.expr && !is_statement)
    fail(Kind::Syntax, node.span(), "an `if` that gives a value needs an `else`", "add `else { … }`");
  for (size_t i = arms.size(); i-- > 0;) {
    Arm& arm = arms[i];
    uint32_t height = std::max({arm.condition.height, arm.body.height, last.height});
    Span span = arm.begin.joined(arm.body.span).joined(last.span);
    last = make(span, ast::If{arm.condition.expr, arm.body.expr, last.expr}, height);
  }
  return last;
}

std::vector<ast::Transform> AstBuilder::transform_words(Cursor& c, TokenType word, uint32_t& height,
                                                     std::vector<Span>& places) {
  using ast::TransformKind;
  std::vector<ast::Transform> out;
  while (c.at(word)) {
    TreeNode name = c.next();
    ast::Transform t;
    t.kind = name.text() == "jit"    ? TransformKind::Jit
             : name.text() == "vmap" ? TransformKind::Vmap
             : name.text() == "pmap" ? TransformKind::Pmap
                                     : TransformKind::Grad;
    places.push_back(name.span());
    if (c.at(Rule::Specs)) {
      Cursor inside(c.next());
      inside.next();
      Context specs = context_;
      specs.in_specs = true;
      if (inside.at(Rule::Arguments)) t.specs = within(specs, [&] { return arguments(inside.next(), true, height); });
    }
    out.push_back(std::move(t));
  }
  return out;
}

/// `jit vmap[0] f.g`, with the members of a name taken from what follows it.
Made AstBuilder::transform(TreeNode node, Cursor& members) {
  Cursor c(node);
  std::vector<Span> places;
  uint32_t height = 0;
  std::vector<ast::Transform> words = transform_words(c, TRANSFORM, height, places);
  Made value;
  if (c.at(NAME)) {
    value = literal(c.next(), false);
    while (members.at(DOT)) value = member(std::move(value), members);
  } else {
    TreeNode operand = c.next();
    const char* word = ast::spelling(words.back().kind);
    size_t elements = 0;
    bool named = false;
    for (Cursor inside(operand); !inside.done();) {
      TreeNode child = inside.next();
      if (child.rule() != Rule::Element) continue;
      ++elements;
      named |= child.child().rule() == Rule::Leaf;
    }
    if (elements != 1 || named)
      fail(Kind::Syntax, operand.span(), fmt::format("`{}` takes one function in its parentheses", word),
           words.back().kind == ast::TransformKind::Jit
               ? "options stand in brackets: `jit[threads=4] f`"
               : fmt::format("axes and options stand in brackets: `{}[0, _] f` or `{}[0, _](f)`", word, word));
    value = parenthesis(operand);
  }
  return transformed(std::move(words), places, std::move(value), height);
}

/// The transforms of `words`, the last one innermost, of a function.
Made AstBuilder::transformed(std::vector<ast::Transform> words, const std::vector<Span>& places, Made value, uint32_t height) {
  for (size_t i = words.size(); i-- > 0;) {
    words[i].operand = value.expr;
    value = make(places[i].joined(value.span), std::move(words[i]), std::max(height, value.height));
  }
  return value;
}

Made AstBuilder::formatted(TreeNode node) {
  ast::FString out;
  uint32_t height = 0;
  for (Cursor c(node); !c.done();) {
    TreeNode child = c.next();
    if (child.type() == FSTRING_TEXT)
      out.parts.push_back({unescape(child.text(), child.span(), true), nullptr, "", child.span()});
    if (child.type() != HOLE_OPEN) continue;
    Made value = expression(c.next());
    height = std::max(height, value.height);
    std::string format;
    if (c.at(HOLE_FORMAT)) format = c.next().text().substr(1);
    out.parts.push_back({"", value.expr, format, child.span().joined(c.next().span())});
  }
  return make(node.span(), std::move(out), height);
}

}  // namespace tercet
