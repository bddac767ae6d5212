// Whether there is memory for a compilation. LLVM ends the process when it gets none, so it is asked for before.
#pragma once
#include <cstddef>

namespace tercet::codegen {

/// Whether this process may still have what compiling kernels with that many instructions in all takes. It sees limits of the
/// address space and of data (setrlimit), and systems that promise no more than they have; not what others take meanwhile.
bool has_memory_to_compile(size_t instructions);

}  // namespace tercet::codegen
