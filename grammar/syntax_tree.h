// The concrete syntax tree: which rule of Tercet.g4 covers which tokens. Made by antlr_parser.cpp, read by builder.h;
// it keeps ANTLR's types out of everything else.
//
// Nodes lie in one array in source order (a node before its children), so the tree has no pointers and its end needs
// no recursion.
#pragma once
#include <cstdint>
#include <vector>

#include "grammar/token.h"

namespace tercet {

// clang-format off
#define TERCET_RULES(X)                                                                                         \
  X(Program) X(Statements) X(Statement) X(Function) X(Parameters) X(Parameter) X(Type) X(Size) X(Pattern)       \
  X(Block) X(Expression) X(LambdaHead) X(Operation) X(Operand) X(Call) X(Arguments) X(Argument) X(Index)        \
  X(IndexItem) X(Parenthesis) X(Element) X(Array) X(IfElse) X(Transform) X(Specs) X(Formatted)
// clang-format on

enum class Rule : uint8_t {
#define X(name) name,
  TERCET_RULES(X)
#undef X
      Leaf  // one token
};

struct SyntaxNode {
  Rule rule = Rule::Leaf;
  bool broken = false;       // a statement with a syntax error inside: not to be read
  uint32_t first_token = 0;  // of a leaf: the token
  uint32_t end_token = 0;    // one past the last token
  uint32_t end_node = 0;     // one past the last node of this subtree
};

struct SyntaxTree {
  std::vector<SyntaxNode> nodes;  // empty when nothing could be parsed
};

/// A token that fits no rule.
struct SyntaxFault {
  Rule rule;                        // the rule being read
  uint32_t token;                   // the token found
  uint32_t statement;               // first token of the innermost statement being read
  uint32_t resume;                  // the token where reading goes on
  std::vector<TokenType> expected;  // what could have stood there, in no useful order
};

struct SyntaxResult {
  SyntaxTree tree;
  std::vector<SyntaxFault> faults;  // in source order, at most max_faults
};

constexpr size_t max_faults = 10;

/// Parses tokens whose brackets are balanced and nested at most a few hundred deep. Time is linear.
/// Throws Failure(Limit) only when the stack is nearly used up.
SyntaxResult parse_tokens(const TokenList& list);

}  // namespace tercet
