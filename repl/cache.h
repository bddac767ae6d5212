// The cache of compiled code on disk, as the command line sees it: where it is, `tercet cache info` and `tercet cache clear`.
#pragma once
#include <string>

namespace tercet {

/// $TERCET_CACHE, unless it is empty; else $XDG_CACHE_HOME/tercet; else ~/.cache/tercet. Empty where that is "off" and
/// where there is no home.
std::string cache_directory();
/// `action`: "info" or "clear". Returns the exit status.
int run_cache_command(const std::string& action);

}  // namespace tercet
