#include "codegen/run/threads.h"

#include <algorithm>

#include "interpreter/runtime/device.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/processors.h"

namespace tercet::codegen {

int thread_count(int asked) { return asked > 0 ? asked : usable_processors(); }

RunOptions on_this_device(RunOptions options) {
  if (HostDevice* device = current_device()) options.threads = std::min(options.threads, device->threads());
  return options;
}

void in_arena(int threads, EvalContext& context, const std::function<void()>& work) {
  std::shared_ptr<MemoryBudget> budget = current_budget();
  const Poll asked = [&context] { context.poll(); };
  arena_of(threads).execute([&] {
    BudgetScope budget_scope(budget);
    PollScope poll_scope(&asked);
    work();
  });
}

}  // namespace tercet::codegen
