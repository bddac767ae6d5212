// Names found without running: what `tercet check` tells before any value is known.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "grammar/ast.h"
#include "interpreter/elaborate/signature.h"

namespace tercet {

/// What imports bind: the names of each.
using ModuleNames = std::map<std::string, std::vector<std::string>>;

/// Reports every name that nothing binds where it is read. A function's body may use any global of the file, whether
/// defined before or after it; a statement only those before. `known` tells names from outside the file, `signature` what those
/// functions take: calls of them, and of the file's own functions, have arguments for all parameters and no others.
std::vector<Diagnostic> check_names(const ast::Program& program, const std::function<bool(const std::string&)>& known,
                                    const std::vector<std::string>& candidates, const ModuleNames& modules,
                                    const std::function<std::optional<Signature>(const std::string&)>& signature);
/// What is said of `m.name` when the module has no such name.
Diagnostic no_member(const std::vector<std::string>& names, const std::string& name, Span span);
/// The globals that a file binds; those of one statement.
std::vector<std::string> bound_names(const ast::Program& program);
std::vector<std::string> bound_names(const ast::Stmt& statement);

}  // namespace tercet
