// Library: selection, take and put with their modes, counting.
#include <fmt/format.h>

#include "interpreter/elaborate/fitting.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using A = BuiltinArguments;
using Ints = std::vector<int64_t>;

Sym where(Elaborator& e, A& a) {
  Leaf mask = e.array(*a[0], "where");
  if (absent(a[1]) && absent(a[2])) {
    if (mask.type.rank() != 1) e.error(Kind::Type, fmt::format("where of a condition alone takes an array with one axis, and this is {}", describe(mask)), "where(c, a, b) chooses between values");
    return e.nonzero(e.cast(mask, DType::Bool));
  }
  if (absent(a[1]) || absent(a[2])) e.error(Kind::Type, "where takes a condition and two values", "where(c, a, b)");
  return e.select(mask, e.array(*a[1], "where"), e.array(*a[2], "where"));
}

Sym nonzero(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "nonzero");
  if (x.type.rank() != 1) e.error(Kind::Unsupported, fmt::format("nonzero takes an array with one axis, and this is {}", describe(x)), "flatten it first: reshape(x, -1)");
  return e.nonzero(e.cast(x, DType::Bool));
}

enum class Mode : uint8_t { Error, Clip, Wrap, Fill, Drop };
Mode mode_of(Elaborator& e, const std::optional<Sym>& v, std::initializer_list<std::pair<const char*, Mode>> allowed) {
  if (absent(v)) return Mode::Error;
  std::string name = e.static_string(*v, "`mode`"), names;
  for (auto& [n, m] : allowed) {
    if (name == n) return m;
    names += (names.empty() ? "\"" : ", \"") + std::string(n) + "\"";
  }
  e.error(Kind::Value, fmt::format("\"{}\" is no mode", name), "the modes are " + names);
}

/// Negative indices count from the end first; then the rule for what is still out of range.
struct Placed { Leaf index, inside; };
Placed placed(Elaborator& e, const Leaf& index, const Dim& size, Mode mode) {
  using ast::BinaryOp;
  Leaf n = size_leaf(size), i = e.cast(index, DType::I64), zero = int_leaf(0);
  if (mode == Mode::Wrap) {
    Leaf one = int_leaf(1);
    std::array<Leaf, 2> divisor{n, one};
    return {e.elementwise(mod_op, std::array<Leaf, 2>{i, e.elementwise(maximum_op, divisor, Promotion::Common)}, Promotion::Common), bool_leaf(true)};
  }
  i = e.select(e.binary(BinaryOp::Less, i, zero), e.binary(BinaryOp::Add, i, n), i);
  Leaf inside = e.binary(BinaryOp::BitAnd, e.binary(BinaryOp::GreaterEqual, i, zero), e.binary(BinaryOp::Less, i, n));
  std::array<Leaf, 2> low{i, zero};
  std::array<Leaf, 2> high{e.elementwise(maximum_op, low, Promotion::Common), e.binary(BinaryOp::Subtract, n, int_leaf(1))};
  return {mode == Mode::Clip ? e.elementwise(minimum_op, high, Promotion::Common) : i, inside};
}

Leaf take_at(Elaborator& e, const Leaf& x, const Leaf& index, int64_t axis) {
  Leaf out = e.gather_rows(x, index, axis);
  Ints perm;   // index axes stand where the axis was
  int64_t r = index.type.rank(), rest = x.type.rank() - 1;
  for (int64_t k = 0; k < axis; ++k) perm.push_back(r + k);
  for (int64_t k = 0; k < r; ++k) perm.push_back(k);
  for (int64_t k = axis; k < rest; ++k) perm.push_back(r + k);
  return e.transpose(out, perm);
}

Sym take(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "take"), index = e.array(*a[1], "take");
  if (x.type.is_ragged()) e.error(Kind::Type, fmt::format("take reads one array, and this has rows of different length: {}", describe(x)), "x[index] takes rows; in each row: vmap(row => take(row, index))(x)");
  if (x.type.rank() == 0) e.error(Kind::Type, fmt::format("take reads an array, and this is the scalar {}", describe(x)));
  if (!is_int(index.type.dtype)) e.error(Kind::Type, fmt::format("an index is an integer, and this is {}", describe(index)));
  int64_t axis = absent(a[2]) ? 0 : e.axis(*a[2], x.type.rank(), "`axis`");
  Mode mode = mode_of(e, a[3], {{"clip", Mode::Clip}, {"wrap", Mode::Wrap}, {"fill", Mode::Fill}});
  const Dim n = x.type.dims[static_cast<size_t>(axis)];
  x = e.frame().result(e.use(x), x.weak);
  if (mode == Mode::Error) return take_at(e, x, e.checked_index(index, n, axis), axis);
  Placed p = placed(e, index, n, mode);
  Leaf out = take_at(e, x, p.index, axis);
  if (mode != Mode::Fill) return out;
  std::vector<Dim> dims(out.type.dims.size(), Dim(1));   // the mask along the index axes
  for (size_t k = 0; k < index.type.dims.size(); ++k) dims[static_cast<size_t>(axis) + k] = index.type.dims[k];
  Leaf fill = absent(a[4]) ? int_leaf(0) : e.array(*a[4], "`fill`");
  return e.select(e.reshape(p.inside, dims), out, e.cast(fill, out.type.dtype));
}

Sym put(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "put"), index = e.array(*a[1], "put"), v = e.array(*a[2], "put");
  if (x.type.is_ragged()) e.error(Kind::Type, fmt::format("put writes into one array, and this has rows of different length: {}", describe(x)), "in each row: vmap(row => put(row, index, value))(x)");
  if (x.type.rank() == 0) e.error(Kind::Type, fmt::format("put writes into an array, and this is the scalar {}", describe(x)));
  Mode mode = mode_of(e, a[3], {{"drop", Mode::Drop}, {"clip", Mode::Clip}, {"wrap", Mode::Wrap}});
  std::string op = absent(a[4]) ? "set" : e.static_string(*a[4], "`op`");
  if (op != "add" && op != "set" && op != "min" && op != "max" && op != "mul") e.error(Kind::Value, fmt::format("\"{}\" is no op of put", op), "the ops are \"add\", \"set\", \"min\", \"max\", \"mul\"");
  const Dim n = x.type.dims[0];
  Leaf where = mode == Mode::Error ? e.checked_index(index, n, 0) : placed(e, index, n, mode).index;
  std::vector<Dim> dims = index.type.dims;
  dims.insert(dims.end(), x.type.dims.begin() + 1, x.type.dims.end());
  Leaf value = e.cast(v, x.type.dtype);
  require_fits(e, value.type.dims, dims, "a value of size {left} does not fit into a part of size {right}");
  Leaf filled = e.broadcast_to(e.frame().result(e.use(value)), dims);
  return e.emit(scatter_op, {e.use(x), e.use(filled), e.use(e.cast(e.frame().result(e.use(where)), DType::I64))}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", op}});
}

/// Counts (or sums of weights) per id. An id out of range is an error unless mode="drop".
Sym bincount(Elaborator& e, A& a) {
  Leaf ids = e.array(*a[0], "bincount");
  if (ids.type.dtype == DType::Bool) ids = e.cast(ids, DType::I32);
  if (!is_int(ids.type.dtype)) e.error(Kind::Type, fmt::format("bincount counts integers, and this is {}", describe(ids)));
  if (ids.type.rank() != 1) e.error(Kind::Shape, fmt::format("bincount takes an array with one axis, and this is {}", describe(ids)), "map it over the others: vmap(bincount)");
  Mode mode = mode_of(e, a[3], {{"drop", Mode::Drop}});
  Leaf wide = e.cast(e.frame().result(e.use(ids)), DType::I64);
  Dim length;
  if (!absent(a[2])) length = e.size(*a[2], "`length`");
  else {   // the largest id + 1
    std::vector<Leaf> both{e.full({Dim(1)}, int_leaf(-1), DType::I64), wide};
    Leaf largest = e.emit(max_op, {e.use(e.concat(both, 0))}, {{"axes", Ints{0}}});
    std::array<Leaf, 2> positive{e.binary(ast::BinaryOp::Add, largest, int_leaf(1)), int_leaf(0)};
    length = e.frame().size_of(e.elementwise(maximum_op, positive, Promotion::Common), e.span());
  }
  if (mode == Mode::Error) e.emit_effect(*find_op("check_id"), {e.use(wide)}, {{"size", length}});
  Leaf weights = absent(a[1]) ? e.full(ids.type.dims, int_leaf(1), DType::I32) : e.array(*a[1], "`weights`");
  if (!absent(a[1])) {
    if (weights.type.rank() != 1) e.error(Kind::Shape, fmt::format("`weights` has one number per id, and this is {}", describe(weights)));
    e.require_equal(weights.type.dims[0], ids.type.dims[0], "bincount has {right} ids and {left} weights");
    weights = e.broadcast_to(e.frame().result(e.use(weights)), ids.type.dims);
    if (weights.type.dtype == DType::Bool) weights = e.cast(weights, DType::I32);
  }
  Leaf zero = e.full({length}, is_float(weights.type.dtype) ? float_leaf(0) : int_leaf(0), weights.type.dtype);
  return e.emit(scatter_op, {e.use(zero), e.use(weights), e.use(wide)}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}});
}

/// The ids, after a check that all are within 0 .. length - 1.
Sym checked_ids(Elaborator& e, A& a) {
  Leaf ids = e.array(*a[0], "this function");
  if (!is_int(ids.type.dtype)) e.error(Kind::Type, fmt::format("ids are integers, and this is {}", describe(ids)));
  e.emit_effect(*find_op("check_id"), {e.use(ids)}, {{"size", e.size(*a[1], "`length`")}});
  return ids;
}

}  // namespace

namespace {
constexpr BuiltinDef list[] = {
    {"where", "condition, x=, y=", "x where the condition is true, else y; with the condition alone, where it is true.", where},
    {"nonzero", "x", "Indices of the elements that are not zero.", nonzero},
    {"take", "x, index, axis=, mode=, fill=", "Elements at indices; mode \"clip\", \"wrap\" or \"fill\" says what happens out of range.", take},
    {"put", "x, index, value, mode=, op=", "x with rows at indices set, or combined by op; mode \"drop\" leaves out what is out of range.", put},
    {"checked_ids", "ids, length", "The ids; one outside 0 .. length - 1 is an error.", checked_ids},
    {"bincount", "ids, weights=, length=, mode=", "How often each id occurs, or the sum of its weights.", bincount},
};
}
const BuiltinList indexing_builtins = list;

}  // namespace tercet
