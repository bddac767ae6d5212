// A function of the host that programs call (op `host_call`).
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "interpreter/ir/function.h"

namespace tercet {

struct HostFunction {
  std::string name;
  std::vector<Type> parameters;      // a size name means the same size everywhere in the signature
  std::vector<Type> results;         // their sizes are numbers, or names that parameters have
  std::vector<std::string> texts;    // of the parameters' types, for messages
  /// May throw a Failure.
  std::function<std::vector<Array>(std::vector<Array>)> call;
};

}  // namespace tercet
