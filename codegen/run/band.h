// Runs the kernels of a band block of rows by block of rows.
#pragma once
#include <span>

#include "codegen/jit/jit.h"
#include "codegen/plan/program.h"
#include "codegen/run/threads.h"
#include "interpreter/ir/eval.h"

namespace tercet::codegen {

struct BandLaunch {
  const Program& program;
  const Band& band;
  const std::vector<KernelFunction>& code;  // by kernel
  const int64_t* sizes;
  const RunOptions& options;
};

/// Whether blocks pay: the arrays are larger than a block, there are rows for all threads, and no reduction is cut into
/// blocks of its own. Otherwise the steps run one after another.
bool runs_in_blocks(const BandLaunch& launch);
/// `values` has the band's arrays but for its scratch. Returns true when a check failed; throws what `context.poll()`
/// throws.
bool run_band(const BandLaunch& launch, std::span<Array> values, EvalContext& context);

}  // namespace tercet::codegen
