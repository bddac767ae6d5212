// The library written in Tercet itself (stdlib/*.tct), as it was when this program was built.
#pragma once
#include <span>
#include <string_view>
#include <utility>

namespace tercet {

/// (module name, source text) of every file of stdlib/, sorted by name: ("nn", "## Softmax …\nfn softmax…").
std::span<const std::pair<std::string_view, std::string_view>> stdlib_sources();

}  // namespace tercet
