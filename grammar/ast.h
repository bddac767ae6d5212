// The abstract syntax tree: what the parser makes and the elaborator reads.
//
// Nodes are immutable and shared (a closure keeps the tree of its body alive). Every node has the span of its source.
// Left-associative operators of one precedence level are ONE flat node (Chain), so that the depth of a tree is bounded
// by the nesting of the source text and not by its length.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/source.h"

namespace tercet::ast {

struct Expr;
struct Stmt;
using ExprPtr = std::shared_ptr<const Expr>;
using StmtPtr = std::shared_ptr<const Stmt>;

// ---- patterns: `x`, `_`, `(a, (b, _))` ----
struct Pattern {
  Span span;
  std::string name;                // "" for a tuple pattern, "_" ignores
  std::vector<Pattern> elements;   // of a tuple pattern
  bool is_tuple = false;
};

// ---- types as written in signatures: `f32[n, 3, *]`, `f32`, `str[n, *]`; sizes are names, numbers, `*` or `_` ----
struct TypeExpr {
  struct Size { Span span; std::string name; std::optional<int64_t> value; bool ragged = false; };
  Span span;
  std::string dtype;
  std::vector<Size> sizes;
};

struct Param {
  Span span;
  Pattern pattern;                 // a plain name, or a tuple pattern in a lambda
  std::optional<TypeExpr> type;
  ExprPtr default_value;           // null: required
};

struct FunctionDef {
  Span span, name_span;
  std::string name;                // "" for a lambda
  std::string doc;                 // text of the `##` lines before it
  std::vector<Param> params;
  std::optional<TypeExpr> result;
  ExprPtr body;                    // a Block or an expression
};
using FunctionPtr = std::shared_ptr<const FunctionDef>;

// ---- expressions ----
struct Name { std::string name; };
struct IntLiteral { uint64_t magnitude = 0; bool negative = false; std::string suffix; };
struct FloatLiteral { double value = 0; std::string suffix; };   // the sign, if any, is folded in
struct BoolLiteral { bool value = false; };
struct StringLiteral { std::string value; };
struct NoneLiteral {};
struct Placeholder {};                                            // `_`
struct FString {
  struct Part { std::string text; ExprPtr hole; std::string format; Span span; };  // hole null: literal text
  std::vector<Part> parts;
};
struct Tuple { std::vector<ExprPtr> elements; };                  // `()` is the empty one
struct RecordField { Span span; std::string name; ExprPtr value; };
struct Record { ExprPtr base; std::vector<RecordField> fields; }; // base: `(..base, a=1)`, else null
struct ArrayLiteral { std::vector<ExprPtr> elements; };
struct Comprehension { ExprPtr body; Pattern pattern; ExprPtr source; ExprPtr filter; };  // filter may be null
struct Block { std::vector<StmtPtr> statements; };                // value: its last statement, if an ExprStmt
struct If { ExprPtr condition, then_branch, else_branch; };       // branches are Blocks (or If for `else if`); else may be null
struct Lambda { FunctionPtr function; };
struct Range { ExprPtr low, high; };

enum class BinaryOp : uint8_t {
  Or, And, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, BitOr, BitXor, BitAnd, ShiftLeft, ShiftRight,
  Add, Subtract, Multiply, Divide, FloorDivide, Modulo, MatMul, Power
};
enum class UnaryOp : uint8_t { Negate, Plus, BitNot, Not };
const char* spelling(BinaryOp op);
const char* spelling(UnaryOp op);

/// `first op1 e1 op2 e2 …`, left associative, operators of one level. A comparison or power has exactly one link
/// (power is right associative: its right side is another Chain).
struct Chain {
  struct Link { BinaryOp op; Span op_span; ExprPtr operand; };
  ExprPtr first;
  std::vector<Link> links;
};
struct Unary { UnaryOp op; Span op_span; ExprPtr operand; };

struct Argument { Span span; std::string name; ExprPtr value; };  // name "" : positional
struct Call { ExprPtr callee; std::vector<Argument> arguments; };
/// `first |> f |> g(a)`; each stage is a callable expression, or a Call that gets the value as its first argument.
/// `whole[i]`: stage i stood in parentheses, so a call there gives the function and does not get the value itself.
struct Pipe { ExprPtr first; std::vector<ExprPtr> stages; std::vector<bool> whole; };

struct IndexItem {
  enum class Form : uint8_t { Element, Slice, Ellipsis, NewAxis };  // `none` is NewAxis
  Form form = Form::Element;
  Span span;
  ExprPtr element;                 // Element
  ExprPtr start, stop, step;       // Slice, each may be null
};
struct Index { ExprPtr base; std::vector<IndexItem> items; };
struct Member { ExprPtr base; std::string name; Span name_span; };

enum class TransformKind : uint8_t { Jit, Vmap, Pmap, Grad };
const char* spelling(TransformKind kind);
/// `vmap[0, _, ids=1, out=0] operand`. Specs are plain expressions made of IntLiteral, Placeholder, Tuple and Record.
struct Transform {
  TransformKind kind = TransformKind::Jit;
  std::vector<Argument> specs;     // in source order; positional ones have name ""
  ExprPtr operand;
};

struct Expr {
  Span span;
  std::variant<Name, IntLiteral, FloatLiteral, BoolLiteral, StringLiteral, NoneLiteral, Placeholder, FString, Tuple,
               Record, ArrayLiteral, Comprehension, Block, If, Lambda, Range, Chain, Unary, Call, Pipe, Index, Member,
               Transform>
      node;

  template <class T> const T* as() const { return std::get_if<T>(&node); }
};

// ---- statements ----
struct Let { Pattern pattern; ExprPtr value; bool is_var = false; };
struct FunctionStmt { FunctionPtr function; std::vector<Transform> transforms; };  // outermost first; their operand is null
/// `target = value` or `target op= value`. target is a Name, or Index/Member chains over a Name.
struct Assign { ExprPtr target; std::optional<BinaryOp> op; Span op_span; ExprPtr value; };
struct For { Pattern pattern; ExprPtr source; ExprPtr body; };
struct While { ExprPtr condition; ExprPtr body; };
struct Break {};
struct Continue {};
struct Return { ExprPtr value; };   // may be null
/// `import "file.tct" as m` (is_file) or `import text` / `import text as t`.
struct Import {
  std::string path;
  bool is_file = false;
  std::string alias;
  /// The name it binds: the alias, else the path's last part without its ending.
  std::string bound_name() const;
};
struct ExprStmt { ExprPtr value; };

struct Stmt {
  Span span;
  std::variant<Let, FunctionStmt, Assign, For, While, Break, Continue, Return, Import, ExprStmt> node;

  template <class T> const T* as() const { return std::get_if<T>(&node); }
};

struct Program { std::vector<StmtPtr> statements; };

}  // namespace tercet::ast
