// Machine code in two tiers. A set is compiled quickly and runs at once; once it has run for about as long as it takes to
// optimise it, that happens in the background, and runs that are under way go on with the optimised code. Both give the same bits.
//
// Example:  auto code = TieredCode::make(set, 512, Optimize::Auto, cache);
//           if (code->counts()) code->will_run(work, threads);
//           code->now().kernels[program][kernel](&context, ranges);
#pragma once
#include <atomic>
#include <mutex>

#include "codegen/jit/jit.h"
#include "interpreter/engine/backend.h"

namespace tercet::codegen {

/// Thread-safe but for making it.
class TieredCode : public std::enable_shared_from_this<TieredCode> {
 public:
  /// Optimised code from the cache where it has it (null: no cache), else of the first tier; with Always, optimised.
  static std::shared_ptr<TieredCode> make(std::shared_ptr<const ProgramSet> set, int simd_bits, Optimize optimize, std::shared_ptr<const ObjectCache> cache);
  ~TieredCode();

  /// Stays for as long as this does.
  const MachineCode& now() const { return *now_.load(std::memory_order_acquire); }
  /// Whether will_run wants to be told: it is not optimised, and may be.
  bool counts() const { return now().tier == Tier::First && optimize_ == Optimize::Auto; }
  /// Kernels are about to run, `work` scalar operations on up to `threads` threads. Asks for optimised code when they have run for
  /// long, and waits for it when this run would gain more than it takes: throws then what poll() throws.
  void will_run(int64_t work, int threads);

 private:
  friend class Background;
  TieredCode(std::shared_ptr<const ProgramSet> set, int simd_bits, Optimize optimize, std::shared_ptr<const ObjectCache> cache);
  void optimize();

  const std::shared_ptr<const ProgramSet> set_;
  const int simd_bits_;
  const Optimize optimize_;
  const std::shared_ptr<const ObjectCache> cache_;
  const int64_t cost_;   // of optimising, in operations of the first tier's code on one thread
  MachineCode made_, optimized_;
  std::atomic<const MachineCode*> now_{nullptr};
  std::atomic<int64_t> work_{0};
  std::atomic<bool> asked_{false};
  std::mutex optimizing_;
};

/// Ends what the background is at, at the next part, and forgets what waits; LLVM must not be at work when the process ends.
void stop_optimizing();

}  // namespace tercet::codegen
