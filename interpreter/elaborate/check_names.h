// Names found without running: what `tercet check` tells before any value is known.
#pragma once
#include <functional>

#include "base/diagnostic.h"
#include "grammar/ast.h"

namespace tercet {

/// Reports every name that nothing binds where it is read. A function's body may use any global of the file, whether
/// defined before or after it; a statement only those before. `known` tells names from outside the file.
std::vector<Diagnostic> check_names(const ast::Program& program, const std::function<bool(const std::string&)>& known,
                                    const std::vector<std::string>& candidates);

}  // namespace tercet
