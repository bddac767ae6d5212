// Sizes as symbolic integers.
//
// A Dim is a polynomial with integer coefficients over atoms, kept in one canonical form, so that equal expressions
// compare equal: n + 1 - n is 1, (n - w + 1) built in any order is one value. Atoms are size names (symbols) and the
// non-polynomial operations floordiv, mod, min, max and `broadcast` (the size that two broadcast sizes have together).
// Example:  Dim n = Dim::symbol("n");  (n + 1 - n).constant() == 1;  (n * 2).eval(env)
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tercet {

struct DimAtom;
using DimAtomPtr = std::shared_ptr<const DimAtom>;

struct DimTerm {
  int64_t coefficient = 0;
  std::vector<DimAtomPtr> factors;   // sorted; empty for the constant term
};

/// Arithmetic of sizes wraps, as that of i64 in the language; a divisor of 0 gives 0. Quotients are rounded down.
int64_t size_quotient(int64_t a, int64_t b);
int64_t size_remainder(int64_t a, int64_t b);

/// Values of symbols while a function runs.
using DimEnv = std::unordered_map<uint64_t, int64_t>;

class Dim {
 public:
  Dim() = default;                                   // 0
  Dim(int64_t value);                                // NOLINT: a number is a size
  /// A new size name, unlike every other. `not_one`: known to differ from 1 (a compiled variant's promise).
  static Dim symbol(std::string name, bool not_one = false);
  /// The size of a ragged axis: it depends on the row. One value for all such axes; that two of them have rows of equal
  /// length is never known from it.
  static Dim ragged();

  /// The size that one atom (a symbol, or an operation) is.
  static Dim of_atom(DimAtomPtr atom) { return from_atom(std::move(atom)); }

  std::optional<int64_t> constant() const;
  bool is(int64_t value) const { return constant() == value; }
  /// The symbol's number when this is a bare symbol, else 0.
  uint64_t symbol_id() const;
  bool is_ragged() const;
  /// Provably not 1: a constant other than 1, a symbol that promises it, or such a one times a constant.
  bool not_one() const;
  /// Evaluates; nullopt when a symbol has no value in `env`. Division by zero gives 0.
  std::optional<int64_t> eval(const DimEnv& env) const;
  /// Replaces symbols by Dims.
  Dim substitute(const std::unordered_map<uint64_t, Dim>& map) const;
  void collect_symbols(std::vector<uint64_t>& out) const;
  /// Does it depend on the bare symbol `symbol`? False when that is something else.
  bool mentions(const Dim& symbol) const;
  std::string text() const;                          // "n", "n - w + 1", "3"

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floordiv(const Dim& a, const Dim& b);
  friend Dim mod(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  friend Dim positive_part(const Dim& d);
  /// The size of both together: b where a is 1, else a. Their compatibility is checked elsewhere.
  friend Dim broadcast(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b) { return compare(a, b) == 0; }
  /// A total order on canonical forms.
  friend int compare(const Dim& a, const Dim& b);
  size_t hash() const;
  const std::vector<DimTerm>& terms() const;         // canonical terms (a constant has one term, 0 none)

 private:
  int64_t constant_ = 0;
  std::shared_ptr<const std::vector<DimTerm>> terms_;   // null: the constant
  static Dim from_terms(std::vector<DimTerm> terms);
  static Dim from_atom(DimAtomPtr atom);
  template <class F> static Dim binary_atom(uint8_t kind, const Dim& a, const Dim& b, F fold);
};

int compare(const Dim& a, const Dim& b);

struct DimAtom {
  enum Kind : uint8_t { Symbol, RaggedSize, FloorDiv, Mod, Min, Max, Broadcast };
  Kind kind = Symbol;
  uint64_t id = 0;        // Symbol, RaggedSize
  std::string name;
  bool not_one = false;
  Dim a, b;               // the operations
};

std::string to_string(const std::vector<Dim>& dims);  // "[n, 3]", "[]"

}  // namespace tercet
