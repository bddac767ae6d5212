// Operators on leaves and trees: promotion, broadcasting, checks, and the rows behind the symbols.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/elaborate/free_names.h"
#include "interpreter/elaborate/joining.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using ast::BinaryOp;

struct OperatorRow {
  const OpDef* op;
  Promotion promotion;
  bool bool_to_int;   // bool operands count as i32
};

const OperatorRow& row_of(BinaryOp op) {
  static const std::map<BinaryOp, OperatorRow> rows{
      {BinaryOp::Equal, {&eq_op, Promotion::Common, false}}, {BinaryOp::NotEqual, {&ne_op, Promotion::Common, false}},
      {BinaryOp::Less, {&lt_op, Promotion::Common, false}}, {BinaryOp::LessEqual, {&le_op, Promotion::Common, false}},
      {BinaryOp::Greater, {&gt_op, Promotion::Common, false}}, {BinaryOp::GreaterEqual, {&ge_op, Promotion::Common, false}},
      {BinaryOp::BitOr, {&bit_or_op, Promotion::CommonInt, false}}, {BinaryOp::BitXor, {&bit_xor_op, Promotion::CommonInt, false}},
      {BinaryOp::BitAnd, {&bit_and_op, Promotion::CommonInt, false}}, {BinaryOp::ShiftLeft, {&shift_left_op, Promotion::CommonInt, true}},
      {BinaryOp::ShiftRight, {&shift_right_op, Promotion::CommonInt, true}}, {BinaryOp::Add, {&add_op, Promotion::Common, true}},
      {BinaryOp::Subtract, {&sub_op, Promotion::Common, true}}, {BinaryOp::Multiply, {&mul_op, Promotion::Common, true}},
      {BinaryOp::Divide, {&div_op, Promotion::CommonFloat, true}}, {BinaryOp::FloorDivide, {&floor_div_op, Promotion::Common, true}},
      {BinaryOp::Modulo, {&mod_op, Promotion::Common, true}}, {BinaryOp::Power, {&pow_op, Promotion::Common, true}}};
  return rows.at(op);
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Equal && op <= BinaryOp::GreaterEqual; }

/// Whether a constant can be held exactly enough by an integer dtype.
bool fits(int64_t value, DType dtype) {
  switch (dtype) {
    case DType::I8: return value >= INT8_MIN && value <= INT8_MAX;
    case DType::I16: return value >= INT16_MIN && value <= INT16_MAX;
    case DType::I32: return value >= INT32_MIN && value <= INT32_MAX;
    case DType::U8: return value >= 0 && value <= UINT8_MAX;
    case DType::U16: return value >= 0 && value <= UINT16_MAX;
    case DType::U32: return value >= 0 && value <= UINT32_MAX;
    case DType::U64: return value >= 0;
    default: return true;
  }
}

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

/// Integer arithmetic on constants; nullopt where the operation must be checked or is not worth folding.
std::optional<int64_t> fold(BinaryOp op, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case BinaryOp::Add: return static_cast<int64_t>(ua + ub);
    case BinaryOp::Subtract: return static_cast<int64_t>(ua - ub);
    case BinaryOp::Multiply: return static_cast<int64_t>(ua * ub);
    case BinaryOp::FloorDivide: return b == 0 || b == -1 ? std::nullopt : std::optional(floor_quotient(a, b));
    case BinaryOp::Modulo: return b == 0 || b == -1 ? std::nullopt : std::optional(a - floor_quotient(a, b) * b);
    default: return std::nullopt;
  }
}

std::optional<bool> fold_comparison(BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::Equal: return a == b;
    case BinaryOp::NotEqual: return a != b;
    case BinaryOp::Less: return a < b;
    case BinaryOp::LessEqual: return a <= b;
    case BinaryOp::Greater: return a > b;
    case BinaryOp::GreaterEqual: return a >= b;
    default: return std::nullopt;
  }
}

std::optional<Dim> fold_sizes(BinaryOp op, const Dim& a, const Dim& b) {
  switch (op) {
    case BinaryOp::Add: return a + b;
    case BinaryOp::Subtract: return a - b;
    case BinaryOp::Multiply: return a * b;
    case BinaryOp::FloorDivide: return b.constant() && !b.is(0) ? std::optional(floordiv(a, b)) : std::nullopt;
    case BinaryOp::Modulo: return b.constant() && !b.is(0) ? std::optional(mod(a, b)) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

std::string describe(const Leaf& leaf) { return leaf.type.text(); }

std::string describe(const Sym& value) {
  if (auto* leaf = value.leaf()) return describe(*leaf);
  if (value.is_none()) return "none";
  if (auto* t = value.as<Sym::Tuple>()) {
    std::string out;
    for (const Sym& e : t->elements) out += (out.empty() ? "" : ", ") + describe(e);
    return "(" + out + (t->elements.size() == 1 ? ",)" : ")");
  }
  if (auto* r = value.as<Sym::Record>()) {
    std::string out;
    for (size_t i = 0; i < r->names.size(); ++i) out += (i ? ", " : "") + r->names[i] + "=" + describe(r->values[i]);
    return "(" + out + ")";
  }
  if (value.as<Sym::Range>()) return "range";
  if (auto* h = value.as<Handle>()) return h->type;
  if (value.as<Sym::Module>()) return "module";
  return "function";
}

Leaf Elaborator::emit(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs, bool weak) {
  return frame_->result(builder().emit(op, std::move(inputs), std::move(attrs), span_), weak);
}

std::vector<Leaf> Elaborator::emit_many(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs) {
  std::vector<Leaf> out;
  for (ValueId v : builder().emit_many(op, std::move(inputs), std::move(attrs), span_)) out.push_back(frame_->result(v));
  return out;
}

void Elaborator::error(Kind kind, std::string message, std::string help, std::string label) const {
  fail(kind, span_, std::move(message), std::move(help), std::move(label));
}

void Elaborator::emit_effect(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs) {
  builder().emit_many(op, std::move(inputs), std::move(attrs), span_);
}

void Elaborator::require_equal(const Dim& a, const Dim& b, const std::string& message, const std::string& help) {
  if (a == b || frame_->checked(a, b)) return;
  if (a.constant() && b.constant() && certain()) {
    std::string text = message;
    for (auto [mark, d] : {std::pair{"{left}", a}, std::pair{"{right}", b}})
      for (size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, std::string(mark).size(), d.text());
    error(Kind::Shape, text, help, fmt::format("{} against {}", a.text(), b.text()));
  }
  emit_effect(check_dims_op, {}, {{"left", a}, {"right", b}, {"relation", std::string("equal")}, {"message", message}, {"help", help}});
}

std::vector<Dim> Elaborator::common_dims(std::span<const Leaf> arguments) {
  std::vector<Dim> out;
  for (const Leaf& x : arguments) {
    const std::vector<Dim>& dims = x.type.dims;
    if (dims.size() > out.size()) out.insert(out.begin(), dims.size() - out.size(), Dim(1));
    size_t shift = out.size() - dims.size();
    for (size_t k = 0; k < dims.size(); ++k) {
      Dim &a = out[shift + k];
      const Dim& b = dims[k];
      if (a == b || b.is(1)) continue;
      if (!a.is(1) && !frame_->checked(a, b)) {
        bool equal = a.not_one() && b.not_one();
        if (a.constant() && b.constant() && certain())
          error(Kind::Shape, fmt::format("shapes {} and {} do not go together: size {} against {}",
                                         to_string(arguments[0].type.dims), to_string(dims), a.text(), b.text()),
                "sizes must be equal, or one of them 1; add an axis with x[:, none] or reshape", fmt::format("{} against {}", a.text(), b.text()));
        emit_effect(check_dims_op, {}, {{"left", a}, {"right", b}, {"relation", std::string(equal ? "equal" : "broadcast")},
                                        {"message", std::string("shapes do not go together: size {left} against {right}")},
                                        {"help", std::string("sizes must be equal, or one of them 1")}});
      }
      a = broadcast(a, b);
    }
  }
  return out;
}

Leaf Elaborator::broadcast_to(const Leaf& x, const std::vector<Dim>& dims) {
  if (x.type.dims == dims && x.frame) return x;
  ValueId id = use(x);
  if (x.type.dims == dims) return frame_->result(id, x.weak);
  std::vector<int64_t> axes;
  for (size_t k = 0; k < x.type.dims.size(); ++k) axes.push_back(static_cast<int64_t>(dims.size() - x.type.dims.size() + k));
  return emit(broadcast_op, {id}, {{"dims", dims}, {"axes", axes}}, x.weak);
}

Leaf Elaborator::cast(const Leaf& x, DType dtype, bool weak) {
  if (x.untyped && dtype != x.type.dtype) return placeholder_of(*this, {dtype, x.type.dims}, {});
  if (x.type.dtype > DType::F64 || dtype > DType::F64) {
    if (x.type.dtype == dtype) return x;
    error(Kind::Type, fmt::format("{} cannot become {}", name_of(x.type.dtype), name_of(dtype)),
          x.type.dtype == DType::Str ? (is_float(dtype) ? "write parse_float(x)" : is_int(dtype) ? "write parse_int(x)" : "") : "");
  }
  Leaf out = x;
  out.weak = weak;
  if (x.type.dtype == dtype) return out;
  if (x.type.is_ragged()) return *rows_together({&x, 1}, [&](std::span<const Leaf> row) -> Sym { return cast(row[0], dtype, weak); }).leaf();
  if (x.constant && x.type.rank() == 0 && x.weak) {   // literals convert from their exact value
    if (dtype == DType::Bool) return bool_leaf(x.constant->integer != 0 || static_cast<float>(x.constant->real) != 0);
    if (is_int(dtype) && is_int(x.type.dtype)) {
      int64_t value = scalar_of_int(dtype, x.constant->integer).as_int();
      return int_leaf(value, dtype, weak);
    }
    if (is_float(dtype)) return float_leaf(is_float(x.type.dtype) ? x.constant->real : static_cast<double>(x.constant->integer), dtype, weak);
  }
  if (Frame::is_wide(x) && is_float(dtype)) return frame_->result(frame_->use(x, dtype, span_), weak);   // rounded once
  ValueId id = frame_->use(x, std::nullopt, span_);
  Leaf result = emit(cast_op, {id}, {{"dtype", dtype}}, weak);
  if (x.dim && (dtype == DType::I64 || dtype == DType::I32)) result.dim = x.dim;   // narrower ones wrap
  return result;
}

Leaf Elaborator::elementwise(const OpDef& op, std::span<const Leaf> arguments, Promotion promotion) {
  if (std::any_of(arguments.begin(), arguments.end(), [](const Leaf& x) { return x.type.is_ragged(); })) return row_by_row(op, arguments, promotion);
  bool weak = arguments[0].weak;
  DType dtype = arguments[0].type.dtype;
  for (const Leaf& x : arguments)
    if (x.type.dtype > DType::F64) error(Kind::Type, fmt::format("`{}` takes numbers, and this is {}", op.name, describe(x)));
  for (const Leaf& x : arguments.subspan(1)) dtype = promote(dtype, weak, x.type.dtype, x.weak, &weak);
  if (promotion == Promotion::CommonFloat && !is_float(dtype)) dtype = DType::F32;
  if (promotion == Promotion::Common && dtype == DType::Bool) dtype = DType::I32;
  if (promotion == Promotion::CommonInt && is_float(dtype))
    error(Kind::Type, fmt::format("`{}` takes integers, and this is {}", op.name, name_of(dtype)));
  std::vector<Dim> dims = common_dims(arguments);
  std::vector<ValueId> inputs;
  for (const Leaf& x : arguments) {
    if (x.weak && x.constant && is_int(x.type.dtype) && is_int(dtype) && !fits(x.constant->integer, dtype))
      error(Kind::Value, fmt::format("{} does not fit in {}", x.constant->integer, name_of(dtype)),
            "widen the other side first, as in i32(x)");
    Leaf converted = promotion == Promotion::Keep ? x : cast(x, dtype, x.weak);
    inputs.push_back(use(broadcast_to(converted, dims)));
  }
  Leaf out = emit(op, std::move(inputs), {}, weak);
  for (const Leaf& x : arguments)   // what is in pieces stays so
    if (x.placement.devices && x.type.dims == dims) out.placement = x.placement;
  return out;
}

Leaf Elaborator::row_by_row(const OpDef& op, std::span<const Leaf> arguments, Promotion promotion) {
  return *rows_together(arguments, [&](std::span<const Leaf> rows) -> Sym { return elementwise(op, rows, promotion); }).leaf();
}

Leaf Elaborator::binary(BinaryOp op, const Leaf& a, const Leaf& b) {
  if (op == BinaryOp::MatMul) return matmul(a, b);
  const OperatorRow& row = row_of(op);
  bool scalars = a.type.rank() == 0 && b.type.rank() == 0;
  // Constants are kept as i64, which holds every integer but the upper half of u64.
  bool wide = a.type.dtype == DType::U64 || b.type.dtype == DType::U64;
  if (scalars && !wide && a.constant && b.constant && !is_float(a.type.dtype) && !is_float(b.type.dtype) &&
      a.type.dtype <= DType::F64 && b.type.dtype <= DType::F64) {
    bool soft = a.constant->soft || b.constant->soft;
    auto with_softness = [&](Leaf leaf) { return soft ? softened(leaf) : leaf; };
    if (auto known = fold_comparison(op, a.constant->integer, b.constant->integer)) return with_softness(bool_leaf(*known));
    bool weak = false;
    DType dtype = promote(a.type.dtype, a.weak, b.type.dtype, b.weak, &weak);
    if (auto value = fold(op, a.constant->integer, b.constant->integer); value && is_int(dtype))
      return with_softness(int_leaf(scalar_of_int(dtype, *value).as_int(), dtype, weak));
  }
  if (a.dim && b.dim && scalars) {
    bool weak = false;
    DType dtype = promote(a.type.dtype, a.weak, b.type.dtype, b.weak, &weak);
    if (weak)   // both are sizes or literals
      if (auto size = fold_sizes(op, *a.dim, *b.dim)) {
        Leaf out = size_leaf(*size);
        out.type.dtype = dtype;
        return out;
      }
  }
  if ((a.type.dtype == DType::Str || b.type.dtype == DType::Str) && (a.type.is_ragged() || b.type.is_ragged())) {
    std::array<Leaf, 2> both{a, b};
    return *rows_together(both, [&](std::span<const Leaf> x) -> Sym { return binary(op, x[0], x[1]); }).leaf();
  }
  if (a.type.dtype == DType::Str || b.type.dtype == DType::Str) {
    bool joins = op == BinaryOp::Add;
    if ((!is_comparison(op) && !joins) || a.type.dtype != b.type.dtype)
      error(Kind::Type, fmt::format("`{}` does not take {} and {}", ast::spelling(op), describe(a), describe(b)),
            joins ? "put values into text with an f-string: f\"{x}\"" : "");
    if (!joins)
      if (auto x = known_string(a), y = known_string(b); x && y) return bool_leaf(*fold_comparison(op, x->compare(*y), 0));
    std::array<Leaf, 2> both{a, b};
    std::vector<Dim> dims = common_dims(both);
    return emit(joins ? *find_op("concat_text") : *row.op, {use(broadcast_to(a, dims)), use(broadcast_to(b, dims))});
  }
  if (op == BinaryOp::Power) return power(a, b);
  std::array<Leaf, 2> both{a, b};
  if (row.bool_to_int)
    for (Leaf& x : both)
      if (x.type.dtype == DType::Bool && both[0].type.dtype == both[1].type.dtype) x = cast(x, DType::I32);
  bool bools = both[0].type.dtype == DType::Bool && both[1].type.dtype == DType::Bool;
  if ((op == BinaryOp::FloorDivide || op == BinaryOp::Modulo) && !is_float(both[0].type.dtype) && !is_float(both[1].type.dtype)) {
    const Leaf& d = both[1];
    if (!d.constant || d.constant->integer == 0)
      emit_effect(check_nonzero_op, {use(d.type.is_ragged() ? values_of_rows(*this, d) : d)}, {{"operator", std::string(ast::spelling(op))}});
  }
  return elementwise(*row.op, both, bools ? Promotion::Keep : row.promotion);
}

/// x ** 2 and its like are exact repeated multiplication.
Leaf Elaborator::power(const Leaf& a, const Leaf& b) {
  bool integer_exponent = b.constant && b.type.rank() == 0 && is_int(b.type.dtype);
  if (integer_exponent) {
    int64_t n = b.constant->integer;
    if (n < 0 && !is_float(a.type.dtype))
      error(Kind::Value, fmt::format("an integer to the negative power {} is no integer", n), "write the base as a float");
    uint64_t left = n < 0 ? uint64_t(0) - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
    if (left <= 64 && (b.weak || a.type.dtype == b.type.dtype)) {
      Leaf base = a.type.dtype == DType::Bool ? cast(a, DType::I32) : a;
      std::optional<Leaf> result;
      for (Leaf square = base; left; left >>= 1) {
        if (left & 1) result = result ? binary(BinaryOp::Multiply, *result, square) : square;
        if (left > 1) square = binary(BinaryOp::Multiply, square, square);
      }
      if (!result) return full(base.type.dims, is_float(base.type.dtype) ? float_leaf(1) : int_leaf(1), base.type.dtype);
      if (n >= 0) return *result;
      return binary(BinaryOp::Divide, float_leaf(1), *result);
    }
  }
  std::array<Leaf, 2> both{a, b};
  return elementwise(pow_op, both, Promotion::Common);
}

Sym Elaborator::binary_tree(BinaryOp op, const Sym& a, const Sym& b) {
  if (a.leaf() && b.leaf()) return binary(op, *a.leaf(), *b.leaf());
  if ((op == BinaryOp::Equal || op == BinaryOp::NotEqual) && (a.is_none() || b.is_none()))
    return bool_leaf((a.is_none() == b.is_none()) == (op == BinaryOp::Equal));
  auto *at = a.as<Sym::Tuple>(), *bt = b.as<Sym::Tuple>();
  auto *ar = a.as<Sym::Record>(), *br = b.as<Sym::Record>();
  if (at || bt) {
    Sym::Tuple out;
    size_t n = at ? at->elements.size() : bt->elements.size();
    if ((at && bt && at->elements.size() != bt->elements.size()) || ar || br)
      error(Kind::Type, fmt::format("`{}` needs trees of one structure: left is {}, right is {}", ast::spelling(op), describe(a), describe(b)));
    for (size_t i = 0; i < n; ++i) out.elements.push_back(binary_tree(op, at ? at->elements[i] : a, bt ? bt->elements[i] : b));
    return out;
  }
  if (ar || br) {
    Sym::Record out{ar ? ar->names : br->names, {}};
    for (size_t i = 0; i < out.names.size(); ++i) {
      const Sym* right = br ? field<Leaf>(*br, out.names[i]) : &b;
      if (!right || (ar && br && ar->names.size() != br->names.size()))
        error(Kind::Type, fmt::format("`{}` needs records with the same fields: left is {}, right is {}", ast::spelling(op), describe(a), describe(b)));
      out.values.push_back(binary_tree(op, ar ? ar->values[i] : a, *right));
    }
    return out;
  }
  if (a.as<Sym::Range>()) return binary_tree(op, array(a, "the left side"), b);
  if (b.as<Sym::Range>()) return binary_tree(op, a, array(b, "the right side"));
  error(Kind::Type, fmt::format("`{}` does not take {} and {}", ast::spelling(op), describe(a), describe(b)),
        a.is_function() || b.is_function() ? "call the function first: f(x)" : "");
}

Sym Elaborator::chain(const ast::Chain& c) {
  if (c.links[0].op == BinaryOp::And || c.links[0].op == BinaryOp::Or) {
    Sym value = expr(c.first);
    for (const auto& link : c.links) {
      SpanScope at(*this, c.first->span.joined(link.operand->span));
      value = logic(link.op, value, *link.operand);
    }
    return value;
  }
  Sym value = expr(c.first);
  for (const auto& link : c.links) {
    Sym right = expr(link.operand);
    SpanScope at(*this, c.first->span.joined(link.operand->span));
    value = binary_tree(link.op, value, right);
  }
  return value;
}

Leaf Elaborator::truth(const Sym& value, const char* what) {
  const Leaf* leaf = value.leaf();
  if (!leaf || leaf->type.dtype != DType::Bool)
    error(Kind::Type, fmt::format("{} takes a bool, and this is {}", what, describe(value)),
          leaf && leaf->type.dtype <= DType::F64 ? "compare it: x != 0" : "");
  if (leaf->type.rank() != 0)
    error(Kind::Type, fmt::format("{} takes one bool, and this is {}", what, describe(value)),
          "combine bool arrays with & | ~, choose with where(c, a, b), or ask any(c) or all(c)");
  return *leaf;
}

Sym Elaborator::logic(BinaryOp op, const Sym& left, const ast::Expr& right) {
  bool is_and = op == BinaryOp::And;
  Leaf a = truth(left, is_and ? "`and`" : "`or`");
  if (a.constant) {
    Leaf out = (a.constant->integer != 0) != is_and ? bool_leaf(!is_and) : truth(expr(right), is_and ? "`and`" : "`or`");
    return a.constant->soft ? softened(out) : out;
  }
  auto rest = [&]() -> Sym { return truth(expr(right), is_and ? "`and`" : "`or`"); };
  auto known = [&]() -> Sym { return bool_leaf(!is_and); };
  std::set<std::string> names;
  assigned_names(right, names);
  const std::vector<std::string> assigned = assigned_locals(names);
  return is_and ? conditional(a, rest, known, assigned) : conditional(a, known, rest, assigned);
}

Sym Elaborator::unary(const ast::Unary& u) {
  Sym value = expr(u.operand);
  if (u.op == ast::UnaryOp::Not) {
    Leaf x = truth(value, "`not`");
    if (!x.constant) return emit(bit_not_op, {use(x)});
    Leaf out = bool_leaf(!x.constant->integer);
    return x.constant->soft ? softened(out) : out;
  }
  return map_leaves<Leaf>(value, [&](const Leaf& x) -> Leaf {
    if (x.type.dtype > DType::F64) error(Kind::Type, fmt::format("`{}` takes numbers, and this is {}", ast::spelling(u.op), describe(x)));
    if (u.op == ast::UnaryOp::BitNot) {
      if (is_float(x.type.dtype)) error(Kind::Type, fmt::format("`~` takes integers or bool, and this is {}", describe(x)));
      return elementwise(bit_not_op, {&x, 1}, x.type.dtype == DType::Bool ? Promotion::Keep : Promotion::CommonInt);
    }
    Leaf y = x.type.dtype == DType::Bool ? cast(x, DType::I32) : x;
    if (u.op == ast::UnaryOp::Plus) return y;
    if (y.constant && is_int(y.type.dtype) && y.type.dtype != DType::U64) {
      auto negated = static_cast<int64_t>(uint64_t(0) - static_cast<uint64_t>(y.constant->integer));
      Leaf out = int_leaf(scalar_of_int(y.type.dtype, negated).as_int(), y.type.dtype, y.weak);
      return y.constant->soft ? softened(out) : out;
    }
    if (y.constant && y.weak) return float_leaf(-y.constant->real, y.type.dtype, true);
    if (Frame::is_wide(y)) {
      Leaf out = emit(neg_op, {frame_->carry(y, span_)}, {}, true);
      out.type = y.type;
      return out;
    }
    if (y.dim && y.weak) return size_leaf(Dim(0) - *y.dim);
    return elementwise(neg_op, {&y, 1}, Promotion::Common);
  });
}

// ---- small compositions that lowerings share ----
Leaf Elaborator::full(const std::vector<Dim>& dims, const Leaf& value, DType dtype) {
  Leaf x = cast(value, dtype);
  return broadcast_to(frame_->result(use(x), false), dims);
}

Leaf Elaborator::iota(const Dim& size, DType dtype) {
  return emit(iota_op, {}, {{"dims", std::vector<Dim>{size}}, {"axis", int64_t{0}}, {"dtype", dtype}});
}

/// start, start + step, … below start + span, upwards.
Leaf Elaborator::strided(const Leaf& start, const Leaf& span, const Leaf& step, DType dtype, const char* what) {
  emit_effect(check_dims_op, {}, {{"left", frame_->size_of(cast(step, DType::I64), span_)}, {"right", Dim(1)}, {"relation", std::string("at_least")}, {"is_value", true},
                                  {"message", fmt::format("{} that is known only when it runs is positive, and this is {{left}}", what)}});
  std::array<Leaf, 2> steps{cast(step, DType::I64), int_leaf(longest_step, DType::I64, false)};
  const Leaf by = elementwise(minimum_op, steps, Promotion::Common), last = binary(BinaryOp::Add, cast(span, DType::I64), binary(BinaryOp::Subtract, by, int_leaf(1)));
  std::array<Leaf, 2> bounded{binary(BinaryOp::FloorDivide, last, by), int_leaf(0)};
  const Leaf index = iota(frame_->size_of(elementwise(maximum_op, bounded, Promotion::Common), span_), dtype);
  return binary(BinaryOp::Add, binary(BinaryOp::Multiply, index, cast(step, dtype, true)), cast(start, dtype, true));
}

Leaf Elaborator::reshape(const Leaf& x, const std::vector<Dim>& dims) {
  if (x.type.dims == dims) return x;
  return emit(reshape_op, {use(x)}, {{"dims", dims}}, x.weak);
}

Leaf Elaborator::transpose(const Leaf& x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  if (x.type.is_ragged()) {
    if (perm[0] != 0) error(Kind::Shape, fmt::format("rows of different length stay along axis 0, and this would move them: {}", describe(x)), "vmap(transpose)(x) turns each row; pad(x) makes all of one length");
    std::vector<int64_t> inner;
    for (size_t k = 1; k < perm.size(); ++k) inner.push_back(perm[k] - 1);
    return *map_lanes("row", x.type.dims[0], {&x, 1}, [&](std::span<const Leaf> row) -> Sym { return transpose(row[0], inner); }).leaf();
  }
  return emit(transpose_op, {use(x)}, {{"perm", perm}}, x.weak);
}

Leaf Elaborator::move_axis(const Leaf& x, int64_t from, int64_t to) {
  if (from == to) return x;
  std::vector<int64_t> perm;
  for (int64_t k = 0; k < x.type.rank(); ++k)
    if (k != from) perm.push_back(k);
  perm.insert(perm.begin() + to, from);
  return transpose(x, perm);
}

Leaf Elaborator::select(const Leaf& mask, const Leaf& a, const Leaf& b) {
  std::array<Leaf, 3> all{mask, a, b};
  if (std::any_of(all.begin(), all.end(), [](const Leaf& x) { return x.type.is_ragged(); }))
    return *rows_together(all, [&](std::span<const Leaf> x) -> Sym { return select(x[0], x[1], x[2]); }).leaf();
  bool weak = false;
  if ((a.type.dtype > DType::F64 || b.type.dtype > DType::F64) && a.type.dtype != b.type.dtype) error(Kind::Type, fmt::format("`where` takes two values of one type, and these are {} and {}", describe(a), describe(b)));
  DType dtype = a.type.dtype > DType::F64 ? a.type.dtype : promote(a.type.dtype, a.weak, b.type.dtype, b.weak, &weak);
  if (mask.type.dtype != DType::Bool) error(Kind::Type, fmt::format("`where` takes a bool condition, and this is {}", describe(mask)), "compare it: x != 0");
  std::vector<Dim> dims = common_dims(all);
  return emit(select_op, {use(broadcast_to(mask, dims)), use(broadcast_to(cast(a, dtype), dims)), use(broadcast_to(cast(b, dtype), dims))}, {}, weak);
}

Leaf Elaborator::concat(std::span<const Leaf> parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  if (std::any_of(parts.begin(), parts.end(), [](const Leaf& x) { return x.type.is_ragged(); })) {
    if (axis == 0) return concat_ragged(parts);
    for (const Leaf& x : parts) require_equal(parts[0].type.dims[0], x.type.dims[0], "concat along rows of {left} rows and {right} rows");
    return *map_lanes("row", parts[0].type.dims[0], parts, [&](std::span<const Leaf> rows) -> Sym { return concat(rows, axis - 1); }).leaf();
  }
  std::vector<ValueId> inputs;
  for (const Leaf& p : parts) inputs.push_back(use(p));
  return emit(concat_op, std::move(inputs), {{"axis", axis}});
}

Leaf Elaborator::stack(std::span<const Leaf> parts) {
  std::vector<Dim> dims = parts[0].type.dims;
  dims.insert(dims.begin(), Dim(1));
  std::vector<Leaf> rows;
  for (const Leaf& p : parts) rows.push_back(reshape(frame_->result(use(p)), dims));
  return concat(rows, 0);
}

namespace {

/// `@` where a side has rows of different length. With three axes on the right they are matrices, one for each row, as in NumPy;
/// those of the left side go with them.
Leaf product_of_rows(Elaborator& e, const Leaf& a, const Leaf& b) {
  const bool pairs = a.type.rank() > 2 && b.type.rank() > 2;
  if (b.type.is_ragged() && (b.type.rank() < 3 || (a.type.is_ragged() && !pairs)))
    e.error(Kind::Shape, fmt::format("`@` would sum across rows of different length: left is {}, right is {}", describe(a), describe(b)), "map over the rows: vmap((a, b) => a @ b)(x, y)");
  std::vector<Leaf> mapped;
  for (const Leaf* x : {&a, &b})
    if (pairs || x->type.is_ragged()) mapped.push_back(*x);
  const Dim rows = mapped[0].type.dims[0];
  if (pairs) {
    e.require_equal(rows, b.type.dims[0], "`@` of {left} matrices and {right} matrices");
    for (Leaf& x : mapped)
      if (!x.type.is_ragged()) {
        std::vector<Dim> dims = x.type.dims;
        dims[0] = rows;
        x = e.broadcast_to(e.frame().result(e.use(x), x.weak), dims);
      }
  }
  return *e.map_lanes("row", rows, mapped, [&](std::span<const Leaf> row) -> Sym {
    if (pairs) return e.matmul(row[0], row[1]);
    return a.type.is_ragged() ? e.matmul(row[0], b) : e.matmul(a, row[0]);
  }).leaf();
}

}  // namespace

Leaf Elaborator::matmul(const Leaf& a, const Leaf& b) {
  std::array<Leaf, 2> in{a, b};
  bool weak = false;
  if (a.type.is_ragged() || b.type.is_ragged()) return product_of_rows(*this, a, b);
  for (const Leaf& x : in)
    if (x.type.dtype > DType::F64) error(Kind::Type, fmt::format("`@` takes numbers, and this is {}", describe(x)));
  DType dtype = promote(a.type.dtype, a.weak, b.type.dtype, b.weak, &weak);
  if (dtype == DType::Bool) dtype = DType::I32;
  for (Leaf& x : in) {
    if (x.type.rank() == 0) error(Kind::Shape, fmt::format("`@` takes arrays, and this is the scalar {}", describe(x)), "use * to scale");
    x = cast(x, dtype);
  }
  int64_t inner_a = in[0].type.rank() - 1, inner_b = std::max(0, in[1].type.rank() - 2);
  const Dim &left = in[0].type.dims[static_cast<size_t>(inner_a)], &right = in[1].type.dims[static_cast<size_t>(inner_b)];
  std::string help;
  if (in[1].type.rank() >= 2 && left == in[1].type.dims.back()) help = "did you mean `x @ transpose(w)`?";
  if (!(left == right))
    require_equal(left, right, fmt::format("`@` needs equal inner sizes: left is {}, right is {}", describe(in[0]), describe(in[1])), help);
  std::vector<Dim> b_dims = in[1].type.dims;
  b_dims[static_cast<size_t>(inner_b)] = left;
  Leaf second = broadcast_to(in[1], b_dims);   // the inner size by the left side's name
  if (const Op* made = second.frame == frame_ ? builder().definition(second.id) : nullptr; made && made->def == &transpose_op && second.type.rank() == 2)
    if (made->attrs.get<std::vector<int64_t>>("perm") == std::vector<int64_t>{1, 0})   // read as it lies
      return emit(dot_op, {use(in[0]), made->inputs[0]}, {{"batch", int64_t{0}}, {"lhs", std::vector<int64_t>{inner_a}}, {"rhs", std::vector<int64_t>{1}}}, weak);
  // Leading axes of the left side alone are free axes; those of the right side come first and go together, as in NumPy.
  if (second.type.rank() <= 2 || in[0].type.rank() == 1)
    return emit(dot_op, {use(in[0]), use(second)}, {{"batch", int64_t{0}}, {"lhs", std::vector<int64_t>{inner_a}}, {"rhs", std::vector<int64_t>{inner_b}}}, weak);
  std::array<Leaf, 2> outer{in[0], second};   // leading axes broadcast, as in NumPy
  for (Leaf& x : outer) x.type.dims.resize(static_cast<size_t>(x.type.rank() - 2));
  std::vector<Dim> lead = common_dims(outer), da = lead, db = lead;
  da.insert(da.end(), in[0].type.dims.end() - 2, in[0].type.dims.end());
  db.insert(db.end(), second.type.dims.end() - 2, second.type.dims.end());
  auto rank = static_cast<int64_t>(lead.size());
  return emit(dot_op, {use(broadcast_to(in[0], da)), use(broadcast_to(second, db))},
              {{"batch", rank}, {"lhs", std::vector<int64_t>{rank + 1}}, {"rhs", std::vector<int64_t>{rank}}}, weak);
}

}  // namespace tercet
