// `tercet test`: what programs say about themselves.
//
// A program is a test when it holds one of
//   #> text        a line of standard output, in order; only the amount of white space may differ
//   #! kind text   the program ends with error[kind], whose report contains `text` (may be left out)
// or, in the comments before its functions, examples:
//   ## >>> scale([1, 2], 3)      an expression or statement, run after the program
//   ## ... more of it
//   ## [3, 6]                    what it prints, or its value as print shows it; none: it has no value
#pragma once
#include "repl/options.h"

namespace tercet {

/// Runs the tests of options.paths, each program and the examples of each in a session of its own. Prints what fails, then
/// "N passed, N failed"; the exit status is 1 when one fails or there are none.
int run_test_command(const Options& options);

}  // namespace tercet
