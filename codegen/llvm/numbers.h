// The compiler's side of interpreter/runtime/number.h: scalar functions written over Num become LLVM instructions, on
// whole vectors or on single values. Bit for bit what the plain C++ side computes: no fast-math, no contraction.
// Private to codegen/llvm.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "interpreter/runtime/number.h"

namespace tercet::codegen {

class LlvmNumbers final : public NumberBuilder {
 public:
  explicit LlvmNumbers(llvm::IRBuilder<>& builder) : b_(builder) {}

  /// Lanes of the constants and conversions that follow: 1 for scalars.
  void set_lanes(unsigned lanes) { lanes_ = lanes; }
  unsigned lanes() const { return lanes_; }
  Num wrap(llvm::Value* v, DType dtype) { return {this, v, dtype}; }
  static llvm::Value* value(Num n) { return static_cast<llvm::Value*>(n.handle); }
  /// The type that values of dtype are computed in (bool: i1, f16 and bf16: float), with the current lanes.
  llvm::Type* type(DType dtype);
  /// Rounds an f32 to f16 or bf16 and back: what every operation of those dtypes ends with. Other dtypes: unchanged.
  llvm::Value* rounded(llvm::Value* v, DType dtype);

  Num constant_float(DType dtype, double value) override;
  Num constant_int(DType dtype, uint64_t bits) override;
  Num unary(NumUnary op, Num x) override;
  Num binary(NumBinary op, Num a, Num b) override;
  Num compare(NumCompare op, Num a, Num b) override;
  Num fma(Num a, Num b, Num c) override;
  Num select(Num mask, Num a, Num b) override;
  Num bitcast(Num x, DType to) override;
  Num convert(Num x, DType to) override;

 private:
  llvm::Type* scalar_type(DType dtype);
  llvm::Value* intrinsic(unsigned id, llvm::Value* x);
  llvm::Value* divide(Num a, Num b, bool remainder);
  llvm::Value* multiply_high(llvm::Value* a, llvm::Value* b);
  llvm::Value* convert_float(llvm::Value* x, DType from, DType to);
  llvm::Value* convert_int(llvm::Value* x, DType from, DType to);

  llvm::IRBuilder<>& b_;
  unsigned lanes_ = 1;
};

/// The type of an f16/bf16 computation is F32.
inline DType compute_dtype(DType d) { return d == DType::F16 || d == DType::BF16 ? DType::F32 : d; }

}  // namespace tercet::codegen
