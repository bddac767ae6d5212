#include "codegen/run/threads.h"

#include <tbb/info.h>

#include <algorithm>

#include "interpreter/runtime/device.h"

namespace tercet::codegen {

int thread_count(int asked) { return asked > 0 ? asked : tbb::info::default_concurrency(); }

RunOptions on_this_device(RunOptions options) {
  if (HostDevice* device = current_device()) options.threads = std::min(options.threads, device->threads());
  return options;
}

}  // namespace tercet::codegen
