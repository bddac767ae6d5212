// Runs one kernel over its iteration space: at once when the work is small, else cut into chunks for several threads
// and for polling. How it is cut never changes a result.
#pragma once
#include <span>

#include "codegen/plan/kernel.h"
#include "codegen/plan/kernel_abi.h"
#include "codegen/run/threads.h"
#include "interpreter/ir/eval.h"

namespace tercet::codegen {

/// Scalar operations, of which a core does some ten per nanosecond, that are not worth waking a thread for.
inline constexpr int64_t small_work = 400'000;

struct Launch {
  const Kernel& kernel;
  KernelFunction code;
  std::span<const int64_t> extents;  // of the loops
  std::span<std::byte* const> buffers;
  const int64_t* sizes;
  const RunOptions& options;
};

/// Returns true when a check failed. Throws what `context.poll()` throws.
bool run_kernel(const Launch& launch, EvalContext& context);

}  // namespace tercet::codegen
