// Sizes of arguments that a function's own checks say are equal, to each other or to a number, get one name before it is
// planned, so that kernels over them are over one space. Whether they are is asked when it runs: where not, a check fails, and
// the reference tells which.
// Example: add(x: f32[n], y: f32[m]) behind check_dims(n, m, "equal") is planned as for two arrays of size n.
#pragma once
#include <optional>
#include <span>

#include "interpreter/ir/function.h"

namespace tercet::codegen {

struct EqualSizes {
  struct Axis { size_t argument, axis; };
  /// An axis that has the size of another one, or this size.
  struct Pair {
    Axis a;
    std::optional<Axis> b;
    int64_t size;
  };
  FunctionPtr function;        // with one name for each such size, and without the checks that this makes pointless
  std::vector<Pair> pairs;     // what it takes for granted

  bool hold(std::span<const Array> arguments) const;
};

/// Checks of the function and of the bodies of its loops over rows count, not those in branches and `while`, which may not
/// be reached.
EqualSizes with_equal_sizes(const FunctionPtr& f);

}  // namespace tercet::codegen
