#include "codegen/llvm/reducer.h"

#include <limits>

namespace tercet::codegen {
namespace {

/// Sets the lanes of constants for a scope.
class LanesScope {
 public:
  LanesScope(LlvmNumbers& n, unsigned lanes) : n_(n), before_(n.lanes()) { n.set_lanes(lanes); }
  ~LanesScope() { n_.set_lanes(before_); }

 private:
  LlvmNumbers& n_;
  unsigned before_;
};

uint64_t smallest(DType d) { return is_signed_int(d) ? uint64_t{1} << (size_of(d) * 8 - 1) : 0; }
uint64_t largest(DType d) { return is_signed_int(d) ? smallest(d) - 1 : ~uint64_t{0}; }

}  // namespace

llvm::Type* Reducer::type(size_t k, unsigned lanes) {
  LanesScope scope(n_, lanes);
  return n_.type(part(k));
}

Values Reducer::absent(unsigned lanes) {
  LanesScope scope(n_, lanes);
  bool floating = is_float(element_);
  bool seeks_largest = kind_ == ReduceKind::Max || kind_ == ReduceKind::ArgMax;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Num v{};
  switch (kind_) {
    case ReduceKind::Sum:
      v = floating ? n_.constant_float(element_, -0.0) : n_.constant_int(element_, 0);
      break;
    case ReduceKind::Prod:
      v = floating ? n_.constant_float(element_, 1) : n_.constant_int(element_, 1);
      break;
    case ReduceKind::Any:
      v = n_.constant_int(element_, 0);
      break;
    case ReduceKind::All:
      v = n_.constant_int(element_, 1);
      break;
    default:
      v = floating ? n_.constant_float(element_, seeks_largest ? -infinity : infinity)
                   : n_.constant_int(element_, seeks_largest ? smallest(element_) : largest(element_));
  }
  Values state{LlvmNumbers::value(v)};
  if (with_position()) state.push_back(LlvmNumbers::value(n_.constant_int(DType::I32, largest(DType::I32))));
  return state;
}

Values Reducer::of(llvm::Value* element, llvm::Value* position) const {
  if (with_position()) return {element, position};
  return {element};
}

llvm::Value* Reducer::combine_values(llvm::Value* x, llvm::Value* y) {
  Num a = num(x), b = num(y);
  switch (kind_) {
    case ReduceKind::Sum:
      return LlvmNumbers::value(wrap_add(a, b));
    case ReduceKind::Prod:
      return LlvmNumbers::value(wrap_mul(a, b));
    case ReduceKind::Max:
      return LlvmNumbers::value(maximum(a, b));
    case ReduceKind::Min:
      return LlvmNumbers::value(minimum(a, b));
    case ReduceKind::Any:
      return LlvmNumbers::value(either(a, b));
    default:
      return LlvmNumbers::value(both(a, b));
  }
}

// The first NaN wins, then the larger (smaller) value, then the earlier position.
Values Reducer::combine_positions(const Values& x, const Values& y) {
  Num a = num(x[0]), b = num(y[0]);
  Num at_a = n_.wrap(x[1], DType::I32), at_b = n_.wrap(y[1], DType::I32);
  Num better = kind_ == ReduceKind::ArgMax ? b > a : b < a, same = eq(a, b);
  if (is_float(element_)) {
    Num a_nan = is_nan(a), b_nan = is_nan(b);
    better = either(better, both(b_nan, negation(a_nan)));
    same = either(same, both(a_nan, b_nan));
  }
  Num take = either(better, both(same, at_b < at_a));
  return {LlvmNumbers::value(tercet::select(take, b, a)), LlvmNumbers::value(tercet::select(take, at_b, at_a))};
}

Values Reducer::combine(const Values& a, const Values& b) {
  if (with_position()) return combine_positions(a, b);
  return {combine_values(a[0], b[0])};
}

Values Reducer::select(llvm::Value* mask, const Values& b, const Values& a) {
  Values out;
  for (size_t k = 0; k < a.size(); ++k) out.push_back(b_.CreateSelect(mask, b[k], a[k]));
  return out;
}

Values Reducer::across_lanes(Values state) {
  for (int half = vector_lanes / 2; half > 0; half /= 2) {
    llvm::SmallVector<int> low, high;
    for (int j = 0; j < half; ++j) {
      low.push_back(j);
      high.push_back(j + half);
    }
    Values a, b;
    for (llvm::Value* v : state) {
      a.push_back(b_.CreateShuffleVector(v, low));
      b.push_back(b_.CreateShuffleVector(v, high));
    }
    state = combine(a, b);
  }
  for (llvm::Value*& v : state) v = b_.CreateExtractElement(v, uint64_t{0});
  return state;
}

}  // namespace tercet::codegen
