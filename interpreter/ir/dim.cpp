#include "interpreter/ir/dim.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/diagnostic.h"
#include "interpreter/runtime/number.h"

namespace tercet {
namespace {

std::atomic<uint64_t> next_symbol{1};

int compare_atoms(const DimAtom& a, const DimAtom& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.id != b.id) return a.id < b.id ? -1 : 1;
  if (int c = compare(a.a, b.a)) return c;
  return compare(a.b, b.b);
}

int compare_factors(const std::vector<DimAtomPtr>& a, const std::vector<DimAtomPtr>& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (int c = compare_atoms(*a[i], *b[i])) return c;
  return 0;
}

constexpr int64_t most_parts = 20'000;   // of a size: products of sums multiply, and what they are made of is read as a tree

[[noreturn]] void fail_many_parts() {
  fail(Kind::Limit, {}, fmt::format("a size that is computed from others has more than {} parts", most_parts),
       "give a size that is the result of many operations a name of its own: a parameter of a function, as in f(x: f32[n])");
}

/// Takes the parts of a size off `left`.
void count_parts(const std::vector<DimTerm>& terms, int64_t& left) {
  for (const DimTerm& t : terms) {
    if ((left -= 1 + static_cast<int64_t>(t.factors.size())) < 0) fail_many_parts();
    for (const DimAtomPtr& f : t.factors)
      for (const Dim* operand : {&f->a, &f->b})
        if (!operand->constant()) count_parts(operand->terms(), left);
  }
}

/// Sorts, merges equal monomials and drops zeros.
std::vector<DimTerm> canonical(std::vector<DimTerm> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const DimTerm& x, const DimTerm& y) { return compare_factors(x.factors, y.factors) > 0; });
  std::vector<DimTerm> out;
  for (DimTerm& t : terms) {
    if (!out.empty() && compare_factors(out.back().factors, t.factors) == 0) out.back().coefficient = wrap_add(out.back().coefficient, t.coefficient);
    else out.push_back(std::move(t));
    if (out.back().coefficient == 0) out.pop_back();
  }
  return out;
}

int64_t apply(DimAtom::Kind kind, int64_t a, int64_t b) {
  switch (kind) {
    case DimAtom::FloorDiv: return size_quotient(a, b);
    case DimAtom::Mod: return size_remainder(a, b);
    case DimAtom::Min: return std::min(a, b);
    case DimAtom::Max: return std::max(a, b);
    default: return a == 1 ? b : a;
  }
}

std::string text_of(const DimAtom& atom) {
  const char* names[] = {"", "", "", "", "min", "max", "broadcast"};
  switch (atom.kind) {
    case DimAtom::Symbol: return atom.name;
    case DimAtom::RaggedSize: return "*";
    case DimAtom::FloorDiv: return fmt::format("({} // {})", atom.a.text(), atom.b.text());
    case DimAtom::Mod: return fmt::format("({} % {})", atom.a.text(), atom.b.text());
    case DimAtom::Max: return fmt::format("max({}, {})", atom.a.text(), atom.b.text());
    default: return fmt::format("{}({}, {})", names[atom.kind], atom.a.text(), atom.b.text());
  }
}

}  // namespace

int64_t size_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap_sub(int64_t{0}, a);
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
int64_t size_remainder(int64_t a, int64_t b) { return b == 0 ? 0 : wrap_sub(a, wrap_mul(size_quotient(a, b), b)); }

Dim::Dim(int64_t value) : constant_(value) {}

Dim Dim::symbol(std::string name, bool not_one) {
  auto atom = std::make_shared<DimAtom>();
  atom->kind = DimAtom::Symbol;
  atom->id = next_symbol.fetch_add(1);
  atom->name = std::move(name);
  atom->not_one = not_one;
  return from_atom(std::move(atom));
}

Dim Dim::ragged() {
  static const Dim rows = [] {
    auto atom = std::make_shared<DimAtom>();
    atom->kind = DimAtom::RaggedSize;
    atom->id = next_symbol.fetch_add(1);
    return from_atom(std::move(atom));
  }();
  return rows;
}

Dim Dim::from_atom(DimAtomPtr atom) {
  std::vector<DimTerm> terms(1);
  terms[0] = {1, {std::move(atom)}};
  return from_terms(std::move(terms));
}

Dim Dim::from_terms(std::vector<DimTerm> terms) {
  int64_t left = most_parts;
  count_parts(terms, left);
  terms = canonical(std::move(terms));
  Dim d;
  if (terms.empty()) return d;
  if (terms.size() == 1 && terms[0].factors.empty()) return Dim(terms[0].coefficient);
  d.terms_ = std::make_shared<const std::vector<DimTerm>>(std::move(terms));
  return d;
}

const std::vector<DimTerm>& Dim::terms() const {
  if (terms_) return *terms_;
  static const std::vector<DimTerm> none;
  if (constant_ == 0) return none;
  thread_local std::vector<DimTerm> one(1);
  one[0].coefficient = constant_;
  return one;
}

std::optional<int64_t> Dim::constant() const {
  if (terms_) return std::nullopt;
  return constant_;
}

uint64_t Dim::symbol_id() const {
  if (!terms_ || terms_->size() != 1) return 0;
  const DimTerm& t = (*terms_)[0];
  bool bare = t.coefficient == 1 && t.factors.size() == 1 && t.factors[0]->kind == DimAtom::Symbol;
  return bare ? t.factors[0]->id : 0;
}

bool Dim::is_ragged() const {
  if (!terms_) return false;
  for (const DimTerm& t : *terms_)
    for (const DimAtomPtr& f : t.factors)
      if (f->kind == DimAtom::RaggedSize || f->a.is_ragged() || f->b.is_ragged()) return true;
  return false;
}

bool Dim::not_one() const {
  if (!terms_) return constant_ != 1;
  if (terms_->size() != 1) return false;
  const DimTerm& t = (*terms_)[0];
  if (t.coefficient != 1 && t.coefficient != -1) return true;   // c * integer is never 1
  return t.coefficient == 1 && t.factors.size() == 1 && t.factors[0]->not_one;
}

std::optional<int64_t> Dim::eval(const DimEnv& env) const {
  if (!terms_) return constant_;
  int64_t sum = 0;
  for (const DimTerm& t : *terms_) {
    int64_t product = t.coefficient;
    for (const DimAtomPtr& f : t.factors) {
      int64_t value = 0;
      if (f->kind == DimAtom::Symbol || f->kind == DimAtom::RaggedSize) {
        auto found = env.find(f->id);
        if (found == env.end()) return std::nullopt;
        value = found->second;
      } else {
        auto a = f->a.eval(env), b = f->b.eval(env);
        if (!a || !b) return std::nullopt;
        value = apply(f->kind, *a, *b);
      }
      product = wrap_mul(product, value);
    }
    sum = wrap_add(sum, product);
  }
  return sum;
}

Dim Dim::substitute(const std::unordered_map<uint64_t, Dim>& map) const {
  if (!terms_) return *this;
  Dim sum;
  for (const DimTerm& t : *terms_) {
    Dim product(t.coefficient);
    for (const DimAtomPtr& f : t.factors) {
      Dim value;
      if (f->kind == DimAtom::Symbol || f->kind == DimAtom::RaggedSize) {
        auto found = map.find(f->id);
        value = found == map.end() ? from_atom(f) : found->second;
      } else {
        Dim a = f->a.substitute(map), b = f->b.substitute(map);
        switch (f->kind) {
          case DimAtom::FloorDiv: value = floordiv(a, b); break;
          case DimAtom::Mod: value = mod(a, b); break;
          case DimAtom::Min: value = min(a, b); break;
          case DimAtom::Max: value = max(a, b); break;
          default: value = broadcast(a, b);
        }
      }
      product = product * value;
    }
    sum = sum + product;
  }
  return sum;
}

void Dim::collect_symbols(std::vector<uint64_t>& out) const {
  if (!terms_) return;
  for (const DimTerm& t : *terms_)
    for (const DimAtomPtr& f : t.factors) {
      if (f->kind == DimAtom::Symbol) out.push_back(f->id);
      f->a.collect_symbols(out);
      f->b.collect_symbols(out);
    }
}

bool Dim::mentions(const Dim& symbol) const {
  const uint64_t id = symbol.symbol_id();
  std::vector<uint64_t> used;
  if (id) collect_symbols(used);
  return std::find(used.begin(), used.end(), id) != used.end();
}

std::string Dim::text() const {
  if (!terms_) return fmt::format("{}", constant_);
  std::string out;
  for (const DimTerm& t : *terms_) {
    int64_t c = t.coefficient;
    if (out.empty()) out += c < 0 ? "-" : "";
    else out += c < 0 ? " - " : " + ";
    uint64_t magnitude = c < 0 ? uint64_t(0) - static_cast<uint64_t>(c) : static_cast<uint64_t>(c);
    std::string product;
    if (magnitude != 1 || t.factors.empty()) product = fmt::format("{}", magnitude);
    for (const DimAtomPtr& f : t.factors) product += (product.empty() ? "" : "*") + text_of(*f);
    out += product;
  }
  return out;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.terms_ && !b.terms_)
    return Dim(wrap_add(a.constant_, b.constant_));
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  std::vector<DimTerm> terms = a.terms();
  for (const DimTerm& t : std::vector<DimTerm>(b.terms())) terms.push_back(t);
  return Dim::from_terms(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (!a.terms_ && !b.terms_)
    return Dim(wrap_mul(a.constant_, b.constant_));
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  std::vector<DimTerm> left = a.terms(), right = b.terms(), terms;
  if (static_cast<int64_t>(left.size() * right.size()) > most_parts) fail_many_parts();
  for (const DimTerm& x : left)
    for (const DimTerm& y : right) {
      DimTerm t{wrap_mul(x.coefficient, y.coefficient), x.factors};
      t.factors.insert(t.factors.end(), y.factors.begin(), y.factors.end());
      std::sort(t.factors.begin(), t.factors.end(),
                [](const DimAtomPtr& p, const DimAtomPtr& q) { return compare_atoms(*p, *q) < 0; });
      terms.push_back(std::move(t));
    }
  return Dim::from_terms(std::move(terms));
}

template <class F> Dim Dim::binary_atom(uint8_t kind, const Dim& a, const Dim& b, F fold) {
  if (a.constant() && b.constant()) return Dim(apply(static_cast<DimAtom::Kind>(kind), *a.constant(), *b.constant()));
  if (std::optional<Dim> known = fold()) return *known;
  auto atom = std::make_shared<DimAtom>();
  atom->kind = static_cast<DimAtom::Kind>(kind);
  atom->a = a;
  atom->b = b;
  return from_atom(std::move(atom));
}

Dim floordiv(const Dim& a, const Dim& b) {
  return Dim::binary_atom(DimAtom::FloorDiv, a, b, [&]() -> std::optional<Dim> {
    if (b.is(1)) return a;
    auto divisor = b.constant();
    if (!divisor || *divisor == 0) return a == b ? std::optional<Dim>(1) : std::nullopt;
    std::vector<DimTerm> terms = a.terms();
    for (DimTerm& t : terms)
      if (size_remainder(t.coefficient, *divisor) != 0) return std::nullopt;
    for (DimTerm& t : terms) t.coefficient = size_quotient(t.coefficient, *divisor);
    return Dim::from_terms(std::move(terms));
  });
}

Dim mod(const Dim& a, const Dim& b) {
  return Dim::binary_atom(DimAtom::Mod, a, b, [&]() -> std::optional<Dim> {
    auto divisor = b.constant();
    if (b.is(1)) return Dim(0);
    if (!divisor || *divisor == 0) return std::nullopt;
    for (const DimTerm& t : a.terms())
      if (size_remainder(t.coefficient, *divisor) != 0) return std::nullopt;
    return Dim(0);
  });
}

/// max(d, 0), the one form in which minima and maxima are kept: max(a, b) = b + positive(a - b). The leading
/// coefficient of d is positive, since positive(d) = d + positive(-d); so n - min(1, n) and max(n - 1, 0) are one value.
Dim positive_part(const Dim& d) {
  bool none_negative = true, none_positive = true;
  for (const DimTerm& t : d.terms()) {
    bool size_like = std::all_of(t.factors.begin(), t.factors.end(), [](const DimAtomPtr& f) {
      return f->kind == DimAtom::Symbol || f->kind == DimAtom::RaggedSize || f->kind == DimAtom::Max;   // never negative
    });
    none_negative &= size_like && t.coefficient > 0;
    none_positive &= size_like && t.coefficient < 0;
  }
  if (none_negative) return d;
  if (none_positive) return Dim(0);
  if (d.terms()[0].coefficient < 0) return d + positive_part(Dim(0) - d);
  return Dim::binary_atom(DimAtom::Max, d, Dim(0), [] { return std::optional<Dim>(); });
}

Dim max(const Dim& a, const Dim& b) { return b + positive_part(a - b); }
Dim min(const Dim& a, const Dim& b) { return a - positive_part(a - b); }

namespace {

/// The sizes that a broadcast size is made of.
void collect_parts(const Dim& d, std::vector<Dim>& out) {
  const std::vector<DimTerm> terms = d.terms();
  bool bare = terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors.size() == 1;
  if (!bare || terms[0].factors[0]->kind != DimAtom::Broadcast) {
    out.push_back(d);
    return;
  }
  collect_parts(terms[0].factors[0]->a, out);
  collect_parts(terms[0].factors[0]->b, out);
}

}  // namespace

// Of sizes that go together, the order and repetition do not matter: broadcast(broadcast(n, m), n) is broadcast(n, m).
// The parts are therefore kept as a sorted set, without which repeated broadcasts would grow without bound.
Dim broadcast(const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.not_one()) return a;
  if (b.not_one()) return b;
  std::vector<Dim> parts;
  collect_parts(a, parts);
  collect_parts(b, parts);
  std::sort(parts.begin(), parts.end(), [](const Dim& x, const Dim& y) { return compare(x, y) < 0; });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  Dim all = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) all = Dim::binary_atom(DimAtom::Broadcast, all, parts[i], [] { return std::optional<Dim>(); });
  return all;
}

int compare(const Dim& a, const Dim& b) {
  if (!a.terms_ || !b.terms_) {
    if (a.terms_) return 1;
    if (b.terms_) return -1;
    return a.constant_ < b.constant_ ? -1 : a.constant_ > b.constant_;
  }
  if (a.terms_ == b.terms_) return 0;
  const auto &x = *a.terms_, &y = *b.terms_;
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].coefficient != y[i].coefficient) return x[i].coefficient < y[i].coefficient ? -1 : 1;
    if (int c = compare_factors(x[i].factors, y[i].factors)) return c;
  }
  return 0;
}

size_t Dim::hash() const {
  if (!terms_) return static_cast<size_t>(constant_) * 0x9E3779B97F4A7C15u;
  size_t h = 17;
  for (const DimTerm& t : *terms_) {
    h = h * 31 + static_cast<size_t>(t.coefficient);
    for (const DimAtomPtr& f : t.factors) h = h * 31 + (f->id ? f->id : f->kind + f->a.hash() * 7 + f->b.hash() * 13);
  }
  return h;
}

std::string to_string(const std::vector<Dim>& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + dims[i].text();
  return out + "]";
}

}  // namespace tercet
