// What fails inside a call and has no place of its own is placed at the call: at the innermost one.
#pragma once
#include "base/diagnostic.h"

namespace tercet {

/// run(), while `current` is the span of the call that runs, unless `call` says that it is that of the caller.
template <class Run> auto at_call(Span& current, Span call, const Run& run) {
  const Span outer = current;
  if (!(call == Span::of_call())) current = call;
  try {
    auto out = run();
    current = outer;
    return out;
  } catch (Failure& failure) {
    set_call_span(failure, current);
    current = outer;
    throw;
  }
}

}  // namespace tercet
