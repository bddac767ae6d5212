#include "grammar/token_lookahead.h"

namespace tercet {

using enum TokenType;

namespace {

bool is_blank(TokenType type) { return type == SPACE || type == COMMENT || type == NEWLINE || type == DOC_COMMENT; }

}  // namespace

Token next_significant(const std::vector<Token>& raw, size_t i) {
  for (++i; i < raw.size(); ++i)
    if (!is_blank(raw[i].type)) return raw[i];
  return {};
}

Token next_on_line(const std::vector<Token>& raw, size_t i) {
  for (++i; i < raw.size(); ++i)
    if (raw[i].type != SPACE) return raw[i];
  return {};
}

Token next_touching(const std::vector<Token>& raw, size_t i) { return i + 1 < raw.size() ? raw[i + 1] : Token{}; }

bool is_exponent(std::string_view word) {
  return (word[0] == 'e' || word[0] == 'E') && word.size() > 1 &&
         word.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool is_variable_declaration(const std::vector<Token>& raw, size_t i) {
  Token next = next_on_line(raw, i);
  if (next.type != LPAREN) return next.type == NAME || next.type == PLACEHOLDER;
  size_t depth = 0;
  for (size_t k = i + 1; k < raw.size(); ++k) {
    if (is_open_bracket(raw[k].type)) ++depth;
    if (is_close_bracket(raw[k].type) && --depth == 0) return next_on_line(raw, k).type == ASSIGN;
  }
  return true;
}

bool can_only_start_statement(const std::vector<Token>& raw, size_t i) {
  Token next = next_significant(raw, i);
  switch (raw[i].type) {
    case VAR:
      return next.type == NAME;
    case LET:
    case FN:
    case WHILE:
    case RETURN:
    case BREAK:
    case CONTINUE:
    case IMPORT:
      return next.type != ASSIGN;
    default:
      return false;
  }
}

}  // namespace tercet
