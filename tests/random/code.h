// Program text as a tree, so that a failing program can be made smaller by leaving parts of it out.
// Example:  code({DType::F32, {3}}, "($ + $)", {x, y})->text() is "(x + y)".
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "interpreter/runtime/dtype.h"

namespace tercet::random_programs {

/// What an expression evaluates to in the one run that the generator has in mind.
struct Ty {
  DType dtype = DType::F32;
  std::vector<int> shape;
  int rank() const { return static_cast<int>(shape.size()); }
  int64_t count() const {
    int64_t n = 1;
    for (int s : shape) n *= s;
    return n;
  }
  friend bool operator==(const Ty&, const Ty&) = default;
};

struct Node;
using Code = std::shared_ptr<Node>;

struct Node {
  enum Kind { Expression, Statement, Fixed } kind = Fixed;   // a Fixed node is never replaced itself
  Ty type;                                                    // of an Expression
  std::string form;                                           // each `$` stands for the next child
  std::vector<Code> children;

  std::string text() const {
    std::string out;
    write(out);
    return out;
  }
  void write(std::string& out) const {
    size_t next = 0;
    for (char c : form) {
      if (c == '$') children[next++]->write(out);
      else out += c;
    }
  }
};

inline Code code(Ty type, std::string form, std::vector<Code> children = {}) {
  return std::make_shared<Node>(Node{Node::Expression, std::move(type), std::move(form), std::move(children)});
}
inline Code fixed(std::string form, std::vector<Code> children = {}) {
  return std::make_shared<Node>(Node{Node::Fixed, {}, std::move(form), std::move(children)});
}
inline Code statement(std::string form, std::vector<Code> children = {}) {
  return std::make_shared<Node>(Node{Node::Statement, {}, std::move(form), std::move(children)});
}
/// Children one after another.
inline Code sequence(std::vector<Code> parts) {
  std::string form(parts.size(), '$');
  return fixed(std::move(form), std::move(parts));
}

/// "(2, 3)", "(5,)", "()"
inline std::string shape_text(const std::vector<int>& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

/// Small text of that type without any part: what an expression shrinks to.
inline std::string plain_text(const Ty& t) {
  std::string name = name_of(t.dtype);
  if (t.rank()) return t.dtype == DType::Bool ? "bool(zeros(" + shape_text(t.shape) + "))" : "ones(" + shape_text(t.shape) + ", dtype=" + name + ")";
  return t.dtype == DType::Bool ? "true" : is_float(t.dtype) ? "1.0" + name : is_signed_int(t.dtype) ? "1" + name : "(1" + name + ")";
}

}  // namespace tercet::random_programs
