// Machine code in memory for the kernels of a set of programs. No LLVM type shows here.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/kernel_abi.h"
#include "codegen/plan/loop_abi.h"
#include "codegen/plan/program.h"

namespace tercet::codegen {

class ObjectCache;

/// How much work went into machine code: its results are the same.
enum class Tier : uint8_t { First, Optimized };

struct MachineCode {
  std::vector<std::vector<KernelFunction>> kernels;  // [program][kernel]
  std::vector<LoopFunction> loops;                   // of the set
  std::shared_ptr<const void> memory;                // keeps the code
  Tier tier = Tier::Optimized;
  bool from_cache = false;
};

/// Width in bits of this machine's widest vectors that code is made for: 512 or 256.
int widest_simd();
/// Compiles every kernel and loop; thread-safe. `simd_bits`: 256 or 512, at most widest_simd(). What
/// `cache` has is not compiled again; null: no cache.
MachineCode compile_kernels(const ProgramSet& set, int simd_bits, Tier tier, const ObjectCache* cache = nullptr);
/// The same when `cache` has all of it.
std::optional<MachineCode> find_kernels(const ProgramSet& set, int simd_bits, Tier tier, const ObjectCache& cache);
/// How long it takes to optimise the set, in units of about 0.1 ms.
int64_t optimizing_cost(const ProgramSet& set);
/// Waits for compilations that nobody waits for any more; LLVM must not be at work when the process ends.
void wait_for_compilations();
/// The LLVM IR or assembly that compile_kernels makes.
std::string llvm_text(const ProgramSet& set, int simd_bits);
std::string assembly_text(const ProgramSet& set, int simd_bits);

}  // namespace tercet::codegen
