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
/// The parts of the library that `import` knows: the files of stdlib/ and the groups of builtins.
std::vector<std::string> library_parts();
/// The names of a part, builtins and definitions; none when there is no such part.
std::vector<std::string> library_part(const std::string& part);

}  // namespace tercet
