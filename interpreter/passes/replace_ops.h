// Operations replaced by others, in a function and in all bodies and callees inside it.
#pragma once
#include <functional>

#include "interpreter/ir/function.h"

namespace tercet {

struct OpReplacement {
  /// Is this one, of this function, to be replaced?
  std::function<bool(const Function&, const Op&)> matches;
  /// Emits what stands for it and returns its results, which may be its inputs. The operation's inputs are values of the Builder, and its bodies
  /// are done already.
  std::function<std::vector<ValueId>(Builder&, const Op&)> emit;
};

/// The same function with every operation that matches replaced; f itself when there are none.
FunctionPtr replace_ops(const FunctionPtr& f, const OpReplacement& replacement);

}  // namespace tercet
