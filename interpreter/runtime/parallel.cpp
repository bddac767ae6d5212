#include "interpreter/runtime/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/device.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/processors.h"
#include "interpreter/runtime/thread_sanitizer.h"

namespace tercet {
namespace {

thread_local int limit_of_thread = 0;   // 0: none

/// More chunks than threads, so that rows of unequal length even out.
constexpr int64_t chunks_per_thread = 8;

/// f(at, bytes) for parts, whose first touch takes some 0.1 ms.
template <class F> void in_parts(size_t bytes, F f) {
  constexpr size_t part = 256 << 10;
  for (size_t at = 0; at < bytes; at += part) {
    if (at) poll();
    f(at, std::min(part, bytes - at));
  }
}

}  // namespace

void copy_bytes(void* to, const void* from, size_t bytes) {
  in_parts(bytes, [=](size_t at, size_t n) { std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, n); });
}
void clear_bytes(void* to, size_t bytes) {
  in_parts(bytes, [=](size_t at, size_t n) { std::memset(static_cast<char*>(to) + at, 0, n); });
}

ThreadLimit::ThreadLimit(int threads) : previous_(limit_of_thread) {
  if (threads > 0) limit_of_thread = threads;
}
ThreadLimit::~ThreadLimit() { limit_of_thread = previous_; }

int64_t available_threads() {
  const int all = tbb::this_task_arena::max_concurrency();
  if (limit_of_thread > 0) return std::min(limit_of_thread, all);
  return all == tbb::info::default_concurrency() ? usable_processors() : all;   // an arena of another size was asked for
}

int64_t chunk_count(int64_t count, int64_t grain) {
  int64_t most = chunks_per_thread * available_threads();
  return std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), count > 0, most);
}

void parallel_chunks(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t, int64_t)>& body) {
  int64_t chunks = chunk_count(count, grain);
  auto begin_of = [&](int64_t chunk) {
    return count / chunks * chunk + std::min(chunk, count % chunks);
  };
  if (chunks == 1) {
    poll();
    return body(0, 0, count);
  }
  std::vector<std::exception_ptr> failures(static_cast<size_t>(chunks));
  std::shared_ptr<MemoryBudget> budget = current_budget();
  const Poll* poll_of_caller = current_poll();
  auto run = [&](int64_t chunk) {
    observe();
    BudgetScope budget_scope(budget);
    PollScope poll_scope(poll_of_caller);
    try {
      poll();
      body(chunk, begin_of(chunk), begin_of(chunk + 1));
    } catch (...) {
      failures[static_cast<size_t>(chunk)] = std::current_exception();
    }
    publish();
  };
  publish();
  const int64_t threads = available_threads();
  if (threads >= tbb::this_task_arena::max_concurrency()) tbb::parallel_for(int64_t{0}, chunks, run);
  else if (threads == 1) for (int64_t chunk = 0; chunk < chunks; ++chunk) run(chunk);
  else arena_of(static_cast<int>(threads)).execute([&] { tbb::parallel_for(int64_t{0}, chunks, run); });
  observe();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void limit_threads(int threads) {
  static std::unique_ptr<tbb::global_control> limit;
  limit.reset();
  limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
}

}  // namespace tercet
