// Which names a piece of program reads, and which it assigns: found on the syntax, before elaboration.
#pragma once
#include <set>
#include <string>

#include "grammar/ast.h"

namespace tercet {

/// Names that the function reads and does not bind itself (an over-estimate: a name bound in one block counts as bound
/// only inside it).
void free_names(const ast::FunctionDef& f, std::set<std::string>& out);
/// Roots of assignment targets (`x = …`, `x[i] += …`), not those inside inner functions. Early exits count as
/// assignments to the hidden names below.
void assigned_names(const ast::Expr& e, std::set<std::string>& out);
void assigned_names(const ast::Stmt& s, std::set<std::string>& out);

/// Hidden variables of a function that leave a loop or a function early sets.
inline constexpr const char* break_flag = "%break";
inline constexpr const char* continue_flag = "%continue";
inline constexpr const char* return_flag = "%return";
inline constexpr const char* return_value = "%value";

}  // namespace tercet
