// One run of a program: its values and sizes, and the steps in order.
#pragma once
#include "codegen/jit/tiers.h"
#include "codegen/plan/program.h"
#include "codegen/run/threads.h"
#include "interpreter/ir/eval.h"

namespace tercet::codegen {

class CompiledContext;

class ProgramFrame {
 public:
  ProgramFrame(const ProgramSet& set, const Program& program, CompiledContext& context, TieredCode& code, const RunOptions& options)
      : set_(set), p_(program), context_(context), code_(code), options_(options) {}
  /// Any number of times, unless it throws: CheckFailed when a check does not hold, and what `context` throws.
  std::vector<Array> run(std::vector<Array> arguments);

 private:
  void bind(const std::vector<Binding>& bindings);
  bool run_band(const Band& band);
  bool is_possible(const KernelStep& step) const;
  void run_step(const KernelStep& step);
  void run_step(const AliasStep& step);
  void run_step(const CopyStep& step);
  void run_step(const NativeStep& step);
  /// As one piece of machine code; false when it is left to its row.
  bool run_loop(const NativeStep& step);
  /// The operands of a native step; those that die are moved out.
  std::vector<Array> operands_of(const Op& op);
  void require_readable(const KernelStep& step) const;
  Array output(const KernelStep& step, size_t k);
  std::span<const int64_t> extents_of(const KernelStep& step);
  /// The machine code of the program's kernels, by number, for running these steps.
  const std::vector<KernelFunction>& code_for(std::span<const Step> steps);
  Shape shape_of(ValueId v) const;

  const ProgramSet& set_;
  const Program& p_;
  CompiledContext& context_;
  TieredCode& code_;
  const RunOptions& options_;
  const Step* step_ = nullptr;
  std::vector<Array> values_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> extents_;
  std::vector<std::byte*> buffers_;
};

}  // namespace tercet::codegen
