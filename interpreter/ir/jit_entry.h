// A function that is to be compiled: shared by every call of it, so that its compiled variants outlive the caller.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "interpreter/ir/function.h"

namespace tercet {

/// Counts compilations of one `jit f` of the program, over all argument types.
struct JitCounter { std::atomic<int64_t> compiled{0}; };

/// What the brackets of jit say.
struct JitOptions {
  int64_t threads = 0;                                         // 0: not given
  bool fast_math = false;                                      // math="fast"
};

struct JitEntry;
/// A compiled function's forward pass, which keeps `saved` values of it behind the results, and its backward step.
struct JitGradient {
  std::vector<ValueId> saved;
  std::shared_ptr<JitEntry> forward, backward;
};

struct JitEntry {
  FunctionPtr function;                                        // every size a symbol
  std::shared_ptr<JitCounter> counter = std::make_shared<JitCounter>();
  JitOptions options;
  std::mutex mutex;
  /// Compiled variants by which sizes are 1; an Executable of the back end.
  std::map<std::string, std::shared_ptr<const void>> variants;
  std::map<std::string, std::string> reasons;                  // why each of them was compiled, for `explain`
  std::vector<bool> results_mapped;                            // of a batched version: which results have lanes
  /// Batched versions by which arguments are mapped.
  std::map<std::string, std::shared_ptr<JitEntry>> batched;
  /// Derivatives by which arguments are active.
  std::map<std::string, std::shared_ptr<JitGradient>> gradients;
  std::shared_ptr<JitEntry> pure;                              // the function without its effects, once needed
};

/// The entry of a `call` that is to be compiled (attr "jit"). It is shared and changes, behind its mutex.
inline JitEntry& jit_entry(const Attrs& attrs) {
  auto& handle = attrs.get<std::shared_ptr<const void>>("jit");
  return *const_cast<JitEntry*>(static_cast<const JitEntry*>(handle.get()));
}

}  // namespace tercet
