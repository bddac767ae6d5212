#include "codegen/run/band.h"

#include <tbb/task_arena.h>

#include <algorithm>

#include "codegen/run/chunks.h"
#include "codegen/run/launch.h"
#include "codegen/run/stream.h"
#include "interpreter/runtime/reduce.h"

namespace tercet::codegen {
namespace {

constexpr int64_t cache_share = 256 << 10;  // bytes of a block: a part of the second-level cache
constexpr int64_t rows_of_whole_lines = 16;  // of elements of four bytes or more

int64_t block_bytes(const BandLaunch& l) { return l.options.block_bytes > 0 ? l.options.block_bytes : cache_share; }

const KernelStep& step_of(const BandLaunch& l, size_t m) { return std::get<KernelStep>(l.program.steps[l.band.first + m].what); }
const Kernel& kernel_of(const BandLaunch& l, size_t m) { return l.program.kernels[step_of(l, m).kernel]; }
int64_t size_at(const BandLaunch& l, SizeSlot slot) { return l.sizes[static_cast<size_t>(slot)]; }

int64_t elements(const BandLaunch& l, ValueId v) {
  int64_t count = 1;
  for (SizeSlot s : l.program.shapes[v]) count *= size_at(l, s);
  return count;
}

int64_t bytes_of(const BandLaunch& l, ValueId v) {
  return elements(l, v) * static_cast<int64_t>(size_of(l.program.function->type(v).dtype));
}

/// Bytes of a row of everything that the band writes.
int64_t row_bytes(const BandLaunch& l) {
  int64_t bytes = 0;
  for (size_t m = 0; m < l.band.count; ++m)
    for (ValueId v : step_of(l, m).written) bytes += bytes_of(l, v);
  return bytes / size_at(l, l.band.rows);
}

/// Every reduced sequence is one block.
bool reduces_at_once(const BandLaunch& l, size_t m) {
  const Kernel& k = kernel_of(l, m);
  int64_t reduced = 1;
  for (size_t i = 0; i < k.loops.size(); ++i)
    if (k.loops[i].reduced) reduced *= size_at(l, step_of(l, m).extents[i]);
  return k.reductions.empty() || (reduced > 0 && reduced <= reduce_block);
}

/// The kernel's results are large, and the band reads none of them.
bool streams_results(const BandLaunch& l, size_t m) {
  int64_t bytes = 0;
  for (ValueId v : step_of(l, m).written) {
    for (size_t later = m + 1; later < l.band.count; ++later)
      for (ValueId read : kernel_of(l, later).buffers)
        if (read == v) return false;
    bytes += bytes_of(l, v);
  }
  return streams(bytes, l.options);
}

class Run {
 public:
  Run(const BandLaunch& launch, std::span<Array> values) : l_(launch), values_(values), rows_(size_at(launch, launch.band.rows)) {
    for (size_t m = 0; m < l_.band.count; ++m) stream_.push_back(streams_results(l_, m));
  }

  bool operator()(EvalContext& context) {
    int64_t per_block = std::max<int64_t>(1, block_bytes(l_) / std::max<int64_t>(1, row_bytes(l_)));
    // Blocks of sixteen rows begin where a cache line does, whatever a row's length, so that results can be streamed.
    const int64_t grain = per_block >= 2 * rows_of_whole_lines ? rows_of_whole_lines : 1;
    const int64_t units = (rows_ + grain - 1) / grain;
    int64_t blocks = std::max((rows_ + per_block - 1) / per_block, std::min<int64_t>(units, l_.options.threads));
    blocks = std::min(blocks, units);
    per_block = (units + blocks - 1) / blocks * grain;
    auto begin_of = [&](int64_t c) { return std::min(rows_, chunk_begin(c, blocks, units) * grain); };
    workspaces_.resize(static_cast<size_t>(l_.options.threads));
    for (Workspace& w : workspaces_) w = workspace(per_block);
    auto one = [&](int64_t c) {
      int thread = l_.options.threads == 1 ? 0 : std::max(0, tbb::this_task_arena::current_thread_index());
      block(workspaces_[static_cast<size_t>(thread)], begin_of(c), begin_of(c + 1));
    };
    run_chunks(blocks, l_.options.threads, context, one);
    return std::any_of(workspaces_.begin(), workspaces_.end(), [](const Workspace& w) { return w.failed != 0; });
  }

 private:
  /// What one thread needs: memory for the scratch values of one block.
  struct Workspace {
    std::vector<Array> scratch;
    std::vector<std::byte*> buffers;
    uint8_t failed = 0;
  };
  Workspace workspace(int64_t rows) const {
    Workspace out;
    for (ValueId v : l_.band.scratch) out.scratch.push_back(Array::make(l_.program.function->type(v).dtype, {rows * (elements(l_, v) / rows_)}));
    return out;
  }
  /// Where row 0 of a value would be. Kernels count rows of the whole, so a block's memory seems to lie there.
  std::byte* base(Workspace& w, ValueId v, int64_t first) const {
    for (size_t k = 0; k < w.scratch.size(); ++k)
      if (l_.band.scratch[k] == v) return w.scratch[k].raw() - first * (bytes_of(l_, v) / rows_);
    return values_[v].raw();
  }

  void block(Workspace& w, int64_t first, int64_t end) const {
    for (size_t m = 0; m < l_.band.count; ++m) {
      const KernelStep& step = step_of(l_, m);
      const Kernel& k = kernel_of(l_, m);
      int64_t units = size_at(l_, l_.band.units[m]);
      Ranges ranges{};
      ranges[0] = first * units;
      ranges[1] = end * units;
      for (size_t i = 1; i < k.loops.size(); ++i)   // the first reduced loop counts blocks, of which there is one
        ranges[2 * i + 1] = i == k.first_reduced() ? 1 : size_at(l_, step.extents[i]);
      w.buffers.clear();
      for (ValueId v : k.buffers) w.buffers.push_back(base(w, v, first));
      KernelContext context{reinterpret_cast<void* const*>(w.buffers.data()), l_.sizes, &w.failed, nullptr, 0, stream_[m]};
      l_.code[step.kernel](&context, ranges.data());
    }
  }

  const BandLaunch& l_;
  std::span<Array> values_;
  int64_t rows_;
  std::vector<Workspace> workspaces_;
  std::vector<uint8_t> stream_;   // per kernel
};

}  // namespace

bool runs_in_blocks(const BandLaunch& l) {
  int64_t rows = size_at(l, l.band.rows);
  if (rows < 2 * l.options.threads) return false;
  for (size_t m = 0; m < l.band.count; ++m)
    if (!reduces_at_once(l, m)) return false;
  int64_t row = row_bytes(l), block = block_bytes(l);
  return rows * row > block && (row <= block || rows >= 8 * l.options.threads);
}

bool run_band(const BandLaunch& launch, std::span<Array> values, EvalContext& context) { return Run(launch, values)(context); }

}  // namespace tercet::codegen
