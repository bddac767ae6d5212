// What is left of reductions for the driver: sequences of several blocks, whose totals the kernel hands over, and empty
// ones.
#pragma once
#include "codegen/plan/kernel.h"
#include "codegen/plan/kernel_abi.h"

namespace tercet::codegen {

class BlockTotals {
 public:
  BlockTotals(const Kernel& kernel, int64_t blocks, int64_t outputs);
  /// What KernelContext::totals points to.
  void* const* pointers() const { return pointers_.data(); }
  /// Combines the totals of reduction r in the defined order into its result.
  void store(size_t r, std::byte* result);

 private:
  const Kernel& kernel_;
  int64_t blocks_, outputs_;
  std::vector<Array> totals_;
  std::vector<void*> pointers_;
};

/// Fills the result of reduction r with the value of an empty sequence.
void store_empty(const Kernel& kernel, size_t r, std::byte* result, int64_t outputs);

}  // namespace tercet::codegen
