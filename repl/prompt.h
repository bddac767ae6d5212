// The interactive prompt: statements and `:commands` until the input ends.
#pragma once
#include "repl/driver.h"

namespace tercet {

/// Returns the exit status. Without a terminal on standard input, statements are read the same way, without a prompt.
int run_prompt(Driver& driver);

}  // namespace tercet
