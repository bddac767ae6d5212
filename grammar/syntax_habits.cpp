// Faults that come from writing another language: recognised by the tokens around them, answered with the spelling
// here.
#include <fmt/format.h>

#include <array>

#include "grammar/foreign.h"
#include "grammar/syntax_errors.h"

namespace tercet {
namespace {

using enum TokenType;

/// `def f(x)`, `class A`, `print x`, `lambda x: e`
Explanation foreign_word(const FaultView& f) {
  bool juxtaposed = f.fault.token > 0 && f.before() == NAME && !f.expects_value();
  if (!juxtaposed) return {};
  bool first = f.fault.token == f.fault.statement + 1;
  std::string_view word = f.before_text();
  if (!first && word != "lambda" && word != "mut" && word != "elif") return {};
  std::string help = foreign_statement(word);
  if (help.empty()) return {};
  if (word == "print" || word == "assert") return {fmt::format("expected `(` after `{}`", word), std::move(help)};
  return {fmt::format("`{}` is a word of another language", word), std::move(help), true};
}

Explanation comment(const FaultView& f) {
  if (!f.in(Rule::Statements) && !f.expects_value()) return {};
  bool slashes = f.before() == FLOOR_DIVIDE || (f.in(Rule::Statements) && f.has_before(FLOOR_DIVIDE));
  if (!slashes) return {};
  return {f.before() == FLOOR_DIVIDE ? "`//` divides, and needs a number after it"
                                     : "`//` divides, so these words are no comment",
          "a comment starts with `#`", f.before() == FLOOR_DIVIDE};
}

Explanation choice(const FaultView& f) {
  if (f.found() != IF || !ends_operand(f.before())) return {};
  return {"a choice is not written `a if c else b`", "write `if c { a } else { b }`"};
}

Explanation membership(const FaultView& f) {
  bool negated = f.found() == NOT && ends_operand(f.before());
  if (f.found() != IN && !negated) return {};
  if (f.found() == IN && f.first() == FOR && f.in(Rule::Pattern)) return {};
  return {"`in` stands only in `for x in xs`", "write `any(xs == x)`, or `contains(text, part)` for strings"};
}

Explanation identity(const FaultView& f) {
  if (f.found() != NAME || f.found_text() != "is" || !ends_operand(f.before())) return {};
  return {"`is` is a word of another language", "write `==`, and `!=` for `is not`"};
}

Explanation generator(const FaultView& f) {
  if (f.found() != FOR || !ends_operand(f.before())) return {};
  if (f.in(Rule::Array)) return {"a comprehension has one `for`", "nest them: `[[x + y for x in xs] for y in ys]`"};
  return {"a comprehension stands in brackets", "write `[e for x in xs]`"};
}

Explanation colon(const FaultView& f) {
  if (f.found() != COLON) return {};
  bool body = f.first() == IF || f.first() == FOR || f.first() == WHILE || f.first() == FN || f.first() == DECORATOR;
  if (body && (f.in(Rule::Block) || f.in(Rule::Function) || f.in(Rule::IfElse) || f.in(Rule::Statement)))
    return {"a body stands in braces and takes no `:`", f.first() == FN || f.first() == DECORATOR
                                                            ? "write `fn f(x) = …` or `fn f(x) { … }`"
                                                        : f.first() == IF  ? "write `if c { a } else { b }`"
                                                        : f.first() == FOR ? "write `for x in xs { … }`"
                                                                           : "write `while c { … }`"};
  if (f.in(Rule::Block)) return {"a body stands in braces and takes no `:`", "write `if c { a } else { b }`"};
  if (f.first() == LET || f.first() == VAR) {
    if (f.in(Rule::Statement))
      return {"`let` takes no type: types are found", "convert the value, as in `let x = f32(e)`"};
  }
  if (f.in(Rule::Statements) && f.fault.statement > 0 && f.type(f.fault.statement - 1) == LBRACE)
    return {"braces hold statements", "a record is written `(a=1, b=2)`"};
  if (f.in(Rule::Array) || f.in(Rule::Parenthesis))
    return {"`:` makes a slice only in an index", "a range is written `a..b`, a record `(a=1, b=2)`"};
  if (f.in(Rule::Arguments) || f.in(Rule::Call)) return {"an argument is named by `=`", "write `f(x, k=1)`"};
  return {};
}

Explanation arrow(const FaultView& f) {
  if (f.found() == ARROW && f.first() != FN && f.first() != DECORATOR)
    return {"`->` stands only before the result type of `fn`", "a lambda is written `x => …`"};
  if (f.found() != FAT_ARROW) return {};
  if (f.in(Rule::Function) || (f.in(Rule::Block) && f.first() == FN))
    return {"the body of `fn` follows `=`", "write `fn f(x) = …` or `fn f(x) { … }`"};
  return {"left of `=>` stands a name, or names in parentheses", "write `x => …` or `(x, y) => …`"};
}

/// `===`, `<>`, `:=`
Explanation operator_spelling(const FaultView& f) {
  if (f.before() == EQUAL && f.found() == ASSIGN) return {"there is no operator `===`", "write `==`"};
  if (f.before() == NOT_EQUAL && f.found() == ASSIGN) return {"there is no operator `!==`", "write `!=`"};
  if (f.before() == LESS && f.found() == GREATER) return {"there is no operator `<>`", "write `!=`"};
  if (f.found() == COLON && f.next() == ASSIGN)
    return {"there is no operator `:=`", "write `let x = …`, and `x = …` to assign again"};
  return {};
}

/// `@jit` on its own line
Explanation at_sign(const FaultView& f) {
  if (f.found() != AT || !f.at_first()) return {};
  return {"`@` multiplies matrices", "a transform stands before `fn`: `jit fn f(x) = …`"};
}

/// `for (i = 0; i < n; i++)`
Explanation counting_loop(const FaultView& f) {
  if (f.first() != FOR || !f.in(Rule::Pattern) || f.found() != ARGUMENT_NAME) return {};
  return {"a loop runs over values", "write `for i in 0..n { … }`"};
}

Explanation equals(const FaultView& f) {
  if (f.found() != ASSIGN && f.found() != OPERATOR_ASSIGN) return {};
  if (f.in(Rule::Statements)) return {"one statement assigns one target", "write a statement for each"};
  if (f.first() == LET || f.first() == VAR) return {};
  return {fmt::format("`{}` assigns, and is a statement of its own", f.found_text()),
          "two values are compared by `==`"};
}

Explanation bare_tuple(const FaultView& f) {
  if (f.found() != COMMA) return {};
  if (f.in(Rule::Statement) && (f.first() == LET || f.first() == VAR))
    return {"several names are bound as a tuple", fmt::format("write `{} (a, b) = …`", f.first_text())};
  if (f.in(Rule::Statement) && f.first() == FOR)
    return {"several names are bound as a tuple", "write `for (a, b) in …`"};
  if (f.in(Rule::Statements)) return {"a tuple stands in parentheses", "write `(a, b)`; bind one by `let (x, y) = …`"};
  return {};
}

Explanation unpacking(const FaultView& f) {
  bool star = f.found() == STAR || f.found() == POWER;
  if (!star || (f.before() != LPAREN && f.before() != COMMA && f.before() != LBRACKET)) return {};
  if (f.in(Rule::Function)) return {"a function has a fixed number of parameters", "take a tuple or an array instead"};
  return {"arguments and elements cannot be unpacked by `*`", "name them one by one, or use `concat`"};
}

Explanation adjacent_strings(const FaultView& f) {
  if (f.found() != STRING || f.before() != STRING) return {};
  return {"strings side by side are not joined", "write `+` between them"};
}

constexpr std::array habits{foreign_word, comment,   choice,          membership,    identity, operator_spelling,
                            generator,    colon,     at_sign,         counting_loop, arrow,    equals,
                            bare_tuple,   unpacking, adjacent_strings};

}  // namespace

Explanation explain_habit(const FaultView& fault) {
  for (auto habit : habits) {
    Explanation e = habit(fault);
    if (!e.message.empty()) return e;
  }
  return {};
}

}  // namespace tercet
