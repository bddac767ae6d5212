// `tercet fmt`: programs in the one layout.
#pragma once
#include "repl/options.h"

namespace tercet {

/// Rewrites the files of options.paths that are not in the layout; "-" goes from standard input to standard output.
/// With options.check only names them, and the exit status is 1 when there are any. A program with a syntax error is told
/// and left as it is.
int run_format_command(const Options& options);

}  // namespace tercet
