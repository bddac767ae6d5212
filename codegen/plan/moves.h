// Several arrays that go to other places at once, as one move after another.
//
// Example: a, b = b, a is one exchange; a, b, c = b, c, a are two.
#pragma once
#include <optional>
#include <vector>

#include "codegen/plan/loop_code.h"

namespace tercet::codegen {

/// What lies at pointer `from` is to lie at pointer `to`. `own`: its memory may be given away for the one at `to`.
struct Arrival {
  int32_t to, from;
  bool own;
};

/// Moves that bring every array to its place, where no two come to one: memory is exchanged, or, of what is not its own or is to
/// lie at several places, copied. Nothing where that took memory in between.
std::optional<std::vector<LoopCode::Assign::Move>> ordered_moves(std::vector<Arrival> arrivals);

}  // namespace tercet::codegen
