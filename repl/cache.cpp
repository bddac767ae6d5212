#include "repl/cache.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "repl/options.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

namespace tercet {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string programs(int64_t count) { return fmt::format("{} compiled program{}", count, count == 1 ? "" : "s"); }

}  // namespace

std::string cache_directory() {
  std::string own = variable("TERCET_CACHE"), caches = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!own.empty()) return own == "off" ? "" : own;
  if (caches.starts_with('/')) return caches + "/tercet";   // the standard has relative ones ignored
  return home.empty() ? "" : home + "/.cache/tercet";
}

int run_cache_command(const std::string& action) {
#if TERCET_HAS_LLVM
  std::string directory = cache_directory();
  if (directory.empty()) {
    std::cout << "the cache is off\n";
    return exit_ok;
  }
  CacheInfo info = cache_info(directory);
  if (!info.unusable.empty()) {
    std::cerr << fmt::format("tercet: the cache {} is not used: {}\n", directory, info.unusable);
    return exit_failed;
  }
  if (action == "clear") {
    std::cout << fmt::format("removed {} from {}\n", programs(clear_cache(directory)), directory);
    return exit_ok;
  }
  std::cout << fmt::format("{}: {}, {} kB of at most {} kB\n", directory, programs(info.entries), info.bytes / 1000, info.most_bytes / 1000);
  return exit_ok;
#else
  std::cerr << "tercet: this build has no compiler, so nothing to keep of it (`cache " << action << "`)\n";
  return exit_failed;
#endif
}

}  // namespace tercet
