// The compiler: turns functions into machine code for this machine through LLVM. It attaches itself to the interpreter
// from above; a build without LLVM lacks this header's functions and runs on the reference evaluator.
// Example:  auto backend = make_llvm_backend();  auto exe = backend->compile(function, {.threads = 2});
#pragma once
#include "interpreter/engine/backend.h"

namespace tercet {

/// Thread-safe. LLVM is initialised by the first compile. Executables keep what they need of the backend alive.
/// `cache`: a directory for compiled code that outlives the process (codegen/jit/object_cache.h). Without one, no file is
/// read or written.
std::unique_ptr<Backend> make_llvm_backend(const std::string& cache = "");

/// What lies in such a directory.
struct CacheInfo {
  int64_t entries = 0, bytes = 0, most_bytes = 0;
  std::string unusable;  // why it is not used; empty when it is
};
CacheInfo cache_info(const std::string& directory);
/// Removes what lies there and returns how many programs that were.
int64_t clear_cache(const std::string& directory);

}  // namespace tercet
