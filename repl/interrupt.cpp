#include "repl/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "repl/options.h"

namespace tercet {
namespace {

std::atomic<bool> pressed{false};
std::atomic<void (*)(void*)> stop_function{nullptr};
std::atomic<void*> stop_data{nullptr};

void handle(int) {
  if (pressed.exchange(true)) _exit(exit_interrupted);
  if (auto* stop = stop_function.load()) stop(stop_data.load());
}

}  // namespace

void on_interrupt(void (*stop)(void*), void* data) {
  stop_data = data;
  stop_function = stop;
  struct sigaction action {};
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;            // no SA_RESTART: a read at the prompt is to return
  sigaction(SIGINT, &action, nullptr);
}

bool take_interrupt() { return pressed.exchange(false); }

}  // namespace tercet
