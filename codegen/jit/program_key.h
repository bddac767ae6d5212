// The key of a program's machine code in a cache: all that the code depends on, told by the planned kernels, so that
// finding it takes no LLVM IR.
#pragma once
#include <optional>

#include "codegen/jit/jit.h"
#include "codegen/jit/object_cache.h"
#include "codegen/llvm/module.h"

namespace tercet::codegen {

/// The key of some kernels, compiled together. Nothing when the code depends on what lasts no longer than the process.
std::optional<CacheKey> program_key(const KernelCodes& codes, CodePart part, int simd_bits, Tier tier);

}  // namespace tercet::codegen
