// Loops of the reference evaluator that run for long go on as compiled code, with the same results: a program need not say `jit`
// for its loops over single elements to be fast.
#pragma once
#include <mutex>
#include <unordered_map>

#include "interpreter/engine/backend.h"

namespace tercet {

/// Of one run, or of all calls of a function that was taken out of its session. Thread-safe.
class HotLoops {
 public:
  /// Null `backend`: there are none.
  HotLoops(Backend* backend, const CompileOptions& options, CompileLoops when) : backend_(backend), options_(options), when_(when) {}
  /// The loop's code, when it has taken so much that compiling it pays; null as long as not, where there is none, and while another
  /// thread asks.
  /// `steps`: as in EvalContext::run_loop.
  std::shared_ptr<const Executable> code_for(const Function& f, const Op& op, const DimEnv& sizes, int64_t steps);

 private:
  struct Loop {
    FunctionPtr body;                 // kept, so that no other has its address
    std::vector<Type> operands;
    double operations = 0;            // so far
    bool asked = false;
    std::shared_ptr<const Executable> code;
  };
  Backend* backend_;
  CompileOptions options_;
  CompileLoops when_;
  std::mutex mutex_;
  std::unordered_map<const Function*, Loop> loops_;
};

}  // namespace tercet
