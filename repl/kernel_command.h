// `tercet kernel`: starts tercet-kernel, the Jupyter kernel, which is a program of its own (docs/decisions/0027);
// `tercet kernel install` writes the kernelspec by which Jupyter finds it.
#pragma once
#include "repl/options.h"

namespace tercet {

/// `argv` goes on to tercet-kernel, which reads it the same way. Returns, with the exit status, only after an install or a failure.
int run_kernel_command(const Options& options, char** argv);

}  // namespace tercet
