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

std::string Import::bound_name() const {
  if (!alias.empty() || !is_file) return alias.empty() ? path : alias;
  std::string last = path.substr(path.find_last_of('/') + 1);
  return last.substr(0, last.find('.'));
}

}  // namespace tercet::ast
