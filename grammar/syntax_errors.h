// Turns a token that fits no rule into a message in the user's words: what was found, what was expected, one fix.
#pragma once
#include <string>

#include "grammar/syntax_tree.h"

namespace tercet {

Diagnostic explain_fault(const SyntaxFault& fault, const TokenList& list);

/// A fault with what one wants to know about its surroundings.
struct FaultView {
  const SyntaxFault& fault;
  const TokenList& list;

  TokenType type(uint32_t token) const { return list.tokens[token].type; }
  std::string_view text(uint32_t token) const { return list.text(list.tokens[token]); }
  TokenType found() const { return type(fault.token); }
  std::string_view found_text() const { return text(fault.token); }
  /// The type of the token before the fault; END at the start.
  TokenType before() const { return fault.token > 0 ? type(fault.token - 1) : TokenType::END; }
  std::string_view before_text() const { return fault.token > 0 ? text(fault.token - 1) : ""; }
  /// The type of the token after the fault.
  TokenType next() const { return found() == TokenType::END ? TokenType::END : type(fault.token + 1); }
  /// The first token of the statement.
  TokenType first() const { return type(fault.statement); }
  std::string_view first_text() const { return text(fault.statement); }
  bool at_first() const { return fault.token == fault.statement; }
  bool in(Rule rule) const { return fault.rule == rule; }
  bool expects(TokenType type) const;
  /// A value could have stood here.
  bool expects_value() const { return expects(TokenType::INT) && expects(TokenType::LBRACKET); }
  /// Something of the statement before the fault has this type.
  bool has_before(TokenType type) const;
};

struct Explanation {
  std::string message;  // "" : not this case
  std::string help;
  bool at_word_before = false;  // the caret belongs under the token before the one found
};

/// Habits from other languages: `a if c else b`, `if x:`, `def f(x)`, `lambda x: e`, `x in xs` …
Explanation explain_habit(const FaultView& fault);

}  // namespace tercet
