// From planned programs to one LLVM module. The only face of codegen/llvm.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>

#include "codegen/plan/program.h"

namespace tercet::codegen {

/// Name of a kernel's function: "p0_k2".
std::string kernel_symbol(size_t program, size_t kernel);
/// A function of KernelFunction's type for every kernel of the set.
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ProgramSet& set);

}  // namespace tercet::codegen
