// The threads that compiled programs use: one oneTBB arena per number of threads, made when first needed.
#pragma once
#include <functional>

#include "interpreter/ir/eval.h"
#include "interpreter/runtime/device.h"

namespace tercet::codegen {

/// How compiled programs run.
struct RunOptions {
  int threads;
  int64_t block_bytes;  // see CompileOptions
};
/// Number of threads meant by CompileOptions::threads (0: as many as the process may use).
int thread_count(int asked);
/// The same for work of a device of pmap, which has fewer cores.
RunOptions on_this_device(RunOptions options);
/// Calls work() in the arena of that many threads, maybe on another one; the memory budget of this thread and the context's
/// poll go with it.
void in_arena(int threads, EvalContext& context, const std::function<void()>& work);

}  // namespace tercet::codegen
