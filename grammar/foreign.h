// Spellings of other languages, and what Tercet says instead.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "grammar/token.h"

namespace tercet {

struct ForeignSpelling {
  TokenType instead;  // what is read in its place; END: nothing
  std::string message, help;
};

/// Answers tokens that are foreign wherever they stand: `&&`, `True`, `“`.
std::optional<ForeignSpelling> foreign_token(TokenType type, std::string_view text);

/// `// …` or `/* … */` among the lexer's tokens.
struct ForeignComment {
  size_t last = 0;            // index of its last token
  size_t first_line_end = 0;  // offset of the end of its first line
  std::string help;
};
bool starts_foreign_comment(const std::vector<Token>& raw, size_t i);
ForeignComment foreign_comment(const TokenList& list, const std::vector<Token>& raw, size_t i);

/// `elif` and its like.
bool is_foreign_else_if(std::string_view word);

/// The help for a word of another language at the start of a statement (`def`, `class`, `print x`), or "".
std::string foreign_statement(std::string_view word);

}  // namespace tercet
