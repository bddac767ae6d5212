#include "repl/cache.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <tercet/tercet.hpp>

#include "repl/options.h"

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
  std::string directory = cache_directory();
  if (directory.empty()) {
    std::cout << "the cache is off\n";
    return exit_ok;
  }
  auto failed = [](const Error& error) {
    std::cerr << "tercet: " << error.message() << "\n";
    return exit_failed;
  };
  if (action == "clear") {
    Result<int64_t> removed = Engine::clear_cache(directory);
    if (!removed) return failed(removed.error());
    std::cout << fmt::format("removed {} from {}\n", programs(*removed), directory);
    return exit_ok;
  }
  Result<tct_cache_info> info = Engine::cache_info(directory);
  if (!info) return failed(info.error());
  std::cout << fmt::format("{}: {}, {} kB of at most {} kB\n", directory, programs(info->programs), info->bytes / 1000, info->most_bytes / 1000);
  return exit_ok;
}

}  // namespace tercet
