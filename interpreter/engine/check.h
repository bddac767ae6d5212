// Finding errors without running.
#pragma once
#include <vector>

#include "grammar/ast.h"
#include "interpreter/ir/function.h"

namespace tercet {

/// The types that a function's annotations say; one name is one size. Error `name` where a parameter has none.
std::vector<Type> annotated_types(const ast::FunctionDef& f);

}  // namespace tercet
