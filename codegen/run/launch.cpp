#include "codegen/run/launch.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "codegen/run/block_totals.h"
#include "codegen/run/threads.h"
#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

// In scalar operations, of which a core does some ten per nanosecond.
constexpr int64_t small_work = 400'000;        // not worth waking a thread for
constexpr int64_t chunk_work = 8'000'000;      // at most about a millisecond: how long a poll may have to wait
constexpr int64_t vector_chunk = 64;           // parts of the vector loop begin at multiples of this

using Ranges = std::array<int64_t, 2 * max_rank + 2>;

class Run {
 public:
  Run(const Launch& launch, EvalContext& context) : l_(launch), k_(launch.kernel), context_(context) {}

  bool operator()() {
    for (size_t l = 0; l < k_.loops.size(); ++l) {
      ranges_[2 * l] = 0;
      ranges_[2 * l + 1] = l_.extents[l];
      if (!k_.loops[l].reduced) kept_ *= l_.extents[l];
      points_ *= l_.extents[l];
    }
    if (kept_ == 0) return false;
    int64_t work = points_ * k_.cost;
    if (k_.schedule == Schedule::RowReduce) {
      int64_t& blocks = ranges_[2 * k_.loops.size() - 1];
      blocks = (blocks + reduce_block - 1) / reduce_block;
      if (work > small_work && blocks > 1 && (kept_ < l_.threads || work / kept_ > chunk_work)) return by_blocks(blocks, work / kept_);
    }
    size_t loop = loop_to_cut();
    if (work <= small_work || loop == k_.loops.size()) call(ranges_, nullptr);
    else in_chunks(ranges_, loop, work, nullptr);
    return failed_ != 0;
  }

 private:
  void call(const Ranges& ranges, void* const* totals) {
    KernelContext context{reinterpret_cast<void* const*>(l_.buffers.data()), l_.sizes, &failed_, totals};
    l_.code(&context, ranges.data());
  }

  bool may_cut(size_t loop) const { return !k_.loops[loop].reduced; }
  /// The outermost loop with parts for every thread, else the longest; the number of loops when none may be cut.
  size_t loop_to_cut() const {
    size_t longest = k_.loops.size();
    for (size_t l = 0; l < k_.loops.size(); ++l) {
      if (!may_cut(l)) continue;
      if (l_.extents[l] >= 4 * l_.threads) return l;
      if (longest == k_.loops.size() || l_.extents[l] > l_.extents[longest]) longest = l;
    }
    return longest;
  }

  /// Runs all of `loop`'s range, in parts. Threads take the parts as they become free.
  void in_chunks(const Ranges& all, size_t loop, int64_t work, void* const* totals) {
    bool vector = loop + 1 == k_.loops.size() && k_.schedule != Schedule::RowReduce;
    int64_t begin = all[2 * loop], count = all[2 * loop + 1] - begin, grain = vector ? vector_chunk : 1;
    int64_t units = (count + grain - 1) / grain;
    int64_t chunks = std::min(units, std::max<int64_t>(l_.threads, (work + chunk_work - 1) / chunk_work));
    if (chunks > l_.threads) chunks = std::min(units, (chunks + l_.threads - 1) / l_.threads * l_.threads);
    auto part = [&](int64_t c) { return std::min(count, (units / chunks * c + std::min(c, units % chunks)) * grain); };
    auto one = [&](int64_t c) {
      Ranges ranges = all;
      ranges[2 * loop] = begin + part(c);
      ranges[2 * loop + 1] = begin + part(c + 1);
      call(ranges, totals);
    };
    if (l_.threads == 1 || chunks == 1) {
      for (int64_t c = 0; c < chunks; ++c) {
        if (c) context_.poll();
        one(c);
      }
      return;
    }
    parallel(chunks, one);
  }

  /// The calling thread polls between its chunks; when that throws, the others stop at their next chunk.
  template <class One> void parallel(int64_t chunks, const One& one) {
    std::atomic<bool> stop{false};
    const auto caller = std::this_thread::get_id();
    arena_of(l_.threads).execute([&] {
      tbb::parallel_for(int64_t{0}, chunks, [&](int64_t c) {
        if (stop.load(std::memory_order_relaxed)) return;
        if (std::this_thread::get_id() == caller) {
          try {
            context_.poll();
          } catch (...) {
            stop = true;
            throw;
          }
        }
        one(c);
      }, tbb::simple_partitioner());
    });
  }

  /// Few long rows: the blocks of each row in parallel, then their totals combined.
  bool by_blocks(int64_t blocks, int64_t work) {
    BlockTotals totals(k_, blocks);
    size_t row_loop = k_.loops.size() - 1;
    for (int64_t row = 0; row < kept_; ++row) {
      Ranges ranges = ranges_;
      int64_t rest = row;
      for (size_t l = row_loop; l-- > 0; rest /= l_.extents[l]) {
        ranges[2 * l] = rest % l_.extents[l];
        ranges[2 * l + 1] = ranges[2 * l] + 1;
      }
      in_chunks(ranges, row_loop, work, totals.pointers());
      for (size_t r = 0; r < k_.reductions.size(); ++r)
        totals.store(r, l_.buffers[static_cast<size_t>(k_.reductions[r].buffer)], row);
    }
    return failed_ != 0;
  }

  const Launch& l_;
  const Kernel& k_;
  EvalContext& context_;
  Ranges ranges_{};
  int64_t kept_ = 1, points_ = 1;
  uint8_t failed_ = 0;
};

}  // namespace

bool run_kernel(const Launch& launch, EvalContext& context) { return Run(launch, context)(); }

}  // namespace tercet
