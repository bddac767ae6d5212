// The sizes of one program as numbered slots. Planning asks for the slot of a Dim; running evaluates straight-line code
// over the slots instead of walking Dims. Symbols are inputs: each is bound when the program starts or after the step
// that defines it, and the code is split into stages accordingly.
// Example:  SizeTable t;  auto s = t.slot(n * 2);  t.finish();  …  frame[t.symbol_slot(n)] = 7;  t.evaluate(0, frame);
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interpreter/ir/dim.h"

namespace tercet::codegen {

using SizeSlot = int32_t;

class SizeTable {
 public:
  /// The slot that will hold the value of `d`. Equal Dims share one.
  SizeSlot slot(const Dim& d);
  /// As above; every Dim of a kernel was given a slot when it was planned, so this one never adds.
  SizeSlot find(const Dim& d) const;
  std::vector<SizeSlot> slots(const std::vector<Dim>& dims);
  /// The slot of a symbol, added when missing.
  SizeSlot symbol(uint64_t id);

  /// Says that step `stage - 1` gives the symbol its value (stage 0: the program's arguments do).
  void define(uint64_t symbol, int stage);
  bool defined(uint64_t symbol) const { return stage_of_symbol_.contains(symbol); }
  int stage(uint64_t symbol) const;
  /// Sorts the code into stages. Symbols that nothing defines belong to the caller (free_symbols) and to stage 0.
  void finish();

  struct Symbol {
    uint64_t id;
    SizeSlot slot;
  };
  const std::vector<Symbol>& free_symbols() const { return free_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  /// The slot of a symbol, or -1 when no size needs it.
  SizeSlot symbol_slot(uint64_t id) const;
  size_t slot_count() const { return static_cast<size_t>(count_); }
  /// Computes the slots that depend on nothing later than `stage`.
  void evaluate(int stage, int64_t* slots) const;

 private:
  enum class Code : uint8_t { Constant, Add, Mul, FloorDiv, Mod, Min, Max, Broadcast };
  struct Instruction {
    Code code;
    SizeSlot to, a, b;
    int64_t value;
  };
  struct Hash {
    size_t operator()(const Dim& d) const { return d.hash(); }
  };

  SizeSlot add(Code code, SizeSlot a, SizeSlot b, int64_t value = 0);
  SizeSlot slot_of_atom(const DimAtom& atom);
  static int64_t apply(Code code, int64_t a, int64_t b);

  int32_t count_ = 0;
  std::unordered_map<Dim, SizeSlot, Hash> known_;
  std::vector<Symbol> symbols_, free_;
  std::unordered_map<uint64_t, int> stage_of_symbol_;
  std::vector<Instruction> code_;
  std::vector<std::vector<Instruction>> stages_;
};

}  // namespace tercet::codegen
