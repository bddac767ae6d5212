// Library: shapes.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/fitting.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using A = BuiltinArguments;
using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

Sym len(Elaborator& e, A& a) {
  if (auto* t = a[0]->as<Sym::Tuple>()) return int_leaf(static_cast<int64_t>(t->elements.size()));
  if (auto* r = a[0]->as<Sym::Record>()) {   // a vocabulary has as many entries as tokens; a table as many rows as its columns
    for (const Sym& column : r->values)
      if (column.leaf() && column.leaf()->type.rank() > 0) return size_leaf(column.leaf()->type.dims[0]);
  }
  Leaf x = e.array(*a[0], "len");
  if (x.type.dtype == DType::Str && x.type.rank() == 0) return e.emit(*find_op("text_length"), {e.use(x)});
  if (x.type.rank() == 0) e.error(Kind::Type, fmt::format("a scalar has no length: this is {}", describe(x)));
  return size_leaf(x.type.dims[0]);
}

Sym shape(Elaborator& e, A& a) {
  Sym::Tuple out;
  for (const Dim& d : e.array(*a[0], "shape").type.dims) {
    if (d.is_ragged()) e.error(Kind::Type, "rows of different length have no one size", "lengths(x) gives the length of each row");
    out.elements.push_back(size_leaf(d));
  }
  return out;
}

/// f of each row, of an array whose rows differ in length.
Leaf in_each_row(Elaborator& e, const Leaf& x, const std::function<Leaf(const Leaf&)>& f) {
  return *e.map_lanes("row", x.type.dims[0], {&x, 1}, [&](std::span<const Leaf> row) -> Sym { return f(row[0]); }).leaf();
}

Sym reshape(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "reshape");
  Dims dims;
  std::optional<size_t> open;
  auto add = [&](const Sym& s) {
    const Leaf* n = s.leaf();
    if (n && n->constant && n->constant->integer == -1) {
      if (open) e.error(Kind::Value, "only one size may be -1");
      open = dims.size();
      dims.emplace_back(1);
    } else {
      dims.push_back(e.size(s, "reshape"));
    }
  };
  auto& given_sizes = a[1]->as<Sym::Tuple>()->elements;   // reshape(x, (2, 3)) or reshape(x, 2, 3)
  if (given_sizes.empty()) e.error(Kind::Type, "reshape takes a shape", "reshape(x, (2, 3))");
  Sym sizes = given_sizes.size() == 1 ? given_sizes[0] : *a[1];
  if (auto* t = sizes.as<Sym::Tuple>()) for (const Sym& s : t->elements) add(s);
  else if (sizes.leaf() && sizes.leaf()->type.rank() == 0) add(sizes);
  else dims = e.shape(sizes, "reshape");
  if (x.type.is_ragged()) x = values_of_rows(e, x);   // all elements, whatever their rows
  Dim count = element_count(x.type.dims), given = element_count(dims);
  if (open) {
    if (given.is(0)) e.error(Kind::Shape, "the size -1 cannot be found beside a size of 0");
    dims[*open] = floordiv(count, given);
    given = given * dims[*open];
  }
  e.require_equal(count, given, fmt::format("reshape keeps the number of elements: {} has {{left}}, {} has {{right}}", describe(x), to_string(dims)));
  return e.reshape(x, dims);
}

Sym transpose(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "transpose");
  Ints perm;
  if (absent(a[1])) for (int64_t k = x.type.rank(); k-- > 0;) perm.push_back(k);
  else {
    auto* t = a[1]->as<Sym::Tuple>();
    if (!t || static_cast<int>(t->elements.size()) != x.type.rank()) e.error(Kind::Shape, fmt::format("transpose takes an order of all {} axes", x.type.rank()), "as in transpose(x, (1, 0, 2))");
    for (const Sym& s : t->elements) perm.push_back(e.axis(s, x.type.rank(), "an axis"));
    Ints sorted = perm;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) e.error(Kind::Value, "an axis is given twice");
  }
  return e.transpose(x, perm);
}

Sym swapaxes(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "swapaxes");
  Ints perm;
  for (int64_t k = 0; k < x.type.rank(); ++k) perm.push_back(k);
  std::swap(perm[static_cast<size_t>(e.axis(*a[1], x.type.rank(), "an axis"))], perm[static_cast<size_t>(e.axis(*a[2], x.type.rank(), "an axis"))]);
  return e.transpose(x, perm);
}

Sym moveaxis(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "moveaxis");
  return e.move_axis(x, e.axis(*a[1], x.type.rank(), "an axis"), e.axis(*a[2], x.type.rank(), "an axis"));
}

Leaf with_new_axis(Elaborator& e, const Leaf& x, int64_t axis) {
  if (x.type.is_ragged() && axis == 0) e.error(Kind::Shape, fmt::format("rows of different length stay along axis 0, and a new axis would stand before them: {}", describe(x)), "give each row its axis: x[:, none]");
  if (x.type.is_ragged()) return in_each_row(e, x, [&](const Leaf& row) { return with_new_axis(e, row, axis - 1); });
  Dims dims = x.type.dims;
  dims.insert(dims.begin() + axis, Dim(1));
  return e.reshape(x, dims);
}

Sym expand_dims(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "expand_dims");
  return with_new_axis(e, x, e.axis(*a[1], x.type.rank() + 1, "`axis`"));
}

Sym squeeze(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "squeeze");
  if (x.type.is_ragged()) {
    if (absent(a[1])) e.error(Kind::Shape, fmt::format("squeeze of rows of different length takes the axes to drop: {}", describe(x)), "squeeze(x, axis=2)");
    Ints inner = e.axes(*a[1], x.type.rank());
    if (inner[0] == 0) e.error(Kind::Shape, fmt::format("rows of different length stay along axis 0: {}", describe(x)), "x[0] is the first row");
    Sym::Tuple rest;
    for (int64_t k : inner) rest.elements.push_back(int_leaf(k - 1));
    return in_each_row(e, x, [&](const Leaf& row) {
      A of_row{Sym(row), Sym(rest)};
      return *squeeze(e, of_row).leaf();
    });
  }
  Dims dims;
  Ints axes;
  if (!absent(a[1])) axes = e.axes(*a[1], x.type.rank());
  for (int64_t k = 0; k < x.type.rank(); ++k) {
    const Dim& d = x.type.dims[static_cast<size_t>(k)];
    bool drop = absent(a[1]) ? d.is(1) : std::find(axes.begin(), axes.end(), k) != axes.end();
    if (drop && !absent(a[1])) e.require_equal(d, Dim(1), fmt::format("squeeze drops axes of size 1, and axis {} has size {{left}}", k));
    if (!drop) dims.push_back(d);
  }
  return e.reshape(x, dims);
}

Sym broadcast_to(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "broadcast_to");
  if (x.type.is_ragged()) e.error(Kind::Shape, fmt::format("rows of different length have no one size to be repeated to: {}", describe(x)), "broadcast each row: vmap(row => broadcast_to(row, …))(x)");
  Dims dims = e.shape(*a[1], "broadcast_to");
  require_fits(e, x.type.dims, dims, "a size of {left} does not become {right}");
  return e.broadcast_to(e.frame().result(e.use(x)), dims);
}

/// The arrays of a tuple (or the rows of one array), brought to one dtype.
std::vector<Leaf> parts_of(Elaborator& e, const Sym& value, const char* what) {
  std::vector<Leaf> leaves, out;
  if (auto* t = value.as<Sym::Tuple>()) {
    for (const Sym& s : t->elements) leaves.push_back(e.array(s, what));
  } else {
    Leaf x = e.array(value, what);
    if (x.type.rank() == 0 || !x.type.dims[0].constant()) e.error(Kind::Type, fmt::format("{} takes a tuple of arrays, and this is {}", what, describe(x)), "write (a, b)");
    for (int64_t i = 0; i < *x.type.dims[0].constant(); ++i) leaves.push_back(*e.slice_rows(x, Dim(i), Dim(-1)).leaf());
  }
  if (leaves.empty()) e.error(Kind::Value, fmt::format("{} takes at least one array", what));
  e.dtype_joined(leaves, out);
  for (Leaf& x : out) x = e.frame().result(e.use(x));
  return out;
}

/// Sizes of all parts brought to those of the first but along `but`.
void same_shape(Elaborator& e, std::vector<Leaf>& parts, int64_t but, const char* what) {
  for (Leaf& p : parts) {
    if (p.type.rank() != parts[0].type.rank()) e.error(Kind::Shape, fmt::format("{} takes arrays with one number of axes: {} and {}", what, describe(parts[0]), describe(p)));
    Dims dims = parts[0].type.dims;
    for (size_t k = 0; k < dims.size(); ++k)
      if (static_cast<int64_t>(k) == but) dims[k] = p.type.dims[k];
      else e.require_equal(dims[k], p.type.dims[k], fmt::format("{} takes arrays of one shape: size {{left}} against {{right}} in axis {}", what, k));
    p = e.broadcast_to(p, dims);
  }
}

bool any_ragged(std::span<const Leaf> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Leaf& x) { return x.type.is_ragged(); });
}

/// The rows of one array as parts: they are together already.
Sym concat_rows(Elaborator& e, const Leaf& x, const std::optional<Sym>& axis) {
  if (x.type.is_ragged()) {
    if (std::count_if(x.type.dims.begin(), x.type.dims.end(), [](const Dim& d) { return d.is_ragged(); }) > 1 || !x.type.dims[1].is_ragged() || (!absent(axis) && e.axis(*axis, x.type.rank() - 1, "`axis`") != 0))
      e.error(Kind::Unsupported, fmt::format("concat of the rows of {}", describe(x)), "flatten(x) gives all elements");
    return values_of_rows(e, x);
  }
  if (x.type.rank() < 2) e.error(Kind::Shape, fmt::format("concat takes arrays, and the rows of {} are scalars", describe(x)), "use stack, or an array literal [a, b]");
  int64_t k = absent(axis) ? 0 : e.axis(*axis, x.type.rank() - 1, "`axis`");
  Leaf y = e.move_axis(x, 0, k);   // the parts' axis just before the one they join along
  Dims dims = y.type.dims;
  dims[static_cast<size_t>(k)] = dims[static_cast<size_t>(k)] * dims[static_cast<size_t>(k) + 1];
  dims.erase(dims.begin() + k + 1);
  return e.reshape(y, dims);
}

Sym concat(Elaborator& e, A& a) {
  if (auto* x = a[0]->leaf(); x && x->type.rank() > 0) return concat_rows(e, e.frame().result(e.use(*x), x->weak), a[1]);
  std::vector<Leaf> parts = parts_of(e, *a[0], "concat");
  if (any_ragged(parts)) return e.concat(parts, absent(a[1]) ? 0 : e.axis(*a[1], parts[0].type.rank(), "`axis`"));
  if (parts[0].type.rank() == 0) e.error(Kind::Shape, "concat takes arrays, and these are scalars", "use stack, or an array literal [a, b]");
  int64_t axis = absent(a[1]) ? 0 : e.axis(*a[1], parts[0].type.rank(), "`axis`");
  same_shape(e, parts, axis, "concat");
  return e.concat(parts, axis);
}

Sym stack(Elaborator& e, A& a) {
  if (auto* x = a[0]->leaf(); x && x->type.rank() > 0) return e.move_axis(*x, 0, absent(a[1]) ? 0 : e.axis(*a[1], x->type.rank(), "`axis`"));
  std::vector<Leaf> parts = parts_of(e, *a[0], "stack");
  if (any_ragged(parts)) {
    const int64_t k = absent(a[1]) ? 0 : e.axis(*a[1], parts[0].type.rank() + 1, "`axis`");
    if (k == 0) e.error(Kind::Shape, fmt::format("rows of different length stay along axis 0, and stack would put an axis before them: {}", describe(parts[0])), "concat((a, b)) puts rows one after another; stack((a, b), axis=1) puts each row beside its like");
    return e.rows_together(parts, [&](std::span<const Leaf> rows) -> Sym {
      std::vector<Leaf> same(rows.begin(), rows.end());
      same_shape(e, same, -1, "stack");
      return e.move_axis(e.stack(same), 0, k - 1);
    });
  }
  same_shape(e, parts, -1, "stack");
  int64_t axis = absent(a[1]) ? 0 : e.axis(*a[1], parts[0].type.rank() + 1, "`axis`");
  return e.move_axis(e.stack(parts), 0, axis);
}

Sym flip(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "flip");
  Dims starts(x.type.dims.size());
  Ints steps(x.type.dims.size(), 1);
  for (int64_t k : e.axes(absent(a[1]) ? Sym() : *a[1], x.type.rank())) {
    starts[static_cast<size_t>(k)] = x.type.dims[static_cast<size_t>(k)] - Dim(1);
    steps[static_cast<size_t>(k)] = -1;
  }
  return e.emit(slice_op, {e.use(x)}, {{"starts", starts}, {"sizes", x.type.dims}, {"steps", steps}}, x.weak);
}

Sym tile(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "tile");
  Dims times = e.shape(*a[1], "tile"), base = x.type.dims, wide, out;
  if (times.size() < base.size()) times.insert(times.begin(), base.size() - times.size(), Dim(1));
  if (base.size() < times.size()) base.insert(base.begin(), times.size() - base.size(), Dim(1));
  Ints axes;
  for (size_t k = 0; k < base.size(); ++k) {
    axes.push_back(static_cast<int64_t>(wide.size()) + 1);
    wide.push_back(times[k]);
    wide.push_back(base[k]);
    out.push_back(times[k] * base[k]);
  }
  Leaf shaped = e.reshape(e.frame().result(e.use(x)), base);
  return e.reshape(e.emit(broadcast_op, {e.use(shaped)}, {{"dims", wide}, {"axes", axes}}), out);
}

/// Every element `n` times, along axis 0 or the given one.
Sym repeat(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "repeat");
  Dim n = e.size(*a[1], "repeat");
  int64_t axis = absent(a[2]) ? 0 : e.axis(*a[2], x.type.rank(), "`axis`");
  if (absent(a[2]) && x.type.rank() != 1) {
    x = flattened(e, x);
  }
  Dims wide = x.type.dims, out = wide;
  wide.insert(wide.begin() + axis + 1, n);
  out[static_cast<size_t>(axis)] = out[static_cast<size_t>(axis)] * n;
  Ints axes;
  for (int64_t k = 0; k < x.type.rank(); ++k) axes.push_back(k + (k > axis));
  return e.reshape(e.emit(broadcast_op, {e.use(x)}, {{"dims", wide}, {"axes", axes}}), out);
}

}  // namespace

namespace {
constexpr BuiltinDef list[] = {
    {"len", "x", "Number of rows of an array, code points of a string, parts of a tuple.", len},
    {"shape", "x", "The sizes of all axes.", shape},
    {"reshape", "x, *shape", "The same elements in row-major order in another shape; one size may be -1.", reshape},
    {"transpose", "x, axes=", "Axes reversed, or in the given order.", transpose},
    {"swapaxes", "x, a, b", "Two axes exchanged.", swapaxes},
    {"moveaxis", "x, from, to", "One axis moved.", moveaxis},
    {"expand_dims", "x, axis", "A new axis of size 1.", expand_dims},
    {"squeeze", "x, axis=", "Without axes of size 1.", squeeze},
    {"broadcast_to", "x, shape", "Axes of size 1 repeated.", broadcast_to},
    {"concat", "arrays, axis=", "Arrays one after another.", concat},
    {"stack", "arrays, axis=", "Arrays side by side along a new axis.", stack},
    {"flip", "x, axis=", "Elements in reverse order.", flip},
    {"tile", "x, times", "The whole array repeated.", tile},
    {"repeat_each", "x, n, axis=", "Every element repeated n times.", repeat},
};
}
const BuiltinList shape_builtins = list;

}  // namespace tercet
