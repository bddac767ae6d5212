#include "codegen/plan/affine.h"

#include "codegen/plan/roles.h"

namespace tercet::codegen {
namespace {

bool is_wide(DType d) { return d == DType::I32 || d == DType::I64; }
bool not_negative(const Dim& d) { return positive_part(d) == d; }

/// d of an extent max(d, 0), which a loop that runs has.
Dim of_running_loop(const Dim& extent) {
  const std::vector<DimTerm>& terms = extent.terms();
  if (extent.constant() || terms.size() != 1 || terms[0].coefficient != 1 || terms[0].factors.size() != 1) return extent;
  const DimAtom& atom = *terms[0].factors[0];
  return atom.kind == DimAtom::Max && atom.b.is(0) ? atom.a : extent;
}

Index minus(const Index& a, const Index& b) { return a + b * Dim(-1); }

}  // namespace

AffineNumbers::AffineNumbers(std::vector<Dim> extents) : extents_(std::move(extents)) {}

Num AffineNumbers::make(Value v, DType dtype) {
  values_.push_back(std::move(v));
  return {this, &values_.back(), dtype};
}

Num AffineNumbers::of(const Index& index, DType dtype) { return is_wide(dtype) ? make({index, {}}, dtype) : unknown(dtype); }

std::optional<AffineNumbers::Bounds> AffineNumbers::bounds(const Index& index) const {
  if (!index.nodes.empty()) return std::nullopt;
  Bounds out{index.offset, index.offset};
  for (const Index::Term& t : index.loops) {
    Dim last = (of_running_loop(extents_[static_cast<size_t>(t.of)]) - Dim(1)) * t.coefficient;
    if (not_negative(t.coefficient)) out.high = out.high + last;
    else if (not_negative(Dim(0) - t.coefficient)) out.low = out.low + last;
    else return std::nullopt;
  }
  return out;
}

bool AffineNumbers::within(const Index& index, const Dim& low, const Dim& high) const {
  std::optional<Bounds> b = bounds(index);
  return b && not_negative(b->low - low) && not_negative(high - b->high);
}

Num AffineNumbers::constant_int(DType dtype, uint64_t bits) {
  if (dtype == DType::Bool) return make({{}, bits != 0}, dtype);
  auto number = dtype == DType::I32 ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits);
  return of({Dim(number), {}, {}}, dtype);
}

Num AffineNumbers::unary(NumUnary op, Num x) {
  const Value& v = value(x);
  if (op == NumUnary::Neg && v.index) return make({*v.index * Dim(-1), {}}, x.dtype);
  if (op == NumUnary::Not && v.truth) return make({{}, !*v.truth}, x.dtype);
  return unknown(op == NumUnary::IsNan ? DType::Bool : x.dtype);
}

Num AffineNumbers::binary(NumBinary op, Num a, Num b) {
  const Value &x = value(a), &y = value(b);
  if (a.dtype == DType::Bool) {
    bool decisive = op == NumBinary::Or;   // the value that decides alone
    if (op != NumBinary::Or && op != NumBinary::And) return unknown(a.dtype);
    if (x.truth == decisive || y.truth == decisive) return make({{}, decisive}, a.dtype);
    return x.truth && y.truth ? make({{}, !decisive}, a.dtype) : unknown(a.dtype);
  }
  if (!x.index || !y.index) return unknown(a.dtype);
  auto plain = [](const Index& i) { return i.loops.empty() && i.nodes.empty(); };
  if (op == NumBinary::Add) return of(*x.index + *y.index, a.dtype);
  if (op == NumBinary::Sub) return of(minus(*x.index, *y.index), a.dtype);
  if (op == NumBinary::Mul && plain(*y.index)) return of(*x.index * y.index->offset, a.dtype);
  if (op == NumBinary::Mul && plain(*x.index)) return of(*y.index * x.index->offset, a.dtype);
  return unknown(a.dtype);
}

Num AffineNumbers::compare(NumCompare op, Num a, Num b) {
  const Value &x = value(a), &y = value(b);
  if (!x.index || !y.index) return unknown(DType::Bool);
  auto not_below = [&](const Index& p, const Index& q, int64_t by) {   // p >= q + by
    std::optional<Bounds> d = bounds(minus(p, q));
    return d && not_negative(d->low - Dim(by));
  };
  auto known = [&](bool yes, bool no) { return yes || no ? make({{}, yes}, DType::Bool) : unknown(DType::Bool); };
  switch (op) {
    case NumCompare::Lt: return known(not_below(*y.index, *x.index, 1), not_below(*x.index, *y.index, 0));
    case NumCompare::Le: return known(not_below(*y.index, *x.index, 0), not_below(*x.index, *y.index, 1));
    case NumCompare::Gt: return known(not_below(*x.index, *y.index, 1), not_below(*y.index, *x.index, 0));
    case NumCompare::Ge: return known(not_below(*x.index, *y.index, 0), not_below(*y.index, *x.index, 1));
    case NumCompare::Eq: return known(*x.index == *y.index, false);
    case NumCompare::Ne: return known(false, *x.index == *y.index);
  }
  return unknown(DType::Bool);
}

Num AffineNumbers::select(Num mask, Num a, Num b) {
  if (std::optional<bool> t = truth(mask)) return *t ? a : b;
  return unknown(a.dtype);
}

Num AffineNumbers::convert(Num x, DType to) { return value(x).index ? of(*value(x).index, to) : unknown(to); }

namespace {

struct AffineRule {
  const ValueFacts& facts;
  const Op& op;
  const Position& position;
  AffineNumbers& numbers;
  using Result = std::optional<Index>;

  Result operator()(const CodeIota&) const { return position[static_cast<size_t>(op.attrs.get<int64_t>("axis"))]; }
  Result operator()(const CodeSize&) const {
    const Dim* size = op.attrs.has("dim") ? &op.attrs.get<Dim>("dim") : nullptr;
    return size ? Result(Index{*size, {}, {}}) : std::nullopt;
  }
  Result operator()(const CodeConstant&) const {
    const Array& value = op.attrs.get<Array>("value");
    return value.rank() == 0 ? Result(Index{Dim(value.as_int()), {}, {}}) : std::nullopt;
  }
  Result operator()(const CodeView&) const { return affine_index(facts, op.inputs[0], viewed_position(facts.function, op, position), numbers); }
  Result operator()(const CodeElementwise& code) const {
    std::vector<Num> operands;
    for (ValueId v : op.inputs) {
      Result r = affine_index(facts, v, position, numbers);
      DType dtype = facts.function.type(v).dtype;
      operands.push_back(r ? numbers.of(*r, dtype) : truth_of(v));
    }
    Num result = code.emit(operands, op, facts.function.type(op.output()).dtype);
    const Index* index = numbers.index(result);
    return index ? Result(*index) : std::nullopt;
  }
  template <class Other> Result operator()(const Other&) const { return std::nullopt; }

  /// A comparison among the operands, as the mask of a choice.
  Num truth_of(ValueId v) const {
    DType dtype = facts.function.type(v).dtype;
    const Op* made = facts.op(v);
    auto* code = made && !facts.in_memory[v] ? std::get_if<CodeElementwise>(&made->def->code) : nullptr;
    if (dtype != DType::Bool || !code) return numbers.constant_float(dtype, 0);
    std::vector<Num> operands;
    for (ValueId o : made->inputs) {
      Result r = affine_index(facts, o, position, numbers);
      DType d = facts.function.type(o).dtype;
      operands.push_back(r ? numbers.of(*r, d) : numbers.constant_float(d, 0));
    }
    return code->emit(operands, *made, dtype);
  }
};

}  // namespace

std::optional<Index> affine_index(const ValueFacts& facts, ValueId v, const Position& position, AffineNumbers& numbers) {
  const Op* op = facts.op(v);
  if (!op || !is_wide(facts.function.type(v).dtype)) return std::nullopt;
  if (facts.in_memory[v] && !std::holds_alternative<CodeConstant>(op->def->code)) return std::nullopt;
  return std::visit(AffineRule{facts, *op, position, numbers}, op->def->code);
}

bool never_fails(const ValueFacts& facts, const Op& check) {
  auto* code = std::get_if<CodeCheck>(&check.def->code);
  if (!code || !code->failed) return false;
  size_t reads = check.inputs.size() - check.attrs.get_or<bool>("has_live", false);
  if (reads == 0) return false;
  std::vector<Dim> space = facts.function.type(check.inputs[0]).dims;
  AffineNumbers numbers(space);
  std::vector<Num> operands, sizes;
  for (size_t k = 0; k < reads; ++k) {
    std::optional<Index> index = affine_index(facts, check.inputs[k], identity_position(space.size()), numbers);
    if (!index) return false;
    operands.push_back(numbers.of(*index, facts.function.type(check.inputs[k]).dtype));
  }
  for (auto& [name, attr] : check.attrs.items())
    if (const Dim* d = std::get_if<Dim>(&attr)) sizes.push_back(numbers.of({*d, {}, {}}, DType::I64));
  return numbers.truth(code->failed(operands, sizes)) == false;
}

}  // namespace tercet::codegen
