// Native functions that rows call: they know no place in the program.
#pragma once
#include <vector>

#include "base/diagnostic.h"
#include "interpreter/ir/function.h"

namespace tercet {

/// Errors of native functions get the place of the call.
template <class F> std::vector<Array> at_span(const Op& op, F f) {
  try {
    return f();
  } catch (Failure& failure) {
    if (!failure.first().span.known()) failure.first().span = op.span;
    throw;
  }
}

}  // namespace tercet
