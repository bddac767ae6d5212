// From planned programs to one LLVM module. The only face of codegen/llvm.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>

#include "codegen/plan/program.h"

namespace tercet::codegen {

/// Code for one or more kernels of a set, or for one of its loops.
struct KernelCode {
  std::string symbol;      // of its function: "p0_k2", "l0"
  std::string key;         // code_key
  const Program* program;  // the first that needs it; null for a loop
  const Kernel* kernel;
  const LoopCode* loop = nullptr;
  std::vector<size_t> calls = {};  // of a loop: the kernels that it runs, in order, by place in `all`
};
struct KernelCodes {
  std::vector<KernelCode> all;          // loops last, in the set's order
  std::vector<std::vector<size_t>> of;  // [program][kernel] -> place in `all`
};
/// Kernels of equal code share one.
KernelCodes kernel_codes(const ProgramSet& set);
/// A part of all code.
struct CodePart {
  size_t begin, end;
};
/// A function of KernelFunction's or LoopFunction's type for each of a part, for registers of so many bits. `whole_loops`: loops
/// are optimised, with their kernels inside; else they call them, and kernels of other parts are declared.
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const KernelCodes& codes, CodePart part, int simd_bits, bool whole_loops);

}  // namespace tercet::codegen
