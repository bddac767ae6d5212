// What machine code is made for: this machine's CPU, with vectors of a given width. Private to codegen/jit.
#pragma once
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

namespace tercet {

/// Initialises LLVM on first use.
llvm::orc::JITTargetMachineBuilder target_of_host(int simd_bits);
std::unique_ptr<llvm::TargetMachine> make_target_machine(int simd_bits);
/// Prepares a fresh module for the target and runs the few passes that pay before code generation.
void optimize(llvm::Module& module, llvm::TargetMachine& target, int simd_bits);

}  // namespace tercet
