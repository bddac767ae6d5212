#include "codegen/run/launch.h"

#include <algorithm>

#include "codegen/run/block_totals.h"
#include "codegen/run/chunks.h"
#include "codegen/run/stream.h"
#include "interpreter/runtime/reduce.h"

namespace tercet::codegen {
namespace {

constexpr int64_t chunk_work = 8'000'000;  // at most about a millisecond: how long a poll may have to wait
constexpr int64_t tree_across_lanes = 48;   // of a reduction, in points
constexpr int64_t vector_chunk = 64;       // parts of the vector loop begin at multiples of this

class Run {
 public:
  Run(const Launch& launch, EvalContext& context) : l_(launch), k_(launch.kernel), context_(context) {}

  bool operator()() {
    int64_t reduced = 1;
    for (size_t l = 0; l < k_.loops.size(); ++l) {
      ranges_[2 * l] = 0;
      ranges_[2 * l + 1] = l_.extents[l];
      (k_.loops[l].reduced ? reduced : kept_) *= l_.extents[l];
    }
    if (kept_ <= 0) return false;
    if (!k_.reductions.empty()) return reduce(reduced);
    int64_t bytes = 0;
    for (const Store& s : k_.stores) bytes += kept_ * static_cast<int64_t>(size_of(s.dtype));
    stream_ = streams(bytes, l_.options);
    launch(reduced, nullptr);
    return failed_ != 0;
  }

 private:
  /// The reduced loops run as one sequence, cut into blocks.
  bool reduce(int64_t count) {
    if (count <= 0) {
      for (size_t r = 0; r < k_.reductions.size(); ++r) store_empty(k_, r, result(r), kept_);
      return false;
    }
    size_t first = k_.first_reduced();
    int64_t blocks = (count + reduce_block - 1) / reduce_block;
    ranges_[2 * first + 1] = blocks;
    block_loop_ = first;
    if (blocks == 1) {
      launch(count, nullptr);
    } else {
      BlockTotals totals(k_, blocks, kept_);
      launch(count, totals.pointers());
      for (size_t r = 0; r < k_.reductions.size(); ++r) totals.store(r, result(r));
    }
    return failed_ != 0;
  }
  std::byte* result(size_t r) const { return l_.buffers[static_cast<size_t>(k_.reductions[r].buffer)]; }

  void launch(int64_t reduced, void* const* totals) {
    int64_t work = work_of(k_, kept_, reduced);
    size_t loop = loop_to_cut();
    if (work <= small_work)
      call(ranges_, totals);
    else if (loop == k_.loops.size())
      k_.scatter ? in_order(ranges_, 0, work) : call(ranges_, totals);
    else
      in_chunks(ranges_, loop, work, totals);
  }
  /// A scatter's loops, which may not be cut for threads, are cut for polls: their parts run one after another.
  void in_order(const Ranges& all, size_t loop, int64_t work) {
    while (loop + 1 < k_.loops.size() && all[2 * loop + 1] - all[2 * loop] == 1) ++loop;
    if (loop == k_.loops.size() || work <= chunk_work) return call(all, nullptr);
    const bool vector = loop + 1 == k_.loops.size();
    const int64_t begin = all[2 * loop], count = all[2 * loop + 1] - begin, grain = vector ? vector_chunk : 1;
    const int64_t units = (count + grain - 1) / grain, chunks = std::min(units, (work + chunk_work - 1) / chunk_work);
    for (int64_t c = 0; c < chunks; ++c) {
      if (c) context_.poll();
      Ranges ranges = all;
      ranges[2 * loop] = begin + std::min(count, chunk_begin(c, chunks, units) * grain);
      ranges[2 * loop + 1] = begin + std::min(count, chunk_begin(c + 1, chunks, units) * grain);
      if (chunks == units && !vector) in_order(ranges, loop + 1, work / chunks);
      else call(ranges, nullptr);
    }
  }
  void call(const Ranges& ranges, void* const* totals) {
    KernelContext context{reinterpret_cast<void* const*>(l_.buffers.data()), l_.sizes, &failed_, totals, kept_, stream_};
    l_.code(&context, ranges.data());
  }

  bool may_cut(size_t loop) const { return (!k_.loops[loop].reduced && !k_.loops[loop].unrolled) || loop == block_loop_; }
  /// The outermost loop with parts for every thread, else the longest; the number of loops when none may be cut.
  size_t loop_to_cut() const {
    size_t longest = k_.loops.size();
    for (size_t l = 0; l < k_.loops.size(); ++l) {
      if (!may_cut(l)) continue;
      int64_t parts = ranges_[2 * l + 1];
      if (parts >= 4 * l_.options.threads) return l;
      if (longest == k_.loops.size() || parts > ranges_[2 * longest + 1]) longest = l;
    }
    return longest;
  }

  /// Runs all of `loop`'s range, in parts. Threads take the parts as they become free.
  void in_chunks(const Ranges& all, size_t loop, int64_t work, void* const* totals) {
    bool vector = loop + 1 == k_.loops.size() && loop != block_loop_;
    int64_t begin = all[2 * loop], count = all[2 * loop + 1] - begin, grain = vector ? vector_chunk : 1;
    int64_t units = (count + grain - 1) / grain;
    int64_t chunks = std::min(units, std::max<int64_t>(l_.options.threads, (work + chunk_work - 1) / chunk_work));
    if (chunks > l_.options.threads) chunks = std::min(units, (chunks + l_.options.threads - 1) / l_.options.threads * l_.options.threads);
    auto part = [&](int64_t c) { return std::min(count, chunk_begin(c, chunks, units) * grain); };
    auto one = [&](int64_t c) {
      Ranges ranges = all;
      ranges[2 * loop] = begin + part(c);
      ranges[2 * loop + 1] = begin + part(c + 1);
      k_.scatter ? in_order(ranges, 0, work / chunks) : call(ranges, totals);
    };
    run_chunks(chunks, l_.options.threads, context_, one);
  }

  const Launch& l_;
  const Kernel& k_;
  EvalContext& context_;
  Ranges ranges_{};
  int64_t kept_ = 1;              // points of the loops that are not reduced
  size_t block_loop_ = SIZE_MAX;  // the loop whose range counts blocks
  uint8_t failed_ = 0, stream_ = 0;
};

}  // namespace

// A row is whole vectors and a tree across lanes, however short it is.
int64_t work_of(const Kernel& k, int64_t kept, int64_t reduced) {
  bool rows = k.schedule == Schedule::RowReduce;
  int64_t points = rows ? (reduced + vector_lanes - 1) / vector_lanes * vector_lanes + tree_across_lanes : reduced;
  return points * kept * k.cost;
}

int64_t work_of(const Kernel& k, std::span<const int64_t> extents) {
  int64_t kept = 1, reduced = 1;
  for (size_t l = 0; l < k.loops.size(); ++l) (k.loops[l].reduced ? reduced : kept) *= extents[l];
  return work_of(k, kept, reduced);
}

bool run_kernel(const Launch& launch, EvalContext& context) { return Run(launch, context)(); }

}  // namespace tercet::codegen
