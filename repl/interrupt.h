// Ctrl-C: the first one asks the running program to stop, a second one before it has stopped ends the process.
#pragma once

namespace tercet {

/// Calls `stop` when Ctrl-C is pressed. It runs in a signal handler: it may set atomics and nothing else.
void on_interrupt(void (*stop)(void*), void* data);

/// Whether Ctrl-C was pressed since the last call; forgets it.
bool take_interrupt();

}  // namespace tercet
