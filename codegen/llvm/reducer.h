// How one reduction combines values: states of one value, or of a value and its position (argmax, argmin), single or in
// lanes. Private to codegen/llvm.
#pragma once
#include "codegen/llvm/loops.h"
#include "codegen/llvm/numbers.h"
#include "codegen/plan/kernel.h"

namespace tercet::codegen {

class Reducer {
 public:
  /// `element`: dtype of the reduced elements (f16, bf16 accumulate as f32).
  Reducer(LlvmNumbers& numbers, llvm::IRBuilder<>& b, ReduceKind kind, DType element)
      : n_(numbers), b_(b), kind_(kind), element_(compute_dtype(element)) {}

  bool with_position() const { return kind_ == ReduceKind::ArgMax || kind_ == ReduceKind::ArgMin; }
  size_t parts() const { return with_position() ? 2 : 1; }
  /// The dtypes of a state's parts, and the type of each with `lanes` lanes.
  DType part(size_t k) const { return k == 0 ? element_ : DType::I32; }
  llvm::Type* type(size_t k, unsigned lanes);
  /// A state that changes nothing it is combined with.
  Values absent(unsigned lanes);
  /// The state of one element (`position` counts from the start of the sequence, i32).
  Values of(llvm::Value* element, llvm::Value* position) const;
  /// `a` stands before `b` in the sequence.
  Values combine(const Values& a, const Values& b);
  /// b where the mask holds, else a.
  Values select(llvm::Value* mask, const Values& b, const Values& a);
  /// The 16 lanes combined as the tree of the reduction order: a state of single values.
  Values across_lanes(Values state);
  /// What the reduction gives: of argmax, the position.
  llvm::Value* result(const Values& state) const { return state.back(); }

 private:
  llvm::Value* combine_values(llvm::Value* a, llvm::Value* b);
  Values combine_positions(const Values& a, const Values& b);
  Num num(llvm::Value* v) { return n_.wrap(v, element_); }

  LlvmNumbers& n_;
  llvm::IRBuilder<>& b_;
  ReduceKind kind_;
  DType element_;
};

}  // namespace tercet::codegen
