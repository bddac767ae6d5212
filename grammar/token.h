// Tokens: what the lexer makes, the filter rewrites and the parser reads.
//
// The lists below mirror Tercet.g4; antlr_parser.cpp asserts at compile time that the numbers agree.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"

namespace tercet {

// clang-format off
#define TERCET_TOKENS(X)                                                                                             \
  X(LET) X(VAR) X(FN) X(IF) X(ELSE) X(FOR) X(IN) X(WHILE) X(BREAK) X(CONTINUE) X(RETURN) X(AND) X(OR) X(NOT) X(TRUE) \
  X(FALSE) X(NONE) X(IMPORT) X(AS) X(TRANSFORM) X(PLACEHOLDER) X(NAME) X(FLOAT) X(INT) X(STRING) X(RAW_STRING)       \
  X(FSTRING) X(OPEN_STRING) X(SINGLE_QUOTED) X(PIPE) X(FAT_ARROW) X(ARROW) X(ELLIPSIS) X(DOTDOT) X(DOT) X(COMMA)     \
  X(COLON) X(SEMICOLON) X(EQUAL) X(NOT_EQUAL) X(LESS) X(LESS_EQUAL) X(GREATER) X(GREATER_EQUAL) X(ASSIGN)            \
  X(OPERATOR_ASSIGN) X(BAR) X(CARET) X(AMPERSAND) X(SHIFT_LEFT) X(SHIFT_RIGHT) X(PLUS) X(MINUS) X(STAR) X(SLASH)     \
  X(FLOOR_DIVIDE) X(PERCENT) X(AT) X(POWER) X(TILDE) X(LPAREN) X(RPAREN) X(LBRACKET) X(RBRACKET) X(LBRACE) X(RBRACE) \
  X(DOUBLE_AMPERSAND) X(DOUBLE_BAR) X(BANG) X(NEWLINE) X(SPACE) X(DOC_COMMENT) X(COMMENT) X(UNKNOWN)                 \
  X(SEPARATOR) X(ARGUMENT_NAME) X(LAMBDA_NAME) X(LAMBDA_OPEN) X(TRAILING_COMMA) X(DECORATOR) X(LAMBDA_TRANSFORM) X(ELSE_IF)              \
  X(FSTRING_BEGIN) X(FSTRING_TEXT) X(HOLE_OPEN) X(HOLE_FORMAT) X(HOLE_CLOSE) X(FSTRING_END)
// clang-format on

enum class TokenType : uint8_t {
  END,  // of the source; the only type without a counterpart in the grammar
#define X(name) name,
  TERCET_TOKENS(X)
#undef X
};

struct Token {
  TokenType type = TokenType::END;
  bool invented = false;  // put in by the filter to close what the user left open
  uint32_t begin = 0;     // bytes of the source
  uint32_t end = 0;
  uint32_t match = 0;  // of a bracket: index of its counterpart
};

/// A source being read, and the tokens of it the parser sees. The last token is END.
struct TokenList {
  const SourceFile* source = nullptr;
  std::vector<Token> tokens;
  std::unordered_map<uint32_t, std::string> docs;  // text of the `##` lines before a token

  std::string_view text(const Token& t) const {
    return std::string_view(source->text()).substr(t.begin, t.end - t.begin);
  }
  Span span(const Token& t) const { return source->span(t.begin, t.end); }
};

/// The tokens of bytes [begin, end) of a source that is valid UTF-8, spaces included. Never fails: what is no token
/// is UNKNOWN, one code point each.
std::vector<Token> lex(const SourceFile& source, size_t begin, size_t end);

/// True for the words of the language (`let`, `jit`, …).
bool is_word(TokenType type);
bool is_open_bracket(TokenType type);
bool is_close_bracket(TokenType type);
/// `)` for `(`, and so on.
TokenType closer_of(TokenType open);
/// True for what can end an operand, so that `.` or `(` after it is a member or a call.
bool ends_operand(TokenType type);
/// What a user would call it: "`if`", "a name", "a new line".
std::string describe(TokenType type);
/// True for what stands between two operands: `+ |> .. and < …`.
bool is_binary_operator(TokenType type);

}  // namespace tercet
