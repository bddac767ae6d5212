// Integers that are known to be linear in the loop counters. Index arithmetic, bounds checks included, is evaluated on
// them by the rows' own emit rules: where it comes out linear, elements are addressed directly instead of through computed
// indices; where a check comes out false for all counters, it is not made.
//
// Sums of i32 are taken to be exact: they wrap only where an axis has more than 2^31 elements.
#pragma once
#include <deque>
#include <optional>

#include "codegen/plan/expression.h"

namespace tercet::codegen {

class AffineNumbers final : public NumberBuilder {
 public:
  /// Loop l counts from 0 to extents[l] - 1; what holds need only hold where every loop runs.
  explicit AffineNumbers(std::vector<Dim> extents);

  Num of(const Index& index, DType dtype);
  const Index* index(Num n) const { return value(n).index ? &*value(n).index : nullptr; }
  std::optional<bool> truth(Num n) const { return value(n).truth; }
  /// Provably low <= index <= high.
  bool within(const Index& index, const Dim& low, const Dim& high) const;

  Num constant_float(DType dtype, double) override { return unknown(dtype); }
  Num constant_int(DType dtype, uint64_t bits) override;
  Num unary(NumUnary op, Num x) override;
  Num binary(NumBinary op, Num a, Num b) override;
  Num compare(NumCompare op, Num a, Num b) override;
  Num fma(Num a, Num, Num) override { return unknown(a.dtype); }
  Num select(Num mask, Num a, Num b) override;
  Num bitcast(Num, DType to) override { return unknown(to); }
  Num convert(Num x, DType to) override;

 private:
  struct Value {
    std::optional<Index> index;
    std::optional<bool> truth;
  };
  struct Bounds { Dim low, high; };
  static const Value& value(Num n) { return *static_cast<const Value*>(n.handle); }
  Num make(Value v, DType dtype);
  Num unknown(DType dtype) { return make({}, dtype); }
  std::optional<Bounds> bounds(const Index& index) const;

  std::vector<Dim> extents_;
  std::deque<Value> values_;
};

/// The element of an integer value at a position, when it is linear.
std::optional<Index> affine_index(const ValueFacts& facts, ValueId v, const Position& position, AffineNumbers& numbers);
/// The check holds at every point of its space.
bool never_fails(const ValueFacts& facts, const Op& check);

}  // namespace tercet::codegen
