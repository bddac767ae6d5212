#include "codegen/run/threads.h"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "interpreter/runtime/device.h"

namespace tercet::codegen {

int thread_count(int asked) { return asked > 0 ? asked : tbb::info::default_concurrency(); }

RunOptions on_this_device(RunOptions options) {
  if (HostDevice* device = current_device()) options.threads = std::min(options.threads, device->threads());
  return options;
}

tbb::task_arena& arena_of(int threads) {
  if (HostDevice* device = current_device()) return device->arena();
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<tbb::task_arena>> arenas;
  static std::unique_ptr<tbb::global_control> allowed;  // an arena wider than the machine needs leave
  static int most = 0;
  std::lock_guard lock(mutex);
  auto& arena = arenas[threads];
  if (!arena) {
    if (threads > std::max(most, tbb::info::default_concurrency())) {
      allowed = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                      static_cast<size_t>(threads));
      most = threads;
    }
    arena = std::make_unique<tbb::task_arena>(threads);
  }
  return *arena;
}

}  // namespace tercet::codegen
