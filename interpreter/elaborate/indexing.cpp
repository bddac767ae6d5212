// Indexing: x[…] read and assigned, by NumPy's rules (of arrays whose rows differ in length: row_indexing.cpp). Written parts become at most three operations: a slice (and
// windows) for the axes whose places are known, then a gather or scatter for the rest.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/fitting.h"
#include "interpreter/elaborate/index_part.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using ast::IndexItem;
using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

bool same_expression(const ast::Expr& a, const ast::Expr& b);
bool same_expression(const ast::ExprPtr& a, const ast::ExprPtr& b) { return a && b && same_expression(*a, *b); }

/// Equal as written, for the expressions that window starts are made of.
bool same_expression(const ast::Expr& a, const ast::Expr& b) {
  if (auto *x = a.as<ast::Name>(), *y = b.as<ast::Name>(); x && y) return x->name == y->name;
  if (auto *x = a.as<ast::IntLiteral>(), *y = b.as<ast::IntLiteral>(); x && y) return x->magnitude == y->magnitude && x->negative == y->negative;
  if (auto *x = a.as<ast::Member>(), *y = b.as<ast::Member>(); x && y) return x->name == y->name && same_expression(x->base, y->base);
  if (auto *x = a.as<ast::Index>(), *y = b.as<ast::Index>(); x && y)
    return same_expression(x->base, y->base) && x->items.size() == 1 && y->items.size() == 1 && same_expression(x->items[0].element, y->items[0].element);
  if (auto *x = a.as<ast::Chain>(), *y = b.as<ast::Chain>(); x && y) {
    if (x->links.size() != y->links.size() || !same_expression(x->first, y->first)) return false;
    for (size_t i = 0; i < x->links.size(); ++i)
      if (x->links[i].op != y->links[i].op || !same_expression(x->links[i].operand, y->links[i].operand)) return false;
    return true;
  }
  return false;
}

/// The w of a written window e : e + w, or null.
const ast::Expr* window_size(const IndexItem& item) {
  if (!item.start || !item.stop || item.step || item.start->as<ast::IntLiteral>()) return nullptr;
  auto* stop = item.stop->as<ast::Chain>();
  if (!stop || stop->links.empty() || stop->links.back().op != ast::BinaryOp::Add) return nullptr;
  auto* start = item.start->as<ast::Chain>();
  const auto& links = stop->links;
  bool start_is_sum = start && !start->links.empty() && (start->links[0].op == ast::BinaryOp::Add || start->links[0].op == ast::BinaryOp::Subtract);
  if (!start_is_sum) return links.size() == 1 && same_expression(stop->first, item.start) ? links[0].operand.get() : nullptr;
  if (start->links.size() + 1 != links.size() || !same_expression(start->first, stop->first)) return nullptr;
  for (size_t i = 0; i < start->links.size(); ++i)
    if (start->links[i].op != links[i].op || !same_expression(start->links[i].operand, links[i].operand)) return nullptr;
  return links.back().operand.get();
}

template <class P> bool has_form(const std::vector<P>& parts, typename P::Form form) {
  return std::any_of(parts.begin(), parts.end(), [&](const P& p) { return p.form == form; });
}

}  // namespace

Leaf Elaborator::nonzero(const Leaf& mask) { return emit(nonzero_op, {use(mask)}, {{"defines", Dim::symbol("count")}}); }

Leaf Elaborator::gather_rows(const Leaf& x, const Leaf& index, int64_t axis) {
  if (x.type.is_ragged() && axis == 0) return emit(take_rows_op, {use(x), use(cast(index, DType::I64))}, {}, x.weak);
  return emit(gather_op, {use(x), use(cast(index, DType::I64))}, {{"axes", Ints{axis}}, {"batch", int64_t{0}}}, x.weak);
}

/// Checks an index and counts negative ones from the end; i64.
Leaf Elaborator::checked_index(const Leaf& index, const Dim& size, int64_t axis) {
  if (index.type.is_ragged())
    error(Kind::Unsupported, fmt::format("rows of indices stand alone between the brackets: this is {}", describe(index)), "map over the rows: vmap(row => x[row, …])(rows)");
  if (!is_int(index.type.dtype))
    error(Kind::Type, fmt::format("an index is an integer, and this is {}", describe(index)), is_float(index.type.dtype) ? "convert it: i32(i)" : "");
  if (index.constant && size.constant()) {
    int64_t i = index.constant->integer, n = *size.constant();
    // Out of range is an error when it happens: this may stand in a branch that is not taken.
    if (i >= -n && i < n) return int_leaf(i < 0 ? i + n : i, DType::I64, false);
  }
  emit_effect(check_index_op, {use(index)}, {{"size", size}, {"axis", axis}});
  Leaf wide = cast(index, DType::I64);
  if (index.constant && index.constant->integer >= 0) return wide;
  if (index.constant) return binary(ast::BinaryOp::Add, wide, size_leaf(size));
  if (is_unsigned_int(index.type.dtype)) return wide;
  Leaf negative = binary(ast::BinaryOp::Less, wide, int_leaf(0));
  return select(negative, binary(ast::BinaryOp::Add, wide, size_leaf(size)), wide);
}

std::vector<Elaborator::IndexPart> Elaborator::index_parts(const Leaf& x, const std::vector<IndexItem>& items, const Sym* only) {
  std::vector<IndexPart> parts;
  std::vector<std::optional<Sym>> values;
  int64_t consumed = 0;
  for (const IndexItem& item : items) {
    values.emplace_back();
    if (item.form == IndexItem::Form::Slice) ++consumed;
    if (item.form != IndexItem::Form::Element) continue;
    values.back() = only ? *only : expr(item.element);   // once: it may print
    SpanScope at(*this, item.span);
    if (values.back()->is_none()) continue;
    Leaf leaf = array(*values.back(), "an index");
    values.back() = leaf;
    consumed += leaf.type.dtype == DType::Bool ? leaf.type.rank() : 1;
  }
  if (consumed > x.type.rank())
    error(Kind::Index, fmt::format("{} axes are indexed, and the array is {}", consumed, describe(x)));
  int64_t axis = 0;
  auto whole = [&](int64_t until) { for (; axis < until; ++axis) parts.push_back({IndexPart::Form::Whole, axis, 0, x.type.dims[static_cast<size_t>(axis)], 1, {}}); };
  for (size_t i = 0; i < items.size(); ++i) {
    const IndexItem& item = items[i];
    SpanScope at(*this, item.span);
    if (item.form == IndexItem::Form::NewAxis || (values[i] && values[i]->is_none())) {
      parts.push_back({IndexPart::Form::NewAxis, 0, 0, 1, 1, {}});
      continue;
    }
    if (item.form == IndexItem::Form::Ellipsis) {
      if (consumed == x.type.rank()) parts.push_back({IndexPart::Form::Gap, 0, 0, 1, 1, {}});
      whole(axis + x.type.rank() - consumed);
      continue;
    }
    const Dim& n = x.type.dims[static_cast<size_t>(axis)];
    if (item.form == IndexItem::Form::Slice) parts.push_back(slice_part(item, n, axis++));
    else {
      const Leaf& leaf = *values[i]->leaf();
      if (leaf.type.dtype == DType::Bool) {
        mask_parts(parts, x, leaf, axis);
        axis += leaf.type.rank();
        continue;
      }
      Leaf index = checked_index(leaf, n, axis);
      std::optional<Dim> known;   // a place that is known while elaborating
      if (index.constant) known = Dim(index.constant->integer);
      else if (leaf.constant) known = leaf.constant->integer < 0 ? n + Dim(leaf.constant->integer) : Dim(leaf.constant->integer);
      if (leaf.type.rank() == 0 && known) parts.push_back({IndexPart::Form::Fixed, axis++, *known, 1, 1, {}});
      else parts.push_back({IndexPart::Form::Array, axis++, 0, 1, 1, index});
    }
  }
  whole(x.type.rank());
  const bool strided = std::any_of(parts.begin(), parts.end(), [](const IndexPart& p) { return p.strided; });
  if (strided && std::count_if(parts.begin(), parts.end(), [](const IndexPart& p) { return p.form == IndexPart::Form::Array; }) > 1)
    error(Kind::Unsupported, "a slice whose step is known only when it runs stands beside no index array and no other such slice", "index in two steps: x[a][:, ::k]");
  return parts;
}

/// A mask over k axes: the places where it is true, as k index arrays.
void Elaborator::mask_parts(std::vector<IndexPart>& parts, const Leaf& x, const Leaf& mask, int64_t axis) {
  const Dims& sizes = mask.type.dims;
  if (sizes.empty()) error(Kind::Unsupported, "a single bool as an index", "choose with `if` or where(c, a, b)");
  Dim count(1);
  for (size_t k = 0; k < sizes.size(); ++k) {
    require_equal(sizes[k], x.type.dims[static_cast<size_t>(axis) + k], "the mask has {left} elements, and the axis {right}");
    count = count * sizes[k];
  }
  Leaf place = nonzero(reshape(frame_->result(use(mask)), {count}));
  std::vector<Leaf> indices(sizes.size());
  for (size_t k = sizes.size(); k-- > 0;) {
    if (k == 0) {
      indices[k] = place;
      break;
    }
    // Where the mask has elements its sizes are not 0, so nothing divides by zero.
    std::array<Leaf, 2> both{place, size_leaf(sizes[k])};
    indices[k] = elementwise(mod_op, both, Promotion::Common);
    place = elementwise(floor_div_op, both, Promotion::Common);
  }
  for (size_t k = 0; k < sizes.size(); ++k) parts.push_back({IndexPart::Form::Array, axis + static_cast<int64_t>(k), 0, 1, 1, indices[k]});
}

/// A bound of a slice: negative ones count from the end, then it is clipped to low .. low + n. Upwards low is 0,
/// downwards -1, so that a slice may end before the first element.
Dim Elaborator::slice_bound(const ast::ExprPtr& e, const Dim& n, const Dim& absent, int64_t low) {
  if (!e) return absent;
  Sym value = expr(e);
  SpanScope at(*this, e->span);
  const Leaf* x = value.leaf();
  if (value.is_none()) return absent;
  if (!x || x->type.rank() != 0 || !is_int(x->type.dtype)) error(Kind::Type, fmt::format("a slice's bound is an integer, and this is {}", describe(value)));
  if (x->constant) return x->constant->integer < 0 ? max(n + Dim(x->constant->integer), Dim(low)) : min(Dim(x->constant->integer), n + Dim(low));
  Leaf size = size_leaf(n), wide = cast(*x, DType::I64);
  Leaf from_end = select(binary(ast::BinaryOp::Less, wide, int_leaf(0)), binary(ast::BinaryOp::Add, wide, size), wide);
  std::array<Leaf, 2> above{from_end, int_leaf(low)};
  std::array<Leaf, 2> within{elementwise(maximum_op, above, Promotion::Common), size_leaf(n + Dim(low))};
  Leaf clipped = elementwise(minimum_op, within, Promotion::Common);
  if (low == 0) return frame_->size_of(clipped, span_);
  return frame_->size_of(binary(ast::BinaryOp::Subtract, clipped, int_leaf(low)), span_) + Dim(low);   // sizes are not negative
}

Elaborator::IndexPart Elaborator::slice_part(const IndexItem& item, const Dim& n, int64_t axis) {
  if (const ast::Expr* width = window_size(item)) {
    Leaf start = array(expr(item.start), "a window's start");
    Dim size = this->size(expr(*width), "a window's size");
    if (start.type.rank() != 0 || !is_int(start.type.dtype)) error(Kind::Type, fmt::format("a window's start is an integer, and this is {}", describe(start)));
    emit_effect(check_window_op, {use(start)}, {{"length", n}, {"size", size}});
    return {IndexPart::Form::Window, axis, 0, size, 1, start};
  }
  const Sym given = item.step ? expr(item.step) : Sym(int_leaf(1));
  if (const Leaf* s = given.leaf(); s && !s->constant && s->type.rank() == 0 && is_int(s->type.dtype)) return strided_part(item, n, axis, *s);
  // No array is longer than this: a step that is leaves one element, and sizes reckoned with it do not overflow.
  int64_t step = std::clamp(static_int(given, "a slice's step"), -longest_step, longest_step);
  if (step == 0) error(Kind::Value, "a slice's step is not 0");
  if (!item.start && !item.stop && step == 1) return {IndexPart::Form::Whole, axis, 0, n, 1, {}};
  if (step > 0) {
    Dim start = slice_bound(item.start, n, 0, 0), stop = slice_bound(item.stop, n, n, 0);
    Dim span = max(stop - start, Dim(0));
    return {IndexPart::Form::Slice, axis, start, step == 1 ? span : floordiv(span + Dim(step - 1), Dim(step)), step, {}};
  }
  // Downwards: the first is at most n - 1, the end may be one before the first element.
  Dim start = slice_bound(item.start, n, n - Dim(1), -1), stop = slice_bound(item.stop, n, -1, -1);
  Dim span = max(start - stop, Dim(0));
  return {IndexPart::Form::Slice, axis, start, floordiv(span + Dim(-step - 1), Dim(-step)), step, {}};
}

/// A step that is known only when it runs: the places as an array.
Elaborator::IndexPart Elaborator::strided_part(const IndexItem& item, const Dim& n, int64_t axis, const Leaf& step) {
  Dim start = slice_bound(item.start, n, 0, 0), stop = slice_bound(item.stop, n, n, 0);
  return {IndexPart::Form::Array, axis, 0, 1, 1, strided(size_leaf(start), size_leaf(max(stop - start, Dim(0))), step, DType::I64, "a slice's step"), true};
}

/// The part of x that slices, fixed places and windows leave, with all axes still there.
Leaf Elaborator::read_basic(Leaf x, const std::vector<IndexPart>& parts) {
  for (const IndexPart& p : parts)
    if (p.form == IndexPart::Form::Window)
      x = emit(window_op, {use(x), use(p.index)}, {{"axis", p.axis}, {"size", p.size}, {"batch", int64_t{0}}}, x.weak);
  if (!has_form(parts, IndexPart::Form::Slice) && !has_form(parts, IndexPart::Form::Fixed)) return x;
  Dims starts(x.type.dims.size()), sizes = x.type.dims;
  Ints steps(x.type.dims.size(), 1);
  for (const IndexPart& p : parts)
    if (p.form == IndexPart::Form::Slice || p.form == IndexPart::Form::Fixed) {
      auto k = static_cast<size_t>(p.axis);
      starts[k] = p.start;
      sizes[k] = p.size;
      steps[k] = p.step;
    }
  return emit(slice_op, {use(x)}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}}, x.weak);
}

/// The indexed axes and their index arrays, brought to one shape; where their axes stand in the result.
struct Elaborator::Advanced {
  Ints axes;
  std::vector<ValueId> indices;
  Dims dims;
  size_t place = 0;        // result axes before them
  bool apart = false;      // other axes stand between them: they come first
};

Elaborator::Advanced Elaborator::advanced(const std::vector<IndexPart>& parts) {
  Advanced out;
  std::vector<Leaf> leaves;
  bool apart = false, ended = false, started = false;
  bool arrays = std::any_of(parts.begin(), parts.end(), [](const IndexPart& p) { return p.form == IndexPart::Form::Array && p.index.type.rank() > 0; });
  size_t before = 0;
  for (const IndexPart& p : parts) {
    if (p.form == IndexPart::Form::Array) leaves.push_back(p.index), out.axes.push_back(p.axis);
    // Beside index arrays a number counts as one of them, as in NumPy.
    if (p.form == IndexPart::Form::Array || (p.form == IndexPart::Form::Fixed && arrays)) {
      if (!started) out.place = before;
      started = true;
      apart |= ended;
    } else {
      ended = started;
      before += p.has_axis() && p.form != IndexPart::Form::Fixed;
    }
  }
  out.apart = apart;
  if (apart) out.place = 0;
  if (leaves.empty()) return out;
  out.dims = common_dims(leaves);
  for (const Leaf& x : leaves) out.indices.push_back(use(broadcast_to(cast(x, DType::I64), out.dims)));
  return out;
}

namespace {

/// Axes of a gather's result (index axes, then the others) in the order of the written result.
template <class P> Ints result_order(const std::vector<P>& parts, size_t index_rank, size_t place) {
  Ints order;
  auto rest = static_cast<int64_t>(index_rank);
  size_t kept = 0;
  auto indices = [&] { for (size_t k = 0; k < index_rank; ++k) order.push_back(static_cast<int64_t>(k)); };
  for (const P& p : parts) {
    if (p.form == P::Form::Array || !p.has_axis()) continue;
    bool counts = p.form != P::Form::Fixed;
    if (counts && kept == place) indices();
    kept += counts;
    order.push_back(rest++);
  }
  if (kept <= place) indices();
  return order;
}

/// The written result's sizes: fixed axes gone, new axes there.
template <class P> Dims result_dims(const std::vector<P>& parts, const Dims& index_dims, size_t place, bool apart) {
  Dims out;
  size_t kept = 0;
  bool done = false;
  auto indices = [&] {
    if (!done) out.insert(out.end(), index_dims.begin(), index_dims.end());
    done = true;
  };
  if (apart) indices();
  for (const P& p : parts) {
    if (p.form == P::Form::Array && kept == place) indices();
    if (p.form == P::Form::Array || p.form == P::Form::Fixed || p.form == P::Form::Gap) continue;
    if (p.form == P::Form::NewAxis) {
      out.emplace_back(1);
      continue;
    }
    if (kept == place && place == 0) indices();
    ++kept;
    out.push_back(p.size);
  }
  indices();
  return out;
}

/// Whether single places that are found when it runs stand beside parts of other axes, as in x[i, :n].
template <class P> bool places_beside_parts(const std::vector<P>& parts) {
  bool places = false, cut = false;
  for (const P& p : parts) {
    if (p.form == P::Form::Array && p.index.type.rank() > 0) return false;
    places |= p.form == P::Form::Array;
    cut |= p.form == P::Form::Slice || p.form == P::Form::Window || p.form == P::Form::Fixed;
  }
  return places && cut;
}

/// What is left of the index within what lies at those places.
template <class P> std::vector<P> within_places(const std::vector<P>& parts) {
  std::vector<P> out;
  int64_t gone = 0;
  for (const P& p : parts) {
    if (p.form == P::Form::Array) {
      ++gone;
      continue;
    }
    out.push_back(p);
    out.back().axis -= gone;
  }
  return out;
}

}  // namespace

Leaf Elaborator::gather_at(const Leaf& x, const Advanced& index) {
  std::vector<ValueId> inputs{use(x)};
  inputs.insert(inputs.end(), index.indices.begin(), index.indices.end());
  return emit(gather_op, inputs, {{"axes", index.axes}, {"batch", int64_t{0}}}, x.weak);
}
/// x with `v`, which has the form of what gather_at gives, put at those places; `mode`: "set", "add" or "mul".
Leaf Elaborator::scatter_at(const Leaf& x, const Leaf& v, const Advanced& index, const std::string& mode) {
  std::vector<ValueId> inputs{use(x), use(v)};
  inputs.insert(inputs.end(), index.indices.begin(), index.indices.end());
  return emit(scatter_op, inputs, {{"axes", index.axes}, {"batch", int64_t{0}}, {"mode", mode}});
}

Leaf Elaborator::read_index(const Leaf& x, const std::vector<IndexItem>& items) {
  if (x.type.is_ragged() && !items.empty()) return read_rows(x, items);
  if (x.type.rank() == 0 && x.type.dtype == DType::Str && items.size() == 1 && (items[0].form == IndexItem::Form::Slice || items[0].form == IndexItem::Form::Element) &&
      !(items[0].element && items[0].element->as<ast::NoneLiteral>())) {   // a part of a text, in code points
    Leaf characters = emit(*find_op("tokenize"), {use(x)}, {{"text", std::string("chars")}, {"defines", Dim::symbol("k")}});
    Leaf part = read_index(characters, items);
    return part.type.rank() == 0 ? part : emit(*find_op("join"), {use(part)}, {{"text", std::string()}});
  }
  if (x.type.rank() == 0 && !items.empty() && items[0].form != IndexItem::Form::NewAxis && items[0].form != IndexItem::Form::Ellipsis && !(items[0].element && items[0].element->as<ast::NoneLiteral>()))
    error(Kind::Type, fmt::format("a scalar is not indexed: this is {}", describe(x)), x.type.dtype == DType::Str ? "its characters are tokenize(text, \"chars\")" : "");
  if (items.size() == 1 && items[0].form == IndexItem::Form::Element) {
    Sym value = expr(items[0].element);
    if (const Leaf* rows = value.leaf(); rows && rows->type.is_ragged()) return read_at_rows(x, *rows);
    return read_parts(x, index_parts(x, items, &value));
  }
  return read_parts(x, index_parts(x, items));
}

Leaf Elaborator::read_parts(const Leaf& x, const std::vector<IndexPart>& parts) {
  if (places_beside_parts(parts)) return read_parts(gather_at(x, advanced(parts)), within_places(parts));   // a row before it is cut, not all rows
  Leaf part = read_basic(x, parts);
  Advanced index = advanced(parts);
  if (!index.axes.empty()) {
    part = transpose(gather_at(part, index), result_order(parts, index.dims.size(), index.place));
  }
  return reshape(part, result_dims(parts, index.dims, index.place, index.apart));
}

/// Elements at places that are found when it runs are written where they lie: known places among them count as found ones, so
/// that t[i, 0] = v does not write a column back.
void Elaborator::write_in_place(std::vector<IndexPart>& parts) {
  using Form = IndexPart::Form;
  bool found = false, whole = false, wide = false, sliced = false;
  for (const IndexPart& p : parts) {
    found |= p.form == Form::Array;
    wide |= p.form == Form::Array && p.index.type.rank() > 0;
    whole |= p.form == Form::Whole;
    sliced |= p.form == Form::Slice || p.form == Form::Window;
  }
  if (!found || sliced || (wide && whole)) return;   // with other axes between arrays, numbers have a rule of their own
  for (IndexPart& p : parts)
    if (p.form == Form::Fixed) p.form = Form::Array, p.index = size_leaf(p.start);
}

Leaf Elaborator::write_index(const Leaf& x, const std::vector<IndexItem>& items, const Leaf& value, std::optional<ast::BinaryOp> op) {
  DType dtype = x.type.dtype;
  bool lossy = value.type.dtype != dtype && !(value.weak && !(is_float(value.type.dtype) && !is_float(dtype)));
  bool other = value.type.dtype != dtype && (value.type.dtype > DType::F64 || dtype > DType::F64);
  if (other || (lossy && promote(dtype, value.type.dtype) != dtype))
    error(Kind::Type, fmt::format("{} does not go into {}", describe(value), describe(x)), other ? "" : fmt::format("convert it: {}(v)", name_of(dtype)));
  if (x.type.is_ragged()) return write_rows(x, items, value, op);
  std::vector<IndexPart> parts = index_parts(x, items);
  write_in_place(parts);
  return write_parts(frame_->result(use(x), x.weak), parts, cast(value, dtype), op);
}

Leaf Elaborator::write_parts(const Leaf& whole, const std::vector<IndexPart>& parts, Leaf v, std::optional<ast::BinaryOp> op) {
  if (places_beside_parts(parts)) {
    const Advanced places = advanced(parts);
    const Leaf row = write_parts(gather_at(whole, places), within_places(parts), v, op);
    return frame_->result(use(scatter_at(whole, row, places, "set")), whole.weak);
  }
  const DType dtype = whole.type.dtype;
  Leaf part = read_basic(whole, parts);
  Advanced index = advanced(parts);
  Dims shape = result_dims(parts, index.dims, index.place, index.apart);
  auto fitted = [&](Leaf y) {   // the value in the written shape
    require_fits(*this, y.type.dims, shape, "a value of size {left} does not fit into a part of size {right}");
    return broadcast_to(frame_->result(use(y)), shape);
  };
  bool accumulates = op && !index.axes.empty() && dtype != DType::Bool && dtype != DType::Str &&
                     (*op == ast::BinaryOp::Add || *op == ast::BinaryOp::Subtract || *op == ast::BinaryOp::Multiply);
  if (op && !accumulates) v = cast(binary(*op, read_parts(whole, parts), v), dtype);
  if (accumulates && *op == ast::BinaryOp::Subtract) v = emit(neg_op, {use(v)});
  v = fitted(v);
  if (!index.axes.empty()) {
    // Back to the order of gather's result: fixed axes are there again, the index axes in front.
    Ints order = result_order(parts, index.dims.size(), index.place);
    Dims gathered = index.dims;
    for (const IndexPart& p : parts)
      if (p.form != IndexPart::Form::Array && p.has_axis()) gathered.push_back(p.size);
    Dims ordered;
    Ints inverse(order.size());
    for (size_t k = 0; k < order.size(); ++k) {
      ordered.push_back(gathered[static_cast<size_t>(order[k])]);
      inverse[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
    }
    v = transpose(reshape(v, ordered), inverse);
    v = scatter_at(part, v, index, !accumulates ? "set" : *op == ast::BinaryOp::Multiply ? "mul" : "add");
  } else {
    v = reshape(v, part.type.dims);
  }
  return write_basic(whole, v, parts);
}

/// Puts a part that read_basic gave back into x.
Leaf Elaborator::write_basic(const Leaf& x, Leaf v, const std::vector<IndexPart>& parts) {
  std::vector<const IndexPart*> windows;
  for (const IndexPart& p : parts)
    if (p.form == IndexPart::Form::Window) windows.push_back(&p);
  bool sliced = has_form(parts, IndexPart::Form::Slice) || has_form(parts, IndexPart::Form::Fixed);
  if (!sliced && windows.empty()) return frame_->result(use(v), x.weak);
  // The arrays between: x, then one window after another, then the slice; they are filled in from the innermost out.
  std::vector<Leaf> stages{x};
  for (const IndexPart* w : windows) {
    bool last = w == windows.back() && !sliced;
    if (!last) stages.push_back(emit(window_op, {use(stages.back()), use(w->index)}, {{"axis", w->axis}, {"size", w->size}, {"batch", int64_t{0}}}));
  }
  if (sliced) {
    Dims starts(x.type.dims.size());
    Ints steps(x.type.dims.size(), 1);
    for (const IndexPart& p : parts)
      if (p.form == IndexPart::Form::Slice || p.form == IndexPart::Form::Fixed) starts[static_cast<size_t>(p.axis)] = p.start, steps[static_cast<size_t>(p.axis)] = p.step;
    v = emit(slice_update_op, {use(stages.back()), use(v)}, {{"starts", starts}, {"steps", steps}});
    stages.pop_back();
  }
  for (size_t k = windows.size(); k-- > 0;) {
    v = emit(window_update_op, {use(stages.back()), use(v), use(windows[k]->index)}, {{"axis", windows[k]->axis}, {"batch", int64_t{0}}});
    stages.pop_back();
  }
  return v;
}

Sym Elaborator::tuple_slice(const Sym::Tuple& t, const IndexItem& item) {
  auto n = static_cast<int64_t>(t.elements.size());
  auto bound = [&](const ast::ExprPtr& e, int64_t absent) {
    if (!e) return absent;
    int64_t i = static_int(expr(e), "a tuple's slice");
    return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n);
  };
  int64_t step = item.step ? static_int(expr(item.step), "a tuple's slice") : 1;
  if (step < 1) error(Kind::Unsupported, "a tuple's slice goes upwards");
  Sym::Tuple out;
  for (int64_t i = bound(item.start, 0), end = bound(item.stop, n); i < end; i += step) out.elements.push_back(t.elements[static_cast<size_t>(i)]);
  return out;
}

Sym Elaborator::index(const ast::Index& e) {
  Sym base = expr(e.base);
  if (auto* t = base.as<Sym::Tuple>()) {
    if (e.items.size() != 1 || (e.items[0].form != IndexItem::Form::Element && e.items[0].form != IndexItem::Form::Slice)) error(Kind::Type, "a tuple takes one number or one slice as its index");
    if (e.items[0].form == IndexItem::Form::Slice) return tuple_slice(*t, e.items[0]);
    int64_t i = static_int(expr(e.items[0].element), "a tuple's index"), n = static_cast<int64_t>(t->elements.size());
    if (i < -n || i >= n) error(Kind::Index, fmt::format("index {} is out of range for a tuple of {}", i, n));
    return t->elements[static_cast<size_t>(i < 0 ? i + n : i)];
  }
  if (base.as<Sym::Range>()) base = array(base, "an index");
  if (auto* leaf = base.leaf()) return read_index(*leaf, e.items);
  error(Kind::Type, fmt::format("{} is not indexed", describe(base)), base.as<Sym::Record>() ? "a record's fields are r.name" : base.is_function() ? "a function is called: f(x)" : "");
}

/// Rows start .. start + size of x, which are there; size -1: the row `start` alone.
Sym Elaborator::slice_rows(const Leaf& x, const Dim& start, const Dim& size) {
  Dims starts(x.type.dims.size()), sizes = x.type.dims;
  starts[0] = start;
  sizes[0] = size.is(-1) ? Dim(1) : size;
  Leaf part = emit(slice_op, {use(x)}, {{"starts", starts}, {"sizes", sizes}, {"steps", Ints(sizes.size(), 1)}}, x.weak);
  if (!size.is(-1)) return part;
  return reshape(part, Dims(sizes.begin() + 1, sizes.end()));
}

}  // namespace tercet
