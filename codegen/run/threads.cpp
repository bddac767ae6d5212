#include "codegen/run/threads.h"

#include <algorithm>

#include "interpreter/runtime/device.h"
#include "interpreter/runtime/processors.h"

namespace tercet::codegen {

int thread_count(int asked) { return asked > 0 ? asked : usable_processors(); }

RunOptions on_this_device(RunOptions options) {
  if (HostDevice* device = current_device()) options.threads = std::min(options.threads, device->threads());
  return options;
}

}  // namespace tercet::codegen
