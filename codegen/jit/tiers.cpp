#include "codegen/jit/tiers.h"

#include <deque>
#include <thread>

#include "codegen/jit/headroom.h"
#include "codegen/jit/object_cache.h"
#include "codegen/jit/polled_lock.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {
namespace {

// A unit of optimizing_cost is 0.09 ms. The first tier does about five operations a nanosecond on a thread, and optimised
// code twice as many.
constexpr int64_t operations_per_unit = 450'000;

}  // namespace

/// A thread that lives while there is something to optimise.
class Background {
 public:
  static Background& instance() {
    static Background background;
    return background;
  }
  /// Null before the first use, and when the process ends: an engine that is a static object may end later.
  static Background* at_work() { return at_work_; }
  Background() { at_work_ = this; }
  ~Background() { stop(), at_work_ = nullptr; }

  void add(std::weak_ptr<TieredCode> code) {
    std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(code));
    if (running_) return;
    if (thread_.joinable()) thread_.join();   // it has ended
    running_ = true;
    thread_ = std::thread([this] { work(); });
  }
  void stop() {
    std::scoped_lock one_at_a_time(stop_mutex_);
    std::thread thread;
    {
      std::scoped_lock lock(mutex_);
      stopping_ = true;
      thread = std::move(thread_);
    }
    if (thread.joinable()) thread.join();
    std::scoped_lock lock(mutex_);
    stopping_ = false;
  }

 private:
  struct Stopped {};
  static inline std::atomic<Background*> at_work_{nullptr};

  void work() {
    const Poll asked = [this] {
      if (stopping_) throw Stopped{};
    };
    PollScope scope(&asked);
    while (std::shared_ptr<TieredCode> code = next()) {
      try {
        code->optimize();
      } catch (...) {   // no memory, or stopped: it runs as it is, and may ask again
        code->work_ = 0;
        code->asked_ = false;
      }
    }
  }
  /// Null when the thread ends. What nobody holds any more is left out.
  std::shared_ptr<TieredCode> next() {
    std::scoped_lock lock(mutex_);
    while (!waiting_.empty()) {
      std::shared_ptr<TieredCode> code = waiting_.front().lock();
      waiting_.pop_front();
      if (code && !stopping_) return code;
      if (code) code->asked_ = false;
    }
    running_ = false;
    return nullptr;
  }

  std::mutex mutex_, stop_mutex_;
  std::deque<std::weak_ptr<TieredCode>> waiting_;
  std::thread thread_;
  bool running_ = false;
  std::atomic<bool> stopping_{false};
};

TieredCode::TieredCode(std::shared_ptr<const ProgramSet> set, int simd_bits, Optimize optimize, std::shared_ptr<const ObjectCache> cache)
    : set_(std::move(set)), simd_bits_(simd_bits), optimize_(optimize), cache_(std::move(cache)), cost_(optimizing_cost(*set_) * operations_per_unit) {}
TieredCode::~TieredCode() = default;

std::shared_ptr<TieredCode> TieredCode::make(std::shared_ptr<const ProgramSet> set, int simd_bits, Optimize optimize, std::shared_ptr<const ObjectCache> cache) {
  std::shared_ptr<TieredCode> code(new TieredCode(std::move(set), simd_bits, optimize, std::move(cache)));
  const ObjectCache* known = code->cache_.get();
  std::optional<MachineCode> found;
  if (known && optimize == Optimize::Auto) found = find_kernels(*code->set_, simd_bits, Tier::Optimized, *known);
  const Tier tier = optimize == Optimize::Always ? Tier::Optimized : Tier::First;
  code->made_ = found ? std::move(*found) : compile_kernels(*code->set_, simd_bits, tier, known);
  code->now_ = &code->made_;
  return code;
}

void TieredCode::will_run(int64_t work, int threads) {
  const int64_t all = work_.fetch_add(work, std::memory_order_relaxed) + work;
  if (work / threads > 2 * cost_) optimize();
  else if (all > cost_ / 2 && !asked_.exchange(true)) Background::instance().add(weak_from_this());
}

void TieredCode::optimize() {
  const std::unique_lock<std::mutex> lock = polled_lock(optimizing_);   // another thread may be at it
  if (now().tier == Tier::Optimized || !has_memory_to_compile(static_cast<size_t>(optimizing_cost(*set_)))) return;
  optimized_ = compile_kernels(*set_, simd_bits_, Tier::Optimized, cache_.get());
  now_.store(&optimized_, std::memory_order_release);
}

void stop_optimizing() {
  if (Background* background = Background::at_work()) background->stop();
}

}  // namespace tercet::codegen
