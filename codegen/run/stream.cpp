#include "codegen/run/stream.h"

#include <unistd.h>

#include <algorithm>

namespace tercet::codegen {

bool streams(int64_t bytes, const RunOptions& options) {
  // Virtual machines tell the last-level cache of the whole host, of which they have a part.
  static const int64_t half_of_cache = std::clamp<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE) / 2, 8 << 20, 32 << 20);
  return bytes >= (options.block_bytes > 0 ? options.block_bytes : half_of_cache);
}

}  // namespace tercet::codegen
