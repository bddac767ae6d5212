// From planned programs to one LLVM module. The only face of codegen/llvm.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>

#include "codegen/plan/program.h"

namespace tercet::codegen {

/// Names of the functions of all kernels, [program][kernel], as "p0_k2". Kernels of equal code share one.
std::vector<std::vector<std::string>> kernel_symbols(const ProgramSet& set);
/// A function of KernelFunction's type under each of these names.
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ProgramSet& set);

}  // namespace tercet::codegen
