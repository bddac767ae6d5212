// The binary operators: spelling, meaning and precedence. The one list of language.md section 3's levels.
#pragma once
#include <optional>
#include <string_view>

#include "grammar/ast.h"
#include "grammar/token.h"

namespace tercet {

/// Precedence levels, loosest first. `not` and the signs are prefix operators.
enum class Level : uint8_t {
  Pipe,
  Range,
  Or,
  And,
  Not,
  Comparison,
  BitOr,
  BitXor,
  BitAnd,
  Shift,
  Sum,
  Product,
  Sign,
  Power
};

inline Level tighter(Level level) { return static_cast<Level>(static_cast<uint8_t>(level) + 1); }

struct BinaryOperator {
  TokenType token;
  std::string_view text;
  Level level;
  std::optional<ast::BinaryOp> op;  // none for `|>` and `..`, which have nodes of their own
};

/// The row of a token that is_binary_operator.
const BinaryOperator& operator_row(TokenType token);
std::optional<ast::BinaryOp> operator_named(std::string_view text);

}  // namespace tercet
