// The AST as S-expressions, for `tercet ir --stage ast` and for tests.
//
// Example: `let y = -x ** 2 + f(a, k=1)` prints
//   (let y (+ (neg (** x 2)) (call f a :k 1)))
// Blocks, functions and loops put their statements on lines of their own, indented by two spaces.
#pragma once
#include <string>

#include "grammar/ast.h"

namespace tercet {

std::string print(const ast::Program& program);
std::string print(const ast::Expr& expr);

}  // namespace tercet
