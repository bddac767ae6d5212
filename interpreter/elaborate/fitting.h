// Values that are to fill a given shape: equal sizes, and a size of 1 repeats (known now, or checked when it runs).
#pragma once
#include "interpreter/elaborate/elaborator.h"

namespace tercet {

/// Error `shape` unless sizes `have` broadcast to `want` as they are. `message` has {left} and {right} for two sizes.
void require_fits(Elaborator& e, const std::vector<Dim>& have, const std::vector<Dim>& want, const std::string& message);

}  // namespace tercet
