#include "codegen/llvm/numbers.h"

#include <llvm/IR/Intrinsics.h>

#include "base/diagnostic.h"
#include "codegen/plan/kernel.h"

namespace tercet::codegen {
namespace {

bool is_unsigned(DType d) { return is_unsigned_int(d) || d == DType::Bool; }

}  // namespace

llvm::Type* LlvmNumbers::scalar_type(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return b_.getInt1Ty();
    case DType::F16:
    case DType::BF16:
    case DType::F32:
      return b_.getFloatTy();
    case DType::F64:
      return b_.getDoubleTy();
    default:
      return b_.getIntNTy(static_cast<unsigned>(size_of(dtype)) * 8);
  }
}

llvm::Type* LlvmNumbers::type(DType dtype) {
  llvm::Type* t = scalar_type(dtype);
  return lanes_ == 1 ? t : llvm::FixedVectorType::get(t, lanes_);
}

llvm::Value* LlvmNumbers::intrinsic(unsigned id, llvm::Value* x) {
  return b_.CreateUnaryIntrinsic(static_cast<llvm::Intrinsic::ID>(id), x);
}

llvm::Value* LlvmNumbers::rounded(llvm::Value* v, DType dtype) {
  if (dtype == DType::F16) {
    llvm::Type* half = v->getType()->getWithNewType(b_.getHalfTy());
    return b_.CreateFPExt(b_.CreateFPTrunc(v, half), v->getType());
  }
  if (dtype != DType::BF16) return v;
  llvm::Type* ints = v->getType()->getWithNewType(b_.getInt32Ty());
  auto constant = [&](uint32_t c) { return llvm::ConstantInt::get(ints, c); };
  llvm::Value* bits = b_.CreateBitCast(v, ints);
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(bits, constant(16)), constant(1));
  llvm::Value* kept = b_.CreateAnd(b_.CreateAdd(bits, b_.CreateAdd(odd, constant(0x7fff))), constant(0xffff0000u));
  llvm::Value* nan = b_.CreateFCmpUNO(v, v);
  return b_.CreateBitCast(b_.CreateSelect(nan, constant(0x7fc00000u), kept), v->getType());
}

Num LlvmNumbers::constant_float(DType dtype, double value) {
  double exact = dtype == DType::F64 ? value : static_cast<double>(static_cast<float>(value));
  return wrap(llvm::ConstantFP::get(type(dtype), exact), dtype);
}

Num LlvmNumbers::constant_int(DType dtype, uint64_t bits) {
  unsigned width = dtype == DType::Bool ? 1 : static_cast<unsigned>(size_of(dtype)) * 8;
  return wrap(llvm::ConstantInt::get(type(dtype), llvm::APInt(64, bits).trunc(width)), dtype);
}

Num LlvmNumbers::unary(NumUnary op, Num x) {
  llvm::Value* v = value(x);
  bool floating = is_float(x.dtype);
  switch (op) {
    case NumUnary::Neg:
      v = floating ? b_.CreateFNeg(v) : b_.CreateNeg(v);
      break;
    case NumUnary::Not:
      v = b_.CreateNot(v);
      break;
    case NumUnary::Abs:
      if (floating)
        v = intrinsic(llvm::Intrinsic::fabs, v);
      else if (!is_unsigned(x.dtype))
        v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b_.getFalse());
      break;
    case NumUnary::Sqrt:
      v = intrinsic(llvm::Intrinsic::sqrt, v);
      break;
    case NumUnary::Floor:
      v = intrinsic(llvm::Intrinsic::floor, v);
      break;
    case NumUnary::Ceil:
      v = intrinsic(llvm::Intrinsic::ceil, v);
      break;
    case NumUnary::Trunc:
      v = intrinsic(llvm::Intrinsic::trunc, v);
      break;
    case NumUnary::RoundEven:
      v = intrinsic(llvm::Intrinsic::roundeven, v);
      break;
    case NumUnary::IsNan:
      return wrap(floating ? b_.CreateFCmpUNO(v, v) : value(constant_int(DType::Bool, 0)), DType::Bool);
    case NumUnary::CountLeadingZeros:
      v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v, b_.getFalse());
      break;
    case NumUnary::PopCount:
      v = intrinsic(llvm::Intrinsic::ctpop, v);
      break;
  }
  return wrap(v, x.dtype);
}

Num LlvmNumbers::binary(NumBinary op, Num x, Num y) {
  llvm::Value *a = value(x), *b = value(y), *v = nullptr;
  bool floating = is_float(x.dtype), no_sign = is_unsigned(x.dtype);
  namespace ids = llvm::Intrinsic;
  switch (op) {
    case NumBinary::Add:
      v = floating ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
      break;
    case NumBinary::Sub:
      v = floating ? b_.CreateFSub(a, b) : b_.CreateSub(a, b);
      break;
    case NumBinary::Mul:
      v = floating ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
      break;
    case NumBinary::Div:
      v = b_.CreateFDiv(a, b);
      break;
    case NumBinary::And:
      v = b_.CreateAnd(a, b);
      break;
    case NumBinary::Or:
      v = b_.CreateOr(a, b);
      break;
    case NumBinary::Xor:
      v = b_.CreateXor(a, b);
      break;
    case NumBinary::Shl:
      v = b_.CreateShl(a, b);
      break;
    case NumBinary::Shr:
      v = no_sign ? b_.CreateLShr(a, b) : b_.CreateAShr(a, b);
      break;
    case NumBinary::DivTrunc:
      v = divide(x, y, false);
      break;
    case NumBinary::RemTrunc:
      v = divide(x, y, true);
      break;
    case NumBinary::Min:
      v = b_.CreateBinaryIntrinsic(floating ? ids::minimum : no_sign ? ids::umin : ids::smin, a, b);
      break;
    case NumBinary::Max:
      v = b_.CreateBinaryIntrinsic(floating ? ids::maximum : no_sign ? ids::umax : ids::smax, a, b);
      break;
    case NumBinary::MulHigh:
      v = multiply_high(a, b);
      break;
  }
  return wrap(v, x.dtype);
}

// Division by 0 gives 0 and MIN / -1 wraps; LLVM leaves both undefined. Divisors 0 and -1 are replaced by 1 first:
// the quotient by -1 is then the dividend itself, negated afterwards, and the remainder is 0 as it should be.
// 8 to 32 bits divide as floats that hold them exactly: a quotient that is not whole differs from the next integer by
// at least 1/2^32 of itself, which the float resolves, so truncating it is exact (and there is no vector division).
llvm::Value* LlvmNumbers::divide(Num x, Num y, bool remainder) {
  llvm::Value *a = value(x), *b = value(y);
  llvm::Type* t = a->getType();
  bool is_signed = is_signed_int(x.dtype);
  llvm::Value *zero = llvm::Constant::getNullValue(t), *one = llvm::ConstantInt::get(t, 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  llvm::Value* by_minus_one = is_signed ? b_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(t)) : nullptr;
  llvm::Value* divisor = b_.CreateSelect(is_signed ? b_.CreateOr(by_zero, by_minus_one) : by_zero, one, b);
  llvm::Value* quotient = nullptr;
  if (size_of(x.dtype) < 8 && t->isVectorTy()) {
    llvm::Type* floats = t->getWithNewType(size_of(x.dtype) == 4 ? b_.getDoubleTy() : b_.getFloatTy());
    auto widen = [&](llvm::Value* v) { return is_signed ? b_.CreateSIToFP(v, floats) : b_.CreateUIToFP(v, floats); };
    llvm::Value* q = b_.CreateFDiv(widen(a), widen(divisor));
    quotient = is_signed ? b_.CreateFPToSI(q, t) : b_.CreateFPToUI(q, t);
  } else {
    quotient = is_signed ? b_.CreateSDiv(a, divisor) : b_.CreateUDiv(a, divisor);
  }
  if (remainder) return b_.CreateSelect(by_zero, zero, b_.CreateSub(a, b_.CreateMul(quotient, divisor)));
  if (is_signed) quotient = b_.CreateSelect(by_minus_one, b_.CreateNeg(a), quotient);
  return b_.CreateSelect(by_zero, zero, quotient);
}

llvm::Value* LlvmNumbers::multiply_high(llvm::Value* a, llvm::Value* b) {
  llvm::Type* wide = a->getType()->getWithNewType(b_.getInt64Ty());
  llvm::Value* product = b_.CreateMul(b_.CreateZExt(a, wide), b_.CreateZExt(b, wide));
  return b_.CreateTrunc(b_.CreateLShr(product, llvm::ConstantInt::get(wide, 32)), a->getType());
}

Num LlvmNumbers::compare(NumCompare op, Num x, Num y) {
  using P = llvm::CmpInst;
  constexpr P::Predicate on_floats[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  constexpr P::Predicate on_signed[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  constexpr P::Predicate on_unsigned[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  auto at = static_cast<size_t>(op);
  auto predicate = is_float(x.dtype) ? on_floats[at] : is_unsigned(x.dtype) ? on_unsigned[at] : on_signed[at];
  return wrap(b_.CreateCmp(predicate, value(x), value(y)), DType::Bool);
}

Num LlvmNumbers::fma(Num a, Num b, Num c) {
  llvm::Value* v = b_.CreateIntrinsic(llvm::Intrinsic::fma, {value(a)->getType()}, {value(a), value(b), value(c)});
  return wrap(v, a.dtype);
}

Num LlvmNumbers::select(Num mask, Num a, Num b) {
  return wrap(b_.CreateSelect(value(mask), value(a), value(b)), a.dtype);
}

Num LlvmNumbers::bitcast(Num x, DType to) {
  llvm::Type* t = value(x)->getType()->getWithNewType(scalar_type(to));
  return wrap(b_.CreateBitCast(value(x), t), to);
}

Num LlvmNumbers::convert(Num x, DType to) {
  to = compute_dtype(to);
  if (x.dtype == to) return x;
  llvm::Value* v = value(x);
  if (to == DType::Bool) {
    llvm::Value* zero = llvm::Constant::getNullValue(v->getType());
    return wrap(is_float(x.dtype) ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero), to);
  }
  return wrap(is_float(x.dtype) ? convert_float(v, x.dtype, to) : convert_int(v, x.dtype, to), to);
}

llvm::Value* LlvmNumbers::convert_float(llvm::Value* x, DType from, DType to) {
  llvm::Type* t = x->getType()->getWithNewType(scalar_type(to));
  if (is_float(to)) return to > from ? b_.CreateFPExt(x, t) : b_.CreateFPTrunc(x, t);
  auto id = is_unsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
  return b_.CreateIntrinsic(id, {t, x->getType()}, {x});
}

llvm::Value* LlvmNumbers::convert_int(llvm::Value* x, DType from, DType to) {
  llvm::Type* t = x->getType()->getWithNewType(scalar_type(to));
  if (is_float(to)) return is_unsigned(from) ? b_.CreateUIToFP(x, t) : b_.CreateSIToFP(x, t);
  return is_unsigned(from) ? b_.CreateZExtOrTrunc(x, t) : b_.CreateSExtOrTrunc(x, t);
}

}  // namespace tercet::codegen
