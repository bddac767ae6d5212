#include "codegen/plan/moves.h"

#include <algorithm>
#include <map>

namespace tercet::codegen {
namespace {

/// An array while the moves are made.
struct Content {
  int32_t at = -1;   // where it lies now
  int needed = 0;    // at so many places, the one where it lay among them
};

}  // namespace

std::optional<std::vector<LoopCode::Assign::Move>> ordered_moves(std::vector<Arrival> arrivals) {
  std::vector<LoopCode::Assign::Move> out;
  std::map<int32_t, Content> contents;   // by where they lay at first
  for (const Arrival& a : arrivals) contents[a.from].at = a.from, ++contents[a.from].needed;
  std::erase_if(arrivals, [](const Arrival& a) { return a.to == a.from; });
  auto needed_at = [&](int32_t place) -> Content* {
    for (auto& [lay, content] : contents)
      if (content.at == place && content.needed > 0) return &content;
    return nullptr;
  };
  auto swaps = [&](const Arrival& a) { return a.own && contents[a.from].needed == 1; };
  while (!arrivals.empty()) {
    auto ready = std::find_if(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return swaps(a) || !needed_at(a.to); });
    if (ready == arrivals.end()) return std::nullopt;
    const Arrival a = *ready;
    arrivals.erase(ready);
    Content& moved = contents[a.from];
    const int32_t at = moved.at;
    const bool swap = swaps(a);
    if (at != a.to) out.push_back({a.to, at, swap});
    --moved.needed;
    if (Content* displaced = swap ? needed_at(a.to) : nullptr) displaced->at = at;
  }
  return out;
}

}  // namespace tercet::codegen
