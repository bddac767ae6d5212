// The callee of a `call` that may lead back to itself (attr "recursive"): the function is known when it is finished.
#pragma once
#include <memory>
#include <vector>

#include "interpreter/ir/function.h"

namespace tercet {

struct RecursiveCallee {
  std::vector<Type> results;            // of the function; sizes that are not constant get names at each call
  bool pure = false;                    // made without its effects; sizes that it computes stay
  std::weak_ptr<const Function> function;   // weak: the function's own operations hold this
};

inline const RecursiveCallee& recursive_callee(const Attrs& attrs) {
  return *static_cast<const RecursiveCallee*>(attrs.get<std::shared_ptr<const void>>("recursive").get());
}

}  // namespace tercet
