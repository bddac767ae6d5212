#include "codegen/llvm/reducer.h"

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

unsigned lanes_of(llvm::Value* v) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return vector ? vector->getNumElements() : 1;
}

uint64_t smallest(DType d) { return is_signed_int(d) ? uint64_t{1} << (size_of(d) * 8 - 1) : 0; }
uint64_t largest(DType d) { return is_signed_int(d) ? smallest(d) - 1 : ~uint64_t{0}; }

}  // namespace

Values Reducer::absent(unsigned lanes) {
  LanesScope scope(n_, lanes);
  bool floating = is_float(element_);
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
      v = n_.constant_int(state_, seeks_largest() ? smallest(state_) : largest(state_));
  }
  Values state{LlvmNumbers::value(v)};
  if (with_position()) state.push_back(LlvmNumbers::value(n_.constant_int(DType::I32, largest(DType::I32))));
  return state;
}

/// Bits of a float to an integer in the order of the floats, and back: -0 comes before +0.
Num Reducer::in_order(Num bits) {
  auto width = size_of(state_) * 8;
  Num sign = n_.binary(NumBinary::Shr, bits, n_.constant_int(state_, width - 1));
  return n_.binary(NumBinary::Xor, bits, n_.binary(NumBinary::And, sign, n_.constant_int(state_, largest(state_))));
}

/// NaN comes after all numbers when the largest is sought, else before. Where positions count, zeros are equal.
Num Reducer::key(Num x) {
  if (with_position()) x = x + n_.constant_float(element_, 0.0);
  uint64_t nan = state_ == DType::I64 ? 0x7ff8000000000000u : 0x7fc00000u;
  if (!seeks_largest()) nan = ~nan;
  return tercet::select(is_nan(x), n_.constant_int(state_, nan), in_order(n_.bitcast(x, state_)));
}

Values Reducer::of(llvm::Value* element, llvm::Value* position) {
  LanesScope scope(n_, lanes_of(element));
  if (keyed()) element = LlvmNumbers::value(key(n_.wrap(element, element_)));
  if (with_position()) return {element, position};
  return {element};
}

Values Reducer::total(const Values& state) {
  LanesScope scope(n_, lanes_of(state[0]));
  Values out = state;
  if (keyed()) out[0] = LlvmNumbers::value(n_.bitcast(in_order(num(state[0])), element_));
  return out;
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

// The larger (smaller) value wins, then the earlier position.
Values Reducer::combine(const Values& x, const Values& y) {
  if (!with_position()) return {combine_values(x[0], y[0])};
  Num a = num(x[0]), b = num(y[0]);
  Num at_a = n_.wrap(x[1], DType::I32), at_b = n_.wrap(y[1], DType::I32);
  Num take = either(seeks_largest() ? b > a : b < a, both(eq(a, b), at_b < at_a));
  return {LlvmNumbers::value(tercet::select(take, b, a)), LlvmNumbers::value(tercet::select(take, at_b, at_a))};
}

// The key of the absent state is smaller (larger) than that of any float; the smallest integer is one that may occur.
Values Reducer::append(const Values& x, const Values& y) {
  if (!with_position() || !keyed()) return combine(x, y);
  Num a = num(x[0]), b = num(y[0]);
  Num take = seeks_largest() ? b > a : b < a;
  return {LlvmNumbers::value(tercet::select(take, b, a)),
          LlvmNumbers::value(tercet::select(take, n_.wrap(y[1], DType::I32), n_.wrap(x[1], DType::I32)))};
}

Values Reducer::select(llvm::Value* mask, const Values& b, const Values& a) {
  Values out;
  for (size_t k = 0; k < a.size(); ++k) out.push_back(b_.CreateSelect(mask, b[k], a[k]));
  return out;
}

/// f(lanes below, lanes above) in half as many lanes each time, until one is left.
template <class F>
Values Reducer::halved(Values state, F f) {
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
    state = f(a, b);
  }
  for (llvm::Value*& v : state) v = b_.CreateExtractElement(v, uint64_t{0});
  return state;
}

Values Reducer::across_lanes(Values state) {
  if (with_position() && state_ != DType::Bool) return first_of_best(state);
  return halved(std::move(state), [&](const Values& a, const Values& b) { return combine(a, b); });
}

// The tree's result, found in half the steps: the best value of all lanes, then the lowest position of those that have it.
Values Reducer::first_of_best(const Values& state) {
  auto better = [&](Num a, Num b) { return seeks_largest() ? maximum(a, b) : minimum(a, b); };
  Values best = halved({state[0]}, [&](const Values& a, const Values& b) { return Values{LlvmNumbers::value(better(num(a[0]), num(b[0])))}; });
  LanesScope scope(n_, vector_lanes);
  Num everywhere = num(b_.CreateVectorSplat(vector_lanes, best[0])), none = n_.constant_int(DType::I32, largest(DType::I32));
  Num places = tercet::select(eq(num(state[0]), everywhere), n_.wrap(state[1], DType::I32), none);
  Values first = halved({LlvmNumbers::value(places)}, [&](const Values& a, const Values& b) {
    return Values{LlvmNumbers::value(minimum(n_.wrap(a[0], DType::I32), n_.wrap(b[0], DType::I32)))};
  });
  return {best[0], first[0]};
}

std::vector<Reducer> reducers_of(const Kernel& kernel, LlvmNumbers& numbers, llvm::IRBuilder<>& b) {
  std::vector<Reducer> out;
  for (const Reduction& r : kernel.reductions)
    out.emplace_back(numbers, b, r.kind, kernel.nodes[static_cast<size_t>(r.value)].dtype);
  return out;
}

}  // namespace tercet::codegen
