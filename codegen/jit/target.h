// What machine code is made for: this machine's CPU, with vectors of a given width. Private to codegen/jit.
#pragma once
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "codegen/jit/jit.h"

namespace tercet::codegen {

/// Initialises LLVM on first use.
llvm::orc::JITTargetMachineBuilder target_of_host(int simd_bits, Tier tier);
std::unique_ptr<llvm::TargetMachine> make_target_machine(int simd_bits, Tier tier);
/// Marks a fresh module for the target. No optimisation passes follow: kernels are emitted as they should be.
void prepare(llvm::Module& module, llvm::TargetMachine& target, int simd_bits);

}  // namespace tercet::codegen
