// Work cut into chunks that threads take as they become free. The calling thread polls between its own.
#pragma once
#include <tbb/parallel_for.h>

#include <atomic>
#include <thread>

#include "codegen/run/threads.h"
#include "interpreter/ir/eval.h"
#include "interpreter/runtime/thread_sanitizer.h"

namespace tercet::codegen {

/// one(chunk) for every chunk. When a poll throws, the other threads stop at their next chunk.
template <class One>
void run_chunks(int64_t chunks, int threads, EvalContext& context, const One& one) {
  if (threads == 1 || chunks == 1) {
    for (int64_t c = 0; c < chunks; ++c) {
      if (c) context.poll();
      one(c);
    }
    return;
  }
  std::atomic<bool> stop{false};
  const auto caller = std::this_thread::get_id();
  auto step = [&](int64_t c) {
    observe();
    if (stop.load(std::memory_order_relaxed)) return;
    if (std::this_thread::get_id() == caller) {
      try {
        context.poll();
      } catch (...) {
        stop = true;
        throw;
      }
    }
    one(c);
    publish();
  };
  publish();
  arena_of(threads).execute([&] { tbb::parallel_for(int64_t{0}, chunks, step, tbb::simple_partitioner()); });
  observe();
}

/// Chunk c of `units` that are dealt out evenly begins here; chunk `chunks` is the end.
inline int64_t chunk_begin(int64_t c, int64_t chunks, int64_t units) { return units / chunks * c + std::min(c, units % chunks); }

}  // namespace tercet::codegen
