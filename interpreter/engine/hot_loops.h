// Loops of the reference evaluator that run for long go on as compiled code, with the same results: a program need not say `jit`
// for its loops over single elements to be fast.
#pragma once
#include <unordered_map>

#include "interpreter/engine/backend.h"

namespace tercet {

/// Of one run; used by one thread.
class HotLoops {
 public:
  /// Null `backend`: there are none.
  HotLoops(Backend* backend, const CompileOptions& options, CompileLoops when) : backend_(backend), options_(options), when_(when) {}
  /// The loop's code, when it has taken so much in this run that compiling it pays; null as long as not, and where there is none.
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
  std::unordered_map<const Function*, Loop> loops_;
};

}  // namespace tercet
