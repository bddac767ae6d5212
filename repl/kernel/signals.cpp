#include "repl/kernel/signals.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "repl/options.h"

namespace tercet {
namespace {

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void block_interrupts() {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void watch_interrupts(std::function<void()> interrupt) {
  const pid_t parent = std::getenv("JPY_PARENT_PID") ? getppid() : 0;
  std::thread([parent, interrupt = std::move(interrupt)] {
    const sigset_t set = interrupts();
    const timespec second{1, 0};
    for (;;) {
      if (sigtimedwait(&set, nullptr, &second) == SIGINT) interrupt();
      if (parent && getppid() != parent) _exit(exit_failed);
    }
  }).detach();
}

}  // namespace tercet
