#include "grammar/token.h"

#include <array>

namespace tercet {

using enum TokenType;

bool is_word(TokenType type) { return type >= LET && type <= TRANSFORM; }

bool is_open_bracket(TokenType type) {
  return type == LPAREN || type == LAMBDA_OPEN || type == LBRACKET || type == LBRACE || type == HOLE_OPEN;
}

bool is_close_bracket(TokenType type) {
  return type == RPAREN || type == RBRACKET || type == RBRACE || type == HOLE_CLOSE;
}

TokenType closer_of(TokenType open) {
  switch (open) {
    case LBRACKET:
      return RBRACKET;
    case LBRACE:
      return RBRACE;
    case HOLE_OPEN:
      return HOLE_CLOSE;
    default:
      return RPAREN;
  }
}

bool ends_operand(TokenType type) {
  return type == NAME || (type >= FLOAT && type <= SINGLE_QUOTED) || type == PLACEHOLDER || type == TRUE ||
         type == FALSE || type == NONE || type == FSTRING_END || (is_close_bracket(type) && type != HOLE_CLOSE);
}

bool is_binary_operator(TokenType type) {
  switch (type) {
    case PIPE:
    case DOTDOT:
    case AND:
    case OR:
    case EQUAL:
    case NOT_EQUAL:
    case LESS:
    case LESS_EQUAL:
    case GREATER:
    case GREATER_EQUAL:
      return true;
    default:
      return type >= BAR && type <= POWER;
  }
}

namespace {

/// In the order of TERCET_TOKENS, from LET to RBRACE; "" where a phrase below says it better.
constexpr std::array spellings{
    "let",  "var",   "fn",   "if",     "else", "for", "in", "while", "break", "continue", "return", "and", "or", "not",
    "true", "false", "none", "import", "as",   "",    "_",  "",      "",      "",         "",       "",    "",   "",
    "",     "|>",    "=>",   "->",     "...",  "..",  ".",  ",",     ":",     ";",        "==",     "!=",  "<",  "<=",
    ">",    ">=",    "=",    "",       "|",    "^",   "&",  "<<",    ">>",    "+",        "-",      "*",   "/",  "//",
    "%",    "@",     "**",   "~",      "(",    ")",   "[",  "]",     "{",     "}"};
static_assert(spellings.size() == static_cast<size_t>(RBRACE));

}  // namespace

std::string describe(TokenType type) {
  switch (type) {
    case END:
      return "the end of the text";
    case TRANSFORM:
    case DECORATOR:
    case LAMBDA_TRANSFORM:
      return "a transform";
    case ARGUMENT_NAME:
    case LAMBDA_NAME:
    case NAME:
      return "a name";
    case FLOAT:
    case INT:
      return "a number";
    case STRING:
    case RAW_STRING:
    case FSTRING_BEGIN:
      return "a string";
    case OPERATOR_ASSIGN:
      return "`+=`";
    case SEPARATOR:
      return "a new line";
    case TRAILING_COMMA:
      return "`,`";
    case ELSE_IF:
      return "`else`";
    case LAMBDA_OPEN:
      return "`(`";
    case HOLE_CLOSE:
      return "`}`";
    default:
      break;
  }
  size_t row = static_cast<size_t>(type) - 1;
  return row < spellings.size() ? "`" + std::string(spellings[row]) + "`" : "something else";
}

}  // namespace tercet
