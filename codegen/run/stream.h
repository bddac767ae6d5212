// Results that are larger than the caches are written past them: their lines need not be read first, and what the caches
// hold stays there.
#pragma once
#include "codegen/run/threads.h"

namespace tercet::codegen {

/// Whether arrays of that many bytes in all are written past the caches: from half of the last cache on, or, where
/// options set a size of blocks (tests do), from that size on.
bool streams(int64_t bytes, const RunOptions& options);

}  // namespace tercet::codegen
