#include "grammar/token.h"

namespace tercet {

bool is_word(TokenType type) { return type >= TokenType::LET && type <= TokenType::TRANSFORM; }

bool is_open_bracket(TokenType type) {
  switch (type) {
    case TokenType::LPAREN:
    case TokenType::LAMBDA_OPEN:
    case TokenType::LBRACKET:
    case TokenType::LBRACE:
    case TokenType::HOLE_OPEN: return true;
    default: return false;
  }
}

bool is_close_bracket(TokenType type) {
  return type == TokenType::RPAREN || type == TokenType::RBRACKET || type == TokenType::RBRACE ||
         type == TokenType::HOLE_CLOSE;
}

bool is_binary_operator(TokenType type) {
  switch (type) {
    case TokenType::PIPE:
    case TokenType::DOTDOT:
    case TokenType::AND:
    case TokenType::OR:
    case TokenType::EQUAL:
    case TokenType::NOT_EQUAL:
    case TokenType::LESS:
    case TokenType::LESS_EQUAL:
    case TokenType::GREATER:
    case TokenType::GREATER_EQUAL: return true;
    default: return type >= TokenType::BAR && type <= TokenType::POWER;
  }
}

}  // namespace tercet
