// From planned programs to one LLVM module. The only face of codegen/llvm.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>

#include "codegen/plan/program.h"

namespace tercet::codegen {

/// Name of a kernel's function: "p0_k2".
std::string kernel_symbol(size_t program, size_t kernel);
/// A function of KernelFunction's type for every kernel of the set. `cheap_masks`: the target's loads and stores under
/// a mask are as fast as others (AVX-512).
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ProgramSet& set, bool cheap_masks);

}  // namespace tercet::codegen
