#include "base/poll.h"

namespace tercet {
namespace {

thread_local const Poll* poll_of_thread = nullptr;

}  // namespace

PollScope::PollScope(const Poll* poll) : previous_(poll_of_thread) { poll_of_thread = poll; }
PollScope::~PollScope() { poll_of_thread = previous_; }

const Poll* current_poll() { return poll_of_thread; }

void poll() {
  if (poll_of_thread && *poll_of_thread) (*poll_of_thread)();
}

}  // namespace tercet
