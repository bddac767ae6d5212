#include "grammar/operator_table.h"

#include <array>

#include "base/diagnostic.h"

namespace tercet {
namespace {

using ast::BinaryOp;

constexpr std::array rows{
    BinaryOperator{TokenType::PIPE, "|>", Level::Pipe, {}},
    BinaryOperator{TokenType::DOTDOT, "..", Level::Range, {}},
    BinaryOperator{TokenType::OR, "or", Level::Or, BinaryOp::Or},
    BinaryOperator{TokenType::AND, "and", Level::And, BinaryOp::And},
    BinaryOperator{TokenType::EQUAL, "==", Level::Comparison, BinaryOp::Equal},
    BinaryOperator{TokenType::NOT_EQUAL, "!=", Level::Comparison, BinaryOp::NotEqual},
    BinaryOperator{TokenType::LESS, "<", Level::Comparison, BinaryOp::Less},
    BinaryOperator{TokenType::LESS_EQUAL, "<=", Level::Comparison, BinaryOp::LessEqual},
    BinaryOperator{TokenType::GREATER, ">", Level::Comparison, BinaryOp::Greater},
    BinaryOperator{TokenType::GREATER_EQUAL, ">=", Level::Comparison, BinaryOp::GreaterEqual},
    BinaryOperator{TokenType::BAR, "|", Level::BitOr, BinaryOp::BitOr},
    BinaryOperator{TokenType::CARET, "^", Level::BitXor, BinaryOp::BitXor},
    BinaryOperator{TokenType::AMPERSAND, "&", Level::BitAnd, BinaryOp::BitAnd},
    BinaryOperator{TokenType::SHIFT_LEFT, "<<", Level::Shift, BinaryOp::ShiftLeft},
    BinaryOperator{TokenType::SHIFT_RIGHT, ">>", Level::Shift, BinaryOp::ShiftRight},
    BinaryOperator{TokenType::PLUS, "+", Level::Sum, BinaryOp::Add},
    BinaryOperator{TokenType::MINUS, "-", Level::Sum, BinaryOp::Subtract},
    BinaryOperator{TokenType::STAR, "*", Level::Product, BinaryOp::Multiply},
    BinaryOperator{TokenType::SLASH, "/", Level::Product, BinaryOp::Divide},
    BinaryOperator{TokenType::FLOOR_DIVIDE, "//", Level::Product, BinaryOp::FloorDivide},
    BinaryOperator{TokenType::PERCENT, "%", Level::Product, BinaryOp::Modulo},
    BinaryOperator{TokenType::AT, "@", Level::Product, BinaryOp::MatMul},
    BinaryOperator{TokenType::POWER, "**", Level::Power, BinaryOp::Power},
};

}  // namespace

const BinaryOperator& operator_row(TokenType token) {
  for (const BinaryOperator& row : rows)
    if (row.token == token) return row;
  TERCET_CHECK(!"every binary operator has a row");
  return rows[0];
}

std::optional<ast::BinaryOp> operator_named(std::string_view text) {
  for (const BinaryOperator& row : rows)
    if (row.text == text) return row.op;
  return std::nullopt;
}

}  // namespace tercet
