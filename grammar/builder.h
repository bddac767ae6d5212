// Concrete syntax tree -> AST. What the grammar lets through but the language does not (a chained comparison, `1 = x`,
// `break` outside of a loop) is reported here, one fault a statement.
//
// The readers below follow the rules of Tercet.g4 one by one; every node is made by `make`, which bounds the depth of
// the AST so that its later readers may recurse.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "grammar/ast.h"
#include "grammar/syntax_tree.h"

namespace tercet {

/// Levels of expressions inside one another. The stack that a reader of the AST needs is bounded by it.
constexpr uint32_t max_depth = 250;

/// An expression made, how many levels it has, and its place with the parentheses around it.
struct Made {
  ast::ExprPtr expr;
  uint32_t height = 0;
  Span span;
};

/// A node of the tree with all that is needed to read it. Cheap to copy.
class TreeNode {
 public:
  TreeNode(const TokenList& list, const SyntaxTree& tree, uint32_t at) : list_(&list), tree_(&tree), at_(at) {}
  const SyntaxNode& data() const { return tree_->nodes[at_]; }
  Rule rule() const { return data().rule; }
  /// Of a leaf; END for a rule.
  TokenType type() const { return rule() == Rule::Leaf ? token().type : TokenType::END; }
  const Token& token() const { return list_->tokens[data().first_token]; }
  std::string_view text() const { return list_->text(token()); }
  Span span() const {
    uint32_t last = std::max(data().first_token + 1, data().end_token) - 1;
    return list_->span(token()).joined(list_->span(list_->tokens[last]));
  }
  TreeNode child() const { return {*list_, *tree_, at_ + 1}; }
  TreeNode sibling() const { return {*list_, *tree_, data().end_node}; }
  bool has_one_child() const { return at_ + 1 < data().end_node && child().data().end_node == data().end_node; }
  uint32_t at() const { return at_; }

 private:
  const TokenList* list_;
  const SyntaxTree* tree_;
  uint32_t at_;
};

/// Reads the children of a node from left to right.
class Cursor {
 public:
  explicit Cursor(TreeNode parent) : next_(parent.child()), end_(parent.data().end_node) {}
  bool done() const { return next_.at() >= end_; }
  TreeNode peek() const { return next_; }
  bool at(TokenType type) const { return !done() && next_.rule() == Rule::Leaf && next_.type() == type; }
  bool at(Rule rule) const { return !done() && next_.rule() == rule; }
  TreeNode next() {
    TreeNode n = next_;
    next_ = n.sibling();
    return n;
  }
  bool accept(TokenType type) {
    bool here = at(type);
    if (here) next();
    return here;
  }

 private:
  TreeNode next_;
  uint32_t end_;
};

class AstBuilder {
 public:
  AstBuilder(const TokenList& list, const SyntaxTree& tree) : list_(list), tree_(tree) {}

  ast::Program program();
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  friend class OperationReader;
  struct Statements {
    std::vector<ast::StmtPtr> list;
    uint32_t height = 0;
  };
  struct MadeFunction {
    ast::FunctionPtr function;
    uint32_t height = 0;
  };
  /// What surrounds the code being read; saved and restored around loops and functions.
  struct Context {
    bool in_loop = false;
    bool in_function = false;
    bool in_specs = false;  // `_` has a meaning
  };

  Made make(Span span, decltype(ast::Expr::node) node, uint32_t height_of_children);
  template <class F>
  auto within(Context context, F f) {
    Context saved = std::exchange(context_, context);
    try {
      auto result = f();
      context_ = saved;
      return result;
    } catch (...) {
      context_ = saved;
      throw;
    }
  }

  // build_statements.cpp
  Statements statements(TreeNode node);
  ast::StmtPtr statement(TreeNode node, uint32_t& height);
  decltype(ast::Stmt::node) statement_node(TreeNode node, uint32_t& height);
  ast::Let let(Cursor c, bool is_var, uint32_t& height);
  ast::FunctionStmt function_statement(TreeNode node, uint32_t& height);
  ast::For for_loop(Cursor c, uint32_t& height);
  ast::While while_loop(Cursor c, uint32_t& height);
  ast::Return return_statement(TreeNode node, uint32_t& height);
  ast::Import import(Cursor c);
  decltype(ast::Stmt::node) expression_statement(TreeNode node, uint32_t& height);
  decltype(ast::Stmt::node) assignment_of_several(const ast::Tuple& targets, Span span, Cursor c, uint32_t& height);
  MadeFunction function(TreeNode node, std::string doc);
  std::vector<ast::Param> parameters(TreeNode node, bool of_lambda, uint32_t& height);
  ast::Param parameter(TreeNode node, bool of_lambda, uint32_t& height);
  ast::TypeExpr type(TreeNode node);
  ast::Pattern pattern(TreeNode node);
  void check_distinct(const std::vector<ast::Param>& params);

  // build_expressions.cpp
  Made expression(TreeNode node);
  Made lambda(TreeNode head, Made body, Span span);
  Made operand(Cursor& c, bool negative);
  Made primary(TreeNode node, Cursor& after, bool negative);
  Made postfix(Made base, Cursor& c);
  Made member(Made base, Cursor& c);
  Made call(Made callee, TreeNode node);
  Made index(Made base, TreeNode node);
  std::vector<ast::Argument> arguments(TreeNode node, bool specs, uint32_t& height);
  ast::IndexItem index_item(TreeNode node, uint32_t& height);
  Made literal(TreeNode node, bool negative);

  // build_operators.cpp
  Made operation(TreeNode node);

  // build_atoms.cpp
  Made parenthesis(TreeNode node);
  Made record(TreeNode node);
  Made array(TreeNode node);
  Made comprehension(TreeNode node);
  Made block(TreeNode node);
  Made if_else(TreeNode node, bool is_statement);
  Made transform(TreeNode node, Cursor& members);
  Made transformed(std::vector<ast::Transform> words, const std::vector<Span>& places, Made value, uint32_t height);
  Made formatted(TreeNode node);
  std::vector<ast::Transform> transform_words(Cursor& c, TokenType word, uint32_t& height, std::vector<Span>& places);

  const TokenList& list_;
  const SyntaxTree& tree_;
  Context context_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace tercet
