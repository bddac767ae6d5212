// How long-running work is stopped: it polls, and what it polls may throw.
#pragma once
#include <cstdint>
#include <functional>

namespace tercet {

/// What a call asks now and then, from any thread: throws a Failure (`interrupt`, `limit`) when it is to stop.
using Poll = std::function<void()>;

/// Sets the poll of this thread for a scope; `poll` must outlive it.
class PollScope {
 public:
  explicit PollScope(const Poll* poll);
  ~PollScope();
  PollScope(const PollScope&) = delete;

 private:
  const Poll* previous_;
};
/// The poll of this thread; null: none.
const Poll* current_poll();
/// Asks the poll of this thread, if any. Call about once per 100 microseconds of work.
void poll();

/// Asks at every 1,024th of a loop's steps.
inline void poll_at(int64_t step) {
  if (step % 1024 == 0) poll();
}

}  // namespace tercet
