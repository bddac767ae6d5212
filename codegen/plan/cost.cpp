#include "codegen/plan/cost.h"

namespace tercet::codegen {
namespace {

/// Slow operations count as the number of cheap ones they displace.
constexpr int64_t division_cost = 4, integer_division_cost = 20;

class CountingNumbers final : public NumberBuilder {
 public:
  int64_t count = 0;
  Num constant_float(DType dtype, double) override { return of(dtype, 0); }
  Num constant_int(DType dtype, uint64_t) override { return of(dtype, 0); }
  Num unary(NumUnary op, Num x) override {
    return of(op == NumUnary::IsNan ? DType::Bool : x.dtype, op == NumUnary::Sqrt ? division_cost : 1);
  }
  Num binary(NumBinary op, Num a, Num) override {
    bool integer_division = op == NumBinary::DivTrunc || op == NumBinary::RemTrunc;
    return of(a.dtype, integer_division ? integer_division_cost : op == NumBinary::Div ? division_cost : 1);
  }
  Num compare(NumCompare, Num, Num) override { return of(DType::Bool, 1); }
  Num fma(Num a, Num, Num) override { return of(a.dtype, 1); }
  Num select(Num, Num a, Num) override { return of(a.dtype, 1); }
  Num bitcast(Num, DType to) override { return of(to, 0); }
  Num convert(Num, DType to) override { return of(to, 1); }
  Num of(DType dtype, int64_t cost) {
    count += cost;
    return {this, nullptr, dtype};
  }
};

}  // namespace

int64_t elementwise_cost(const Function& f, const Op& op) {
  CountingNumbers numbers;
  auto widened = [](DType d) { return d == DType::F16 || d == DType::BF16 ? DType::F32 : d; };
  std::vector<Num> operands;
  for (ValueId v : op.inputs) operands.push_back({&numbers, nullptr, widened(f.type(v).dtype)});
  DType result = f.type(op.output()).dtype;
  std::get<CodeElementwise>(op.def->code).emit(operands, op, result);
  bool rounds = result == DType::F16 || result == DType::BF16;
  return std::max<int64_t>(1, numbers.count) + (rounds ? 4 : 0);
}

}  // namespace tercet::codegen
