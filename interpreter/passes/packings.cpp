#include "interpreter/passes/packings.h"

#include <algorithm>

#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

}  // namespace

bool Packings::varies(const Dim& d) const {
  if (d.constant() || symbols_.empty()) return false;
  std::vector<uint64_t> symbols;
  d.collect_symbols(symbols);
  return std::any_of(symbols.begin(), symbols.end(), [&](uint64_t s) { return symbols_.contains(s); });
}

const Packing& Packings::add(Packing packing) {
  const Packing& kept = all_.emplace_back(std::move(packing));
  if (uint64_t id = kept.size.symbol_id()) symbols_[id] = &kept;
  return kept;
}

ValueId Packings::lengths_of(ValueId offsets, Span span) {
  auto part = [&](int64_t from) {
    return out_.emit(slice_op, {offsets}, {{"starts", Dims{Dim(from)}}, {"sizes", Dims{lanes_}}, {"steps", Ints{1}}}, span);
  };
  ValueId begins = part(0), ends = part(1);
  return apply(sub_op, ends, begins, span);
}

const Packing& Packings::define(const Dim& symbol, const Dim& total, ValueId offsets, Span span) {
  return add({symbol, total, offsets, lengths_of(offsets, span)});
}

const Packing& Packings::define(const Dim& symbol, ValueId lengths, Span span) {
  Dim total = Dim::symbol("total");
  ValueId offsets = out_.emit(offsets_of_op, {lengths}, {{"defines", total}}, span);
  return add({symbol, total, offsets, lengths});
}

const Packing& Packings::uniform(const Dim& n, Span span) {
  for (const Packing& p : all_)
    if (p.size == n) return p;
  ValueId rows = out_.emit(iota_op, {}, {{"dims", Dims{lanes_ + Dim(1)}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, span);
  ValueId size = out_.emit(dim_value_op, {}, {{"dim", n}}, span);
  ValueId sizes = out_.emit(broadcast_op, {size}, {{"dims", Dims{lanes_ + Dim(1)}}, {"axes", Ints{}}}, span);
  return add({n, lanes_ * n, apply(mul_op, rows, sizes, span), spread(size, span)});
}

/// size = n times that of a packing which is there, with n the same in all lanes.
const Packing* Packings::multiple(const Dim& size, Span span) {
  for (const Packing& p : all_) {
    if (!varies(p.size)) continue;
    Dim factor = floordiv(size, p.size);
    const auto& terms = size.terms();
    if (terms.size() == 1 && p.size.symbol_id() && !factor.constant()) {   // n * k, as one product
      Dim rest(terms[0].coefficient);
      bool taken = false;
      for (const DimAtomPtr& f : terms[0].factors)
        if (!taken && f->kind == DimAtom::Symbol && f->id == p.size.symbol_id()) taken = true;
        else if (f->kind == DimAtom::Symbol) rest = rest * Dim::of_atom(f);
        else taken = false;
      factor = taken ? rest : Dim(0);
    } else if (!terms.empty() && !p.size.terms().empty() && p.size.terms()[0].coefficient != 0) {
      factor = Dim(terms[0].coefficient / p.size.terms()[0].coefficient);
    }
    if (factor.is(0) || varies(factor) || !(p.size * factor == size)) continue;
    ValueId n = out_.emit(dim_value_op, {}, {{"dim", factor}}, span);
    ValueId all = out_.emit(broadcast_op, {n}, {{"dims", Dims{lanes_ + Dim(1)}}, {"axes", Ints{}}}, span);
    Packing made{size, p.total * factor, apply(mul_op, p.offsets, all, span), apply(mul_op, p.lengths, spread(n, span), span)};
    return &add(std::move(made));
  }
  return nullptr;
}

const Packing& Packings::of(const Dim& size, Span span) {
  for (const Packing& p : all_)
    if (p.size == size) return p;
  if (const Packing* known = multiple(size, span)) return *known;
  return define(size, in_lanes(size, span), span);
}

ValueId Packings::number(int64_t value) { return out_.emit(constant_op, {}, {{"value", scalar_of_int(DType::I64, value)}}); }
ValueId Packings::spread(ValueId scalar, Span span) {
  return out_.emit(broadcast_op, {scalar}, {{"dims", Dims{lanes_}}, {"axes", Ints{}}}, span);
}

ValueId Packings::in_lanes(const Dim& size, Span span) {
  if (!varies(size)) return spread(out_.emit(dim_value_op, {}, {{"dim", size}}, span), span);
  for (const Packing& p : all_)
    if (p.size == size) return p.lengths;
  ValueId sum = no_value;
  for (const DimTerm& t : std::vector<DimTerm>(size.terms())) {
    ValueId product = no_value;
    for (const DimAtomPtr& f : t.factors) {
      ValueId x = atom(*f, span);
      product = product == no_value ? x : apply(mul_op, product, x, span);
    }
    if (product == no_value) product = spread(number(t.coefficient), span);
    else if (t.coefficient != 1) product = apply(mul_op, product, spread(number(t.coefficient), span), span);
    sum = sum == no_value ? product : apply(add_op, sum, product, span);
  }
  return sum;
}

/// The quotient of sizes by 0 is 0, as Dim has it.
ValueId Packings::atom(const DimAtom& a, Span span) {
  if (a.kind == DimAtom::Symbol || a.kind == DimAtom::RaggedSize) {
    if (auto found = symbols_.find(a.id); found != symbols_.end()) return found->second->lengths;
    return spread(out_.emit(dim_value_op, {}, {{"dim", Dim::of_atom(std::make_shared<DimAtom>(a))}}, span), span);
  }
  ValueId x = in_lanes(a.a, span), y = in_lanes(a.b, span);
  ValueId zero = spread(number(0), span), one = spread(number(1), span);
  auto choose = [&](const OpDef& compare, ValueId with, ValueId of, ValueId yes, ValueId no) {
    return out_.emit(select_op, {apply(compare, of, with, span), yes, no}, {}, span);
  };
  switch (a.kind) {
    case DimAtom::Min: return apply(minimum_op, x, y, span);
    case DimAtom::Max: return apply(maximum_op, x, y, span);
    case DimAtom::FloorDiv:
    case DimAtom::Mod: {
      ValueId safe = choose(eq_op, zero, y, one, y);
      return choose(eq_op, zero, y, zero, apply(a.kind == DimAtom::Mod ? mod_op : floor_div_op, x, safe, span));
    }
    default: return choose(eq_op, one, x, y, x);
  }
}

ValueId Packings::ids(const Packing& packing, Span span) {
  auto& p = const_cast<Packing&>(packing);
  if (p.ids == no_value) p.ids = out_.emit(row_ids_op, {p.offsets}, {{"total", p.total}}, span);
  return p.ids;
}

ValueId Packings::places(const Packing& packing, Span span) {
  auto& p = const_cast<Packing&>(packing);
  if (p.places != no_value) return p.places;
  ValueId steps = out_.emit(iota_op, {}, {{"dims", Dims{p.total}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, span);
  ValueId begins = out_.emit(gather_op, {p.offsets, ids(p, span)}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, span);
  return p.places = apply(sub_op, steps, begins, span);
}

}  // namespace tercet
