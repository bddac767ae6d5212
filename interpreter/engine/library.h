// Definitions of stdlib/: found by name without parsing, parsed when first used.
#pragma once
#include <string>
#include <vector>

#include "base/source.h"
#include "grammar/ast.h"

namespace tercet {

/// The definition `fn name(…)` of stdlib/, or null. `sources` gets its text, so that errors can show it.
ast::FunctionPtr read_library_function(const std::string& name, SourceMap& sources);
/// The names of all definitions.
std::vector<std::string> library_names();

}  // namespace tercet
