// `tercet bench`: how long functions of a program take.
//
// Timed is every function of the program without parameters whose name starts with bench_. The program runs first, once, so that its
// globals are the data. The first call of each is told apart: it finds the types, and compiles what is to be compiled (a function
// declared `jit fn bench_f() = …`). Then calls are repeated for options.seconds, in groups long enough for the clock; told are the
// median, the least and the greatest time of one call.
#pragma once
#include "repl/options.h"

namespace tercet {

/// Returns the exit status: 1 where the program or one of the functions fails, or where there are none.
int run_bench_command(const Options& options);

}  // namespace tercet
