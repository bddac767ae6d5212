// The machine code of a whole loop. Private to codegen/llvm.
#pragma once
#include <llvm/IR/Module.h>

#include <span>

#include "codegen/plan/loop_code.h"

namespace tercet::codegen {

/// A function of LoopFunction's type that calls kernels[i] for its i-th kernel (in the order of for_each_kernel); kernels with
/// internal linkage are put in the place of their calls.
llvm::Function* emit_loop(llvm::Module& module, const LoopCode& loop, const std::string& name, std::span<llvm::Function* const> kernels);
/// Registers for cells, and what follows from it: only what keeps every bit.
void optimize_loop(llvm::Function& loop);

}  // namespace tercet::codegen
