// Runs a loop as one piece of machine code (plan/loop_code.h): finds its sizes, gives it memory, and calls it slice by slice,
// so that polls, progress and better code come between steps of the outermost loop. Steps that are lanes run side by side.
#pragma once
#include <atomic>
#include <thread>

#include "codegen/jit/tiers.h"
#include "codegen/plan/loop_code.h"
#include "codegen/run/threads.h"
#include "interpreter/ir/eval.h"
#include "interpreter/runtime/progress.h"

namespace tercet::codegen {

class LoopRun {
 public:
  /// `number`: of the loop in its set. The sizes that the loop's operands are made of are in context.dims.
  LoopRun(const LoopCode& loop, size_t number, EvalContext& context, TieredCode& code, const RunOptions& options);
  /// Every kernel is small enough for one thread and has something to do; else the general way is as good or needed.
  bool fits();
  /// Once, after fits(). Throws CheckFailed, and what polls throw.
  std::vector<Array> run(std::vector<Array> operands);

 private:
  class Worker;
  bool find_sizes();
  bool find_memory();
  bool kernels_fit();
  bool fits(const LoopCode::RunKernel& run, const LoopCode::Repeat& around);
  void take_in(std::vector<Array> operands);
  std::vector<Array> run_lanes();
  bool pays_threads() const;
  void count(int64_t work);
  void advance(int64_t steps);

  const LoopCode& loop_;
  size_t number_;
  EvalContext& context_;
  TieredCode& code_;
  const RunOptions& options_;
  std::vector<int64_t> sizes_, bytes_, lengths_, costs_, cells_;
  std::vector<Shape> shapes_;      // of the pointers
  std::vector<Array> arrays_;      // the same; those that the loop makes are its workers'
  LoopSteps* progress_ = nullptr;
  std::thread::id listens_;        // the thread whose progress it is
  std::atomic<int64_t> unshown_{0};
};

}  // namespace tercet::codegen
