#include "interpreter/runtime/device.h"

#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "interpreter/runtime/processors.h"

namespace tercet {
namespace {

thread_local HostDevice* device_of_thread = nullptr;

/// Cores that this process may use, by the system's numbers.
const std::vector<int>& allowed_cores() {
  static const std::vector<int> all = [] {
    std::vector<int> out;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(getpid(), sizeof set, &set) == 0)
      for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) out.push_back(core);
    return out;
  }();
  return all;
}
/// Lets this thread run on one core only; -1: on all of them.
void keep_thread_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int allowed : allowed_cores())
    if (core < 0 || allowed == core) CPU_SET(allowed, &set);
  sched_setaffinity(0, sizeof set, &set);   // where it fails, the system decides as before
}

/// Devices that nobody uses now. Starting a thread and an arena costs more than a short program.
class IdleDevices {
 public:
  IdleDevices() { idle_.reserve(most_kept + 1); }   // giving back must not fail
  std::unique_ptr<HostDevice> take(int threads) {
    std::scoped_lock lock(mutex_);
    auto fits = [&](const auto& d) { return d->threads() == threads; };
    auto found = std::find_if(idle_.begin(), idle_.end(), fits);
    if (found == idle_.end()) return nullptr;
    std::unique_ptr<HostDevice> out = std::move(*found);
    idle_.erase(found);
    return out;
  }
  void give_back(std::unique_ptr<HostDevice> device) {
    std::unique_ptr<HostDevice> oldest;   // ends after the lock
    std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(device));
    if (idle_.size() <= most_kept) return;
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }

 private:
  static constexpr size_t most_kept = most_host_devices;
  std::mutex mutex_;
  std::vector<std::unique_ptr<HostDevice>> idle_;
};
IdleDevices& idle_devices() {
  static IdleDevices all;
  return all;
}

}  // namespace

HostDevice::HostDevice(int threads) : threads_(threads), arena_(threads), thread_([this] { serve(); }) {}

HostDevice::~HostDevice() {
  {
    std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HostDevice::start(std::function<void()> work) {
  {
    std::scoped_lock lock(mutex_);
    work_ = std::move(work);
    busy_ = true;
  }
  changed_.notify_all();
}

void HostDevice::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !busy_; });
}

void HostDevice::serve() {
  device_of_thread = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return busy_ || ending_; });
    if (!busy_) return;
    std::function<void()> work = std::move(work_);
    if (core_ != stays_on_) keep_thread_on(stays_on_ = core_);
    lock.unlock();
    arena_.execute(work);   // on this thread: nobody else enters this arena from outside
    work = nullptr;
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

HostDevice* current_device() { return device_of_thread; }

DeviceLease::~DeviceLease() {
  for (auto& device : devices_)
    if (device) idle_devices().give_back(std::move(device));
}

DeviceLease lease_host_devices(int count, int cores) {
  if (cores <= 0) cores = available_cores();
  std::vector<std::unique_ptr<HostDevice>> out;
  for (int i = 0; i < count; ++i) {
    int threads = std::max(1, cores / count + (i < cores % count));
    std::unique_ptr<HostDevice> device = idle_devices().take(threads);
    out.push_back(device ? std::move(device) : std::make_unique<HostDevice>(threads));
    const auto& all = allowed_cores();
    const bool own = threads == 1 && count > 1 && static_cast<size_t>(count) <= all.size();
    out.back()->stay_on(own ? all[static_cast<size_t>(i)] : -1);
  }
  return DeviceLease(std::move(out));
}

int available_cores() { return usable_processors(); }

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
      allowed = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
      most = threads;
    }
    arena = std::make_unique<tbb::task_arena>(threads);
  }
  return *arena;
}

}  // namespace tercet
