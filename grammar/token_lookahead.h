// Looking ahead in the lexer's tokens, spaces and comments included; for the filter.
#pragma once
#include <vector>

#include "grammar/token.h"

namespace tercet {

/// The next token that is no space, comment or line break; END if there is none.
Token next_significant(const std::vector<Token>& raw, size_t i);
/// The next token that is no space.
Token next_on_line(const std::vector<Token>& raw, size_t i);
/// The token that touches this one: a space is one too.
Token next_touching(const std::vector<Token>& raw, size_t i);

/// True for `e5`, which in `1.e5` was meant as an exponent.
bool is_exponent(std::string_view word);
/// Of a `var` at the start of a statement: whether a name, or a pattern and its `=`, follow.
bool is_variable_declaration(const std::vector<Token>& raw, size_t i);
/// Words that start a statement and cannot stand inside ( ) or [ ]: a bracket before them was forgotten.
bool can_only_start_statement(const std::vector<Token>& raw, size_t i);

}  // namespace tercet
