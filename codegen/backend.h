// The compiler: turns functions into machine code for this machine through LLVM. It attaches itself to the interpreter
// from above; a build without LLVM lacks this header's one function and runs on the reference evaluator.
// Example:  auto backend = make_llvm_backend();  auto exe = backend->compile(function, {.threads = 2});
#pragma once
#include "interpreter/engine/backend.h"

namespace tercet {

/// Thread-safe. LLVM is initialised by the first compile. Executables keep what they need of the backend alive.
std::unique_ptr<Backend> make_llvm_backend();

}  // namespace tercet
