// Spellings of other languages, and what Tercet says instead.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "grammar/token.h"

namespace tercet {

struct ForeignSpelling {
  TokenType instead;    // what is read in its place; END: nothing
  std::string message, help;
};

/// Answers tokens that are foreign wherever they stand: `&&`, `True`, `“`.
std::optional<ForeignSpelling> foreign_token(TokenType type, std::string_view text);

/// The help for a word of another language at the start of a statement (`def`, `class`, `print x`), or "".
std::string foreign_statement(std::string_view word);

}  // namespace tercet
