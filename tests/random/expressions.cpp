// Elementwise expressions, and the choice among all makers.
#include <fmt/format.h>

#include "interpreter/ir/op_def.h"
#include "tests/random/generator.h"

namespace tercet::random_programs {
namespace {

/// A row that the language calls by name, for operands of one dtype.
struct PublicRow { std::string name; int arity; DType in, out; };

const std::vector<PublicRow>& public_rows() {
  static const std::vector<PublicRow> all = [] {
    std::vector<PublicRow> out;
    for (const OpDef* def : op_table()) {
      if (!std::holds_alternative<Public>(def->surface) || !def->samples) continue;
      for (const Sample& sample : def->samples()) {
        if (sample.operands.empty() || !sample.attrs.items().empty()) continue;
        bool scalars = true;
        for (const Array& a : sample.operands) scalars &= a.rank() == 0 && a.dtype == sample.operands[0].dtype && a.dtype <= DType::F64;
        if (!scalars) continue;
        Builder b("row");
        std::vector<ValueId> in;
        for (const Array& a : sample.operands) in.push_back(b.param({a.dtype, {}}));
        ValueId v = b.emit(*def, in, sample.attrs);
        out.push_back({def->name, static_cast<int>(in.size()), sample.operands[0].dtype, b.type(v).dtype});
      }
    }
    return out;
  }();
  return all;
}

}  // namespace

Code Generator::expr(const Ty& t, Scope& s, int depth) {
  if (t.count() > largest_count) throw TooLarge{};
  if (depth <= 0 || rng.chance(8)) return leaf(t, s);
  struct Weighted { int weight; Maker make; };
  static const std::vector<Weighted> makers = {
      {16, &Generator::arithmetic}, {8, &Generator::comparison}, {6, &Generator::unary}, {10, &Generator::public_op}, {5, &Generator::choice},
      {5, &Generator::conversion}, {8, &Generator::reduction}, {4, &Generator::cumulative}, {3, &Generator::statistics},
      {4, &Generator::contraction}, {3, &Generator::ordering}, {3, &Generator::counting}, {2, &Generator::masked}, {5, &Generator::indexed},
      {4, &Generator::sliced}, {3, &Generator::window}, {4, &Generator::gathered}, {2, &Generator::taken}, {2, &Generator::updated},
      {4, &Generator::joined}, {6, &Generator::rearranged}, {2, &Generator::literal_array}, {2, &Generator::created}, {2, &Generator::drawn}, {4, &Generator::branch},
      {3, &Generator::block}, {3, &Generator::comprehension}, {4, &Generator::folded}, {4, &Generator::mapped}, {4, &Generator::helper_call},
      {2, &Generator::lambda_call}, {1, &Generator::structure}};
  static const int total = [] {
    int n = 0;
    for (const Weighted& w : makers) n += w.weight;
    return n;
  }();
  for (int attempt = 0; attempt < 12; ++attempt) {
    int at = rng.below(total);
    const Weighted* chosen = makers.data();
    while (at >= chosen->weight) at -= chosen++->weight;
    bool outer = lanes;
    try {
      if (Code c = (this->*chosen->make)(t, s, depth)) return c;
    } catch (const TooLarge&) {
      lanes = outer;
    }
  }
  return leaf(t, s);
}

Code Generator::operand(const Ty& t, Scope& s, int depth) {
  if (rng.chance(60)) return expr(t, s, depth);
  Ty smaller = t;
  if (rng.chance(40)) smaller.shape.clear();
  else if (t.rank()) {
    int drop = rng.below(t.rank() + 1);
    smaller.shape.erase(smaller.shape.begin(), smaller.shape.begin() + drop);
    for (int& n : smaller.shape)
      if (rng.chance(30)) n = 1;
  }
  return expr(smaller, s, depth);
}

Code Generator::arithmetic(const Ty& t, Scope& s, int depth) {
  std::string op;
  if (t.dtype == DType::Bool) op = rng.pick({"&", "|", "^"});
  else if (is_float(t.dtype)) op = rng.pick({"+", "-", "*", "/", "+", "-", "*", "//", "%"});
  else op = rng.pick({"+", "-", "*", "+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>"});
  Code a = expr(t, s, depth - 1);
  if (is_float(t.dtype) && rng.chance(4)) return code(t, fmt::format("($ ** {})", rng.pick({"2", "3", "0.5", "-1.0"})), {a});
  if (is_int(t.dtype) && (op == "//" || op == "%")) {
    if (rng.chance(60)) return code(t, fmt::format("($ {} {}{})", op, rng.between(1, 9), name_of(t.dtype)), {a});
    Code b = operand(t, s, depth - 1);
    if (rng.chance(92)) return code(t, "($ " + op + " ($ | 1))", {a, b});   // odd, so never zero
    return code(t, "($ " + op + " $)", {a, b});
  }
  if (is_int(t.dtype) && (op == "<<" || op == ">>")) return code(t, fmt::format("($ {} {})", op, rng.below(9)), {a});
  if (t.dtype != DType::Bool && op.size() == 1 && rng.chance(20)) {   // a weak literal
    std::string literal = is_float(t.dtype) ? rng.pick({"0.5", "2", "1.5", "3", "-1"}) : std::to_string(rng.below(9));
    return rng.chance(50) ? code(t, fmt::format("($ {} {})", op, literal), {a}) : code(t, fmt::format("({} {} $)", literal, op), {a});
  }
  Code b = operand(t, s, depth - 1);
  if (rng.chance(50)) std::swap(a, b);
  return code(t, "($ " + op + " $)", {a, b});
}

Code Generator::comparison(const Ty& t, Scope& s, int depth) {
  if (t.dtype != DType::Bool) return nullptr;
  if (rng.chance(10) && t.rank() == 0) return code(t, rng.pick({"($ and $)", "($ or $)"}), {expr(t, s, depth - 1), expr(t, s, depth - 1)});
  Ty side{any_dtype(), t.shape};
  if (side.dtype == DType::Bool) side.dtype = DType::I32;
  Code a = expr(side, s, depth - 1), b = operand(side, s, depth - 1);
  return code(t, std::string("($ ") + rng.pick({"<", "<=", ">", ">=", "==", "!="}) + " $)", {a, b});
}

Code Generator::unary(const Ty& t, Scope& s, int depth) {
  Code a = expr(t, s, depth - 1);
  if (t.dtype == DType::Bool) return code(t, t.rank() == 0 && rng.chance(30) ? "(not $)" : "(~$)", {a});
  if (is_float(t.dtype)) return code(t, rng.pick({"(-$)", "abs($)", "sign($)"}), {a});
  return code(t, rng.pick({"(-$)", "(~$)", "abs($)", "sign($)"}), {a});
}

Code Generator::public_op(const Ty& t, Scope& s, int depth) {
  std::vector<const PublicRow*> fitting;
  for (const PublicRow& row : public_rows())
    if (row.out == t.dtype) fitting.push_back(&row);
  if (fitting.empty()) return nullptr;
  const PublicRow& row = *rng.pick(fitting);
  std::vector<Code> in;
  for (int i = 0; i < row.arity; ++i) in.push_back(i == 0 ? expr({row.in, t.shape}, s, depth - 1) : operand({row.in, t.shape}, s, depth - 1));
  std::string form = row.name + "(";
  for (int i = 0; i < row.arity; ++i) form += i ? ", $" : "$";
  return code(t, form + ")", in);
}

Code Generator::choice(const Ty& t, Scope& s, int depth) {
  if (rng.chance(15) && t.dtype != DType::Bool) return code(t, "clip($, $, $)", {expr(t, s, depth - 1), operand(t, s, depth - 2), operand(t, s, depth - 2)});
  Code c = operand({DType::Bool, t.shape}, s, depth - 1), a = expr(t, s, depth - 1), b = operand(t, s, depth - 1);
  return rng.chance(50) ? code(t, "where($, $, $)", {c, a, b}) : code(t, "where($, $, $)", {c, b, a});
}

Code Generator::conversion(const Ty& t, Scope& s, int depth) {
  DType from = any_dtype();
  if (from == t.dtype) return nullptr;
  return as(t, expr({from, t.shape}, s, depth - 1));
}

}  // namespace tercet::random_programs
