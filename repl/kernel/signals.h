// Signals of the kernel's process, taken by one thread: a signal handler would break into the waits of the sockets.
#pragma once
#include <functional>

namespace tercet {

/// Keeps Ctrl-C from the threads that start after this; to be called before any has started.
void block_interrupts();

/// Starts the thread that calls `interrupt` for each SIGINT. It also ends the process when the notebook server that started it
/// (JPY_PARENT_PID tells that one did) is gone: nobody else would.
void watch_interrupts(std::function<void()> interrupt);

}  // namespace tercet
