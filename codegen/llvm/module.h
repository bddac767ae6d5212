// From planned programs to one LLVM module. The only face of codegen/llvm.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>
#include <span>

#include "codegen/plan/program.h"

namespace tercet::codegen {

/// Code for one or more kernels of a set.
struct KernelCode {
  std::string symbol;      // of its function: "p0_k2"
  std::string key;         // code_key
  const Program* program;  // the first that needs it
  const Kernel* kernel;
};
struct KernelCodes {
  std::vector<KernelCode> all;
  std::vector<std::vector<size_t>> of;  // [program][kernel] -> place in `all`
};
/// Kernels of equal code share one.
KernelCodes kernel_codes(const ProgramSet& set);
/// A function of KernelFunction's type for each, for registers of so many bits.
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, std::span<const KernelCode> codes, int simd_bits);

}  // namespace tercet::codegen
