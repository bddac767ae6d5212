// What the planner does with each operation, read off its row's kind and the types at hand.
#pragma once
#include "interpreter/ir/op_def.h"

namespace tercet::codegen {

enum class Role : uint8_t {
  Constant,  // known before the program runs
  Inline,    // computed where it is read: elementwise, views, iota, gather, window, sizes as values
  Reshape,   // another shape of the same memory where the operand lies in memory
  Reduce,    // a kernel of its own kind
  Check,     // a predicate in a kernel
  Scatter,   // a copy of operand 0, then a kernel that combines into it
  Native     // the row's eval on whole arrays
};

Role role_of(const Function& f, const Op& op);
/// Elements that kernels can load, compute on and store.
bool is_kernel_dtype(DType dtype);

/// Position of operand axes within a reshape's result, when linear: the operand index of each axis as digits of result
/// axes. Returns, per operand axis, the list of (result axis, factor); nullopt when axes are merged.
struct AxisDigit {
  size_t axis;
  Dim factor;
};
std::optional<std::vector<std::vector<AxisDigit>>> split_axes(const std::vector<Dim>& operand,
                                                              const std::vector<Dim>& result);

}  // namespace tercet::codegen
