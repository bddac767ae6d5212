// Waiting for others who compile, with polls.
#pragma once
#include <chrono>
#include <mutex>
#include <thread>

#include "base/poll.h"

namespace tercet::codegen {

/// Locks the mutex; asks poll() while another thread has it, and throws what that throws.
inline std::unique_lock<std::mutex> polled_lock(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  while (!lock && !lock.try_lock()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    poll();
  }
  return lock;
}

}  // namespace tercet::codegen
