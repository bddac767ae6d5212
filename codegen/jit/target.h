// What machine code is made for: this machine's CPU, with vectors of a given width. Private to codegen/jit.
#pragma once
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

namespace tercet::codegen {

/// Initialises LLVM on first use.
llvm::orc::JITTargetMachineBuilder target_of_host(int simd_bits);
std::unique_ptr<llvm::TargetMachine> make_target_machine(int simd_bits);
/// Marks a fresh module for the target. No optimisation passes follow: kernels are emitted as they should be.
void prepare(llvm::Module& module, llvm::TargetMachine& target, int simd_bits);

}  // namespace tercet::codegen
