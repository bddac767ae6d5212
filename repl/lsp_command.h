// `tercet lsp`: the language server (lsp_server.h) on two streams.
#pragma once
#include <istream>
#include <ostream>

namespace tercet {

/// Messages with their headers (Content-Length), until the editor ends it or its end of the stream is gone. Returns the exit status.
int run_lsp_command(std::istream& in, std::ostream& out);

}  // namespace tercet
