#include "codegen/run/stream.h"

#include <unistd.h>

#include <algorithm>

namespace tercet::codegen {

bool streams(int64_t bytes, const RunOptions& options) {
  static const int64_t half_of_cache = std::max<int64_t>(8 << 20, sysconf(_SC_LEVEL3_CACHE_SIZE) / 2);
  return bytes >= (options.block_bytes > 0 ? options.block_bytes : half_of_cache);
}

}  // namespace tercet::codegen
