#include "codegen/plan/size_table.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "interpreter/runtime/number.h"

namespace tercet::codegen {

SizeSlot SizeTable::add(Code code, SizeSlot a, SizeSlot b, int64_t value) {
  code_.push_back({code, count_, a, b, value});
  return count_++;
}

SizeSlot SizeTable::slot_of_atom(const DimAtom& atom) {
  switch (atom.kind) {
    case DimAtom::Symbol:
    case DimAtom::RaggedSize:
      return symbol(atom.id);
    case DimAtom::FloorDiv:
      return add(Code::FloorDiv, slot(atom.a), slot(atom.b));
    case DimAtom::Mod:
      return add(Code::Mod, slot(atom.a), slot(atom.b));
    case DimAtom::Min:
      return add(Code::Min, slot(atom.a), slot(atom.b));
    case DimAtom::Max:
      return add(Code::Max, slot(atom.a), slot(atom.b));
    case DimAtom::Broadcast:
      return add(Code::Broadcast, slot(atom.a), slot(atom.b));
  }
  return -1;
}

SizeSlot SizeTable::symbol(uint64_t id) {
  if (SizeSlot known = symbol_slot(id); known >= 0) return known;
  symbols_.push_back({id, count_});
  return count_++;
}

SizeSlot SizeTable::slot(const Dim& d) {
  if (auto found = known_.find(d); found != known_.end()) return found->second;
  SizeSlot sum = -1;
  if (auto constant = d.constant()) {
    sum = add(Code::Constant, -1, -1, *constant);
  } else {
    for (const DimTerm& term : std::vector<DimTerm>(d.terms())) {
      SizeSlot product = -1;
      if (term.coefficient != 1 || term.factors.empty()) product = slot(Dim(term.coefficient));
      for (const DimAtomPtr& factor : term.factors) {
        SizeSlot value = slot_of_atom(*factor);
        product = product < 0 ? value : add(Code::Mul, product, value);
      }
      sum = sum < 0 ? product : add(Code::Add, sum, product);
    }
  }
  known_.emplace(d, sum);
  return sum;
}

SizeSlot SizeTable::find(const Dim& d) const {
  auto found = known_.find(d);
  TERCET_CHECK(found != known_.end());
  return found->second;
}

std::vector<SizeSlot> SizeTable::slots(const std::vector<Dim>& dims) {
  std::vector<SizeSlot> out;
  for (const Dim& d : dims) out.push_back(slot(d));
  return out;
}

void SizeTable::define(uint64_t symbol, int stage) { stage_of_symbol_.emplace(symbol, stage); }

int SizeTable::stage(uint64_t symbol) const {
  auto found = stage_of_symbol_.find(symbol);
  return found == stage_of_symbol_.end() ? 0 : found->second;
}

SizeSlot SizeTable::symbol_slot(uint64_t id) const {
  for (const Symbol& s : symbols_)
    if (s.id == id) return s.slot;
  return -1;
}

void SizeTable::finish() {
  std::vector<int> stage_of_slot(slot_count());
  for (const Symbol& s : symbols_) {
    stage_of_slot[static_cast<size_t>(s.slot)] = stage(s.id);
    if (!defined(s.id)) free_.push_back(s);
  }
  stages_.assign(1, {});
  for (const Instruction& i : code_) {
    int at = std::max(i.a < 0 ? 0 : stage_of_slot[static_cast<size_t>(i.a)],
                      i.b < 0 ? 0 : stage_of_slot[static_cast<size_t>(i.b)]);
    stage_of_slot[static_cast<size_t>(i.to)] = at;
    if (static_cast<size_t>(at) >= stages_.size()) stages_.resize(static_cast<size_t>(at) + 1);
    stages_[static_cast<size_t>(at)].push_back(i);
  }
}

int64_t SizeTable::apply(Code code, int64_t a, int64_t b) {
  switch (code) {
    case Code::Add:
      return wrap_add(a, b);
    case Code::Mul:
      return wrap_mul(a, b);
    case Code::FloorDiv:
      return size_quotient(a, b);
    case Code::Mod:
      return size_remainder(a, b);
    case Code::Min:
      return std::min(a, b);
    case Code::Max:
      return std::max(a, b);
    default:
      return a == 1 ? b : a;
  }
}

void SizeTable::evaluate(int stage, int64_t* slots) const {
  if (static_cast<size_t>(stage) >= stages_.size()) return;
  for (const Instruction& i : stages_[static_cast<size_t>(stage)])
    slots[i.to] = i.code == Code::Constant ? i.value : apply(i.code, slots[i.a], slots[i.b]);
}

}  // namespace tercet::codegen
