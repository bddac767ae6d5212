// Row reductions whose blocks run on several threads: the blocks' totals and their combination.
#pragma once
#include "codegen/plan/kernel.h"
#include "codegen/plan/kernel_abi.h"

namespace tercet {

class BlockTotals {
 public:
  BlockTotals(const Kernel& kernel, int64_t blocks);
  /// What KernelContext::totals points to.
  void* const* pointers() const { return pointers_.data(); }
  /// Combines the totals of reduction r in the defined order into element `at` of its buffer.
  void store(size_t r, std::byte* buffer, int64_t at) const;

 private:
  const Kernel& kernel_;
  int64_t blocks_;
  std::vector<Array> totals_;
  std::vector<void*> pointers_;
};

}  // namespace tercet
