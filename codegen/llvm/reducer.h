// How one reduction combines values: states of one value, or of a value and its position (argmax, argmin), single or in
// lanes. What seeks a largest or smallest float works on keys, integers in the order of the floats: one instruction
// combines them, where an IEEE maximum takes five that wait for each other. Private to codegen/llvm.
#pragma once
#include "codegen/llvm/loops.h"
#include "codegen/llvm/numbers.h"
#include "codegen/plan/kernel.h"

namespace tercet::codegen {

class Reducer {
 public:
  /// `element`: dtype of the reduced elements (f16, bf16 accumulate as f32).
  Reducer(LlvmNumbers& numbers, llvm::IRBuilder<>& b, ReduceKind kind, DType element)
      : n_(numbers), b_(b), kind_(kind), element_(compute_dtype(element)), state_(state_dtype()) {}

  bool with_position() const { return kind_ == ReduceKind::ArgMax || kind_ == ReduceKind::ArgMin; }
  size_t parts() const { return with_position() ? 2 : 1; }
  /// The dtypes of a state's parts.
  DType part(size_t k) const { return k == 0 ? state_ : DType::I32; }
  /// The same of what the driver gets of a block: the value as an element.
  DType total_part(size_t k) const { return k == 0 ? element_ : DType::I32; }
  /// A state that changes nothing it is combined with.
  Values absent(unsigned lanes);
  /// The state of one element (`position` counts from the start of the sequence, i32).
  Values of(llvm::Value* element, llvm::Value* position);
  Values combine(const Values& a, const Values& b);
  /// The same where b comes later in the sequence than all of a, lane by lane.
  Values append(const Values& a, const Values& b);
  /// b where the mask holds, else a.
  Values select(llvm::Value* mask, const Values& b, const Values& a);
  /// The 16 lanes combined as the tree of the reduction order: a state of single values.
  Values across_lanes(Values state);
  /// A state with its value as an element. What the reduction gives is the last part: of argmax, the position.
  Values total(const Values& state);

 private:
  template <class F> Values halved(Values state, F f);
  Values first_of_best(const Values& state);
  bool seeks_largest() const { return kind_ == ReduceKind::Max || kind_ == ReduceKind::ArgMax; }
  bool seeks() const { return seeks_largest() || kind_ == ReduceKind::Min || kind_ == ReduceKind::ArgMin; }
  bool keyed() const { return seeks() && is_float(element_); }
  DType state_dtype() const { return !keyed() ? element_ : element_ == DType::F64 ? DType::I64 : DType::I32; }
  Num key(Num x);
  Num in_order(Num bits);
  llvm::Value* combine_values(llvm::Value* a, llvm::Value* b);
  Num num(llvm::Value* v) { return n_.wrap(v, state_); }

  LlvmNumbers& n_;
  llvm::IRBuilder<>& b_;
  ReduceKind kind_;
  DType element_, state_;
};

/// One of each reduction of a kernel.
std::vector<Reducer> reducers_of(const Kernel& kernel, LlvmNumbers& numbers, llvm::IRBuilder<>& b);

}  // namespace tercet::codegen
