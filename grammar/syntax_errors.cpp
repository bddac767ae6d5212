#include "grammar/syntax_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tercet {

using enum TokenType;

bool FaultView::expects(TokenType type) const {
  return std::find(fault.expected.begin(), fault.expected.end(), type) != fault.expected.end();
}

bool FaultView::has_before(TokenType wanted) const {
  for (uint32_t i = fault.statement; i < fault.token; ++i)
    if (type(i) == wanted) return true;
  return false;
}

namespace {

/// The token found, as a user would name it.
std::string describe_found(const FaultView& f) {
  constexpr size_t longest = 30;
  if (f.found() == END) return "the end of the text";
  if (f.found() == SEPARATOR && f.found_text().empty()) return "the end of the line";
  std::string_view text = f.found_text();
  if (text.size() <= longest) return fmt::format("`{}`", text);
  return f.found() == STRING || f.found() == RAW_STRING ? "a string" : "a long name or number";
}

/// Where the caret goes: at the token found, or right after the last one when something is missing at an end.
Span place_of(const FaultView& f) {
  bool at_end = f.found() == END || (f.found() == SEPARATOR && f.found_text().empty());
  if (!at_end || f.fault.token == 0) return f.list.span(f.list.tokens[f.fault.token]);
  uint32_t end = f.list.tokens[f.fault.token - 1].end;
  return f.list.source->span(end, end);
}

std::string describe_expected(const FaultView& f) {
  if (f.expects(LET)) return "a statement";
  if (f.expects_value()) return "a value";
  std::vector<std::string> words;
  for (TokenType type : f.fault.expected) {
    if (type == TRAILING_COMMA && f.expects(COMMA)) continue;
    if (type == ARGUMENT_NAME || type == HOLE_FORMAT) continue;
    std::string word = describe(type);
    if (std::find(words.begin(), words.end(), word) == words.end())
      words.insert(type == NAME ? words.begin() : words.end(), std::move(word));
  }
  if (words.empty() || words.size() > 5) return "something else";
  std::string out = words[0];
  for (size_t i = 1; i < words.size(); ++i) out += (i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

// ---- the explanations, each for one situation; the first that answers is taken ----

Explanation reserved_word(const FaultView& f) {
  if (!is_word(f.found()) || f.expects_value() || !f.expects(NAME)) return {};
  return {fmt::format("`{}` is a reserved word", f.found_text()),
          "choose another name; after `.`, and before `=` in calls and records, it may be used"};
}

Explanation nameless_function(const FaultView& f) {
  bool no_name = f.in(Rule::Function) && f.before() == FN && f.found() == LPAREN;
  if (!no_name && !(f.found() == FN && f.expects_value())) return {};
  return {no_name ? "`fn` declares a function by its name" : "`fn` starts a statement of its own",
          "a function without a name is written `(x, y) => …`"};
}

Explanation statement_as_value(const FaultView& f) {
  bool statement = f.found() == LET || f.found() == VAR || f.found() == RETURN || f.found() == WHILE ||
                   f.found() == FOR || f.found() == BREAK || f.found() == CONTINUE || f.found() == IMPORT;
  if (!statement || !f.expects_value() || f.expects(LET)) return {};
  return {fmt::format("`{}` is a statement and gives no value", f.found_text()), "put it into a block: `{ … }`"};
}

Explanation missing_operand(const FaultView& f) {
  bool comma = f.found() == COMMA || f.found() == TRAILING_COMMA;
  if (comma && (is_open_bracket(f.before()) || f.before() == COMMA)) return {"a value is missing before `,`", ""};
  if (!f.in(Rule::Operand) && !f.expects_value()) return {};
  if (f.found() == HOLE_CLOSE || f.found() == HOLE_FORMAT)
    return {"this hole of the formatted string is empty",
            "put an expression between `{` and `}`, or write `{{` and `}}`"};
  if (f.found() == LAMBDA_NAME || f.found() == LAMBDA_OPEN)
    return {"a lambda after an operator stands in parentheses", "write `xs |> (x => …)`"};
  if (f.found() == ELLIPSIS) return {"`...` stands only in an index", "as in `x[..., 0]`"};
  if (is_binary_operator(f.before()) || f.before() == NOT || f.before() == TILDE)
    return {fmt::format("`{}` needs a value after it, found {}", f.before_text(), describe_found(f)), ""};
  if (comma) return {"a value is missing before `,`", ""};
  if (f.found() == PIPE) return {"there is no value before `|>`", "a pipe starts with a value: `x |> f`"};
  return {};
}

Explanation missing_body(const FaultView& f) {
  if (!f.in(Rule::Block) || f.expects(RBRACE) || f.found() == COLON) return {};
  if (f.found() == SEPARATOR) return {"the body is missing: expected `{`", "the `{` stands on the same line"};
  return {fmt::format("expected `{{`, found {}", describe_found(f)), "a body always stands in braces: `{ … }`"};
}

Explanation function_body(const FaultView& f) {
  if (!f.in(Rule::Function) && !(f.in(Rule::Block) && f.first() == FN)) return {};
  if (!f.expects(LBRACE)) return {};
  return {fmt::format("expected `=` or `{{` before the body of the function, found {}", describe_found(f)),
          "write `fn f(x) = …` or `fn f(x) { … }`"};
}

Explanation stray_else(const FaultView& f) {
  if (f.found() != ELSE && f.found() != ELSE_IF) return {};
  return {"this `else` belongs to no `if`", "it follows the `}` of an `if`: `if c { a } else { b }`"};
}

Explanation separator_in_brackets(const FaultView& f) {
  if (f.found() != SEPARATOR || f.found_text() != ";" || f.expects(SEPARATOR)) return {};
  return {"`;` cannot stand here", "inside ( ) and [ ] items are separated by `,`"};
}

Explanation named_item(const FaultView& f) {
  if (f.found() != ARGUMENT_NAME) return {};
  return {fmt::format("`{} =` has no place here", f.found_text()),
          "a record is written `(a=1)`; two values are compared by `==`"};
}

Explanation missing_comma(const FaultView& f) {
  bool value =
      ends_operand(f.found()) || f.found() == LPAREN || f.found() == FSTRING_BEGIN || f.found() == ARGUMENT_NAME;
  TokenType close = f.expects(RPAREN) ? RPAREN : RBRACKET;
  if (!value || is_close_bracket(f.found()) || !f.expects(close) || f.expects_value()) return {};
  return {fmt::format("expected `,` or {} before {}", describe(close), describe_found(f)), "separate items by `,`"};
}

Explanation statement_end(const FaultView& f) {
  if (!f.in(Rule::Statements)) return {};
  if (f.before() == NAME && f.fault.token == f.fault.statement + 1 && ends_operand(f.found()))
    return {fmt::format("expected an operator or a new line before {}", describe_found(f)),
            fmt::format("a call is written `{}(…)`", f.before_text())};
  if (f.before() == RBRACE) return {fmt::format("expected a new line or `;` before {}", describe_found(f)), ""};
  return {fmt::format("expected an operator or the end of the statement, found {}", describe_found(f)), ""};
}

constexpr std::array explanations{
    explain_habit,   separator_in_brackets, nameless_function, stray_else, reserved_word, statement_as_value,
    missing_operand, function_body,         missing_body,      named_item, missing_comma, statement_end,
};

}  // namespace

Diagnostic explain_fault(const SyntaxFault& fault, const TokenList& list) {
  FaultView view{fault, list};
  Diagnostic d;
  d.kind = Kind::Syntax;
  d.span = place_of(view);
  for (auto explain : explanations) {
    Explanation e = explain(view);
    if (e.message.empty()) continue;
    d.message = std::move(e.message);
    d.help = std::move(e.help);
    if (e.at_word_before) d.span = list.span(list.tokens[fault.token - 1]);
    return d;
  }
  d.message = fmt::format("expected {}, found {}", describe_expected(view), describe_found(view));
  return d;
}

}  // namespace tercet
