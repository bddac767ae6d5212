// Runs one kernel over its iteration space: at once when the work is small, else cut into chunks for several threads
// and for polling. How it is cut never changes a result.
#pragma once
#include <array>
#include <span>

#include "codegen/plan/kernel.h"
#include "codegen/plan/kernel_abi.h"
#include "codegen/run/threads.h"
#include "interpreter/ir/eval.h"

namespace tercet::codegen {

/// Scalar operations, of which a core does some ten per nanosecond, that are not worth waking a thread for.
inline constexpr int64_t small_work = 400'000;

/// Scalar operations of a kernel with `kept` points of its loops that are not reduced and `reduced` of those that are.
int64_t work_of(const Kernel& kernel, int64_t kept, int64_t reduced);
/// Of a kernel with these extents of its loops.
int64_t work_of(const Kernel& kernel, std::span<const int64_t> extents);

/// ranges[2 l] .. ranges[2 l + 1] is the part of loop l to run, see kernel_abi.h.
using Ranges = std::array<int64_t, 2 * max_rank + 2>;

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
