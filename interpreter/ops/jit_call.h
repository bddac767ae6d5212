// Calls of functions that are to be compiled.
#pragma once
#include "interpreter/ir/function.h"
#include "interpreter/ir/jit_entry.h"

namespace tercet {

/// Emits `call` of the entry's function. Sizes of results that only the callee knows get names of the caller's.
std::vector<ValueId> emit_jit_call(Builder& out, const std::shared_ptr<JitEntry>& entry, std::vector<ValueId> inputs, Span span);

}  // namespace tercet
