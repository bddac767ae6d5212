#include "grammar/ast.h"

#include <array>

namespace tercet::ast {

const char* spelling(BinaryOp op) {
  static constexpr std::array names{"or", "and", "==", "!=", "<", "<=", ">",  ">=", "|", "^", "&",
                                    "<<", ">>",  "+",  "-",  "*", "/",  "//", "%",  "@", "**"};
  return names[static_cast<size_t>(op)];
}

const char* spelling(UnaryOp op) {
  static constexpr std::array names{"-", "+", "~", "not"};
  return names[static_cast<size_t>(op)];
}

const char* spelling(TransformKind kind) {
  static constexpr std::array names{"jit", "vmap", "pmap", "grad"};
  return names[static_cast<size_t>(kind)];
}

}  // namespace tercet::ast
