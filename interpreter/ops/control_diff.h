// Derivative rules of control flow. A loop keeps the carried values of every step, and costly ones from inside, in stacked
// results; its backward step is a scan over them from the end. A branch's is a branch; a compiled callee's a compiled one.
#pragma once
#include "interpreter/ir/differentiation.h"

namespace tercet {

std::vector<ValueId> forward_while(ForwardContext& c);
void reverse_while(ReverseContext& c);
std::vector<ValueId> forward_scan(ForwardContext& c);
void reverse_scan(ReverseContext& c);
void reverse_cond(ReverseContext& c);
std::vector<ValueId> forward_call(ForwardContext& c);
void reverse_call(ReverseContext& c);

/// Symbols that only a step of a scan knows: those its operations define, and the lengths of the rows it reads.
std::vector<uint64_t> symbols_of_step(const Function& body, std::span<const Type> operands);

}  // namespace tercet
