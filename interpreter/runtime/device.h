// Devices of this machine. A host device is a share of the cores: an OS thread of its own, and an arena of worker threads
// that only its work uses. What runs on one may wait for the others without holding anybody up.
//
// Example:  DeviceLease two = lease_host_devices(2);   // each has half of the cores
//           for (HostDevice* d : two.devices()) d->start([&] { … });
//           two.wait();
#pragma once
#include <tbb/task_arena.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tercet {

/// Where a part of a program runs. A host device here; others implement the same.
class Device {
 public:
  virtual ~Device() = default;
  /// Worker threads that work on it may use, its own included.
  virtual int threads() const = 0;
  /// Runs `work`, which must not throw, there. Returns at once; one work at a time.
  virtual void start(std::function<void()> work) = 0;
  /// Waits until the work has ended.
  virtual void wait() = 0;
};

class HostDevice final : public Device {
 public:
  explicit HostDevice(int threads);
  ~HostDevice() override;
  HostDevice(const HostDevice&) = delete;
  int threads() const override { return threads_; }
  void start(std::function<void()> work) override;
  void wait() override;
  /// The core that its next work is to stay on (-1: any), where its share is one: the system may leave two threads that wait for
  /// each other on one core.
  void stay_on(int core) { core_ = core; }
  /// Where kernels of this device's work run in parallel.
  tbb::task_arena& arena() { return arena_; }

 private:
  void serve();
  int threads_;
  tbb::task_arena arena_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool busy_ = false, ending_ = false;
  int core_ = -1, stays_on_ = -1;
  std::thread thread_;   // last: it reads the others
};

/// The device that this thread works for; null on a thread that is none's.
HostDevice* current_device();

/// More devices than this in one program are refused: each is a thread.
inline constexpr int most_host_devices = 128;

/// Devices lent to one caller; given back, and kept for the next one, at the end of the scope.
class DeviceLease {
 public:
  explicit DeviceLease(std::vector<std::unique_ptr<HostDevice>> devices) : devices_(std::move(devices)) {}
  DeviceLease(DeviceLease&&) = default;
  ~DeviceLease();
  HostDevice& operator[](size_t i) { return *devices_[i]; }
  size_t size() const { return devices_.size(); }

 private:
  std::vector<std::unique_ptr<HostDevice>> devices_;
};

/// `count` devices that share `cores` (0: those that this process may use). When they do not divide, the first get one more.
DeviceLease lease_host_devices(int count, int cores = 0);
/// Cores that this process may use.
int available_cores();
/// The arena with that many slots, which lives as long as the process; on a device, that device's own.
tbb::task_arena& arena_of(int threads);

}  // namespace tercet
