// The threads that compiled programs use: one oneTBB arena per number of threads, made when first needed.
#pragma once
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

}  // namespace tercet::codegen
