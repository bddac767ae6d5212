// What tells one build of the compiler from another: the linker's build identifiers (ELF note NT_GNU_BUILD_ID) of the
// file that holds this code and of LLVM where that is a library of its own, with LLVM's version.
#pragma once
#include <string>

namespace tercet::codegen {

/// Empty when this program was linked without an identifier.
const std::string& build_id();

}  // namespace tercet::codegen
