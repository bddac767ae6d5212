// Indexing of arrays whose rows differ in length: rows by numbers, slices and masks, then the rest in each row.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/fitting.h"
#include "interpreter/elaborate/index_part.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using ast::IndexItem;
using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

Leaf values_of(Elaborator& e, const Leaf& rows) { return e.emit(*find_op("flatten"), {e.use(rows)}, {{"defines", Dim::symbol("total")}}, rows.weak); }
Dim product(const Dims& dims) {
  Dim n(1);
  for (const Dim& d : dims) n = n * d;
  return n;
}

}  // namespace

/// x[mask] for a mask of x's rows: the elements where it is true, one after another, as NumPy has them.
Leaf Elaborator::read_masked(const Leaf& x, const Leaf& mask) {
  if (mask.type.rank() > x.type.rank()) error(Kind::Index, fmt::format("a mask of {} axes for {}", mask.type.rank(), describe(x)));
  require_equal(mask.type.dims[0], x.type.dims[0], "the mask has {left} rows, and the array {right}");
  auto levels = [](const Leaf& a) { return std::count_if(a.type.dims.begin(), a.type.dims.end(), [](const Dim& d) { return d.is_ragged(); }); };
  auto require_same_rows = [&](auto& self, const Leaf& a, const Leaf& b) -> void {
    emit_effect(check_rows_op, {builder().emit(row_offsets_op, {use(a)}, {}, span_), builder().emit(row_offsets_op, {use(b)}, {}, span_)}, {});
    if (levels(b) < 2 || levels(a) < 2) return;
    Leaf inner_a = emit(*find_op("lengths"), {use(a)}), inner_b = emit(*find_op("lengths"), {use(b)});
    auto offsets = [&](const Leaf& lengths) { return use(emit(offsets_of_op, {use(values_of(*this, lengths))}, {{"defines", Dim::symbol("total")}})); };
    if (levels(a) == 2) emit_effect(check_rows_op, {offsets(inner_a), offsets(inner_b)}, {});
    else self(self, inner_a, inner_b);
  };
  require_same_rows(require_same_rows, x, mask);
  Leaf values = values_of(*this, x), chosen = values_of(*this, mask);
  for (size_t k = 1; k < chosen.type.dims.size(); ++k) require_equal(chosen.type.dims[k], values.type.dims[k], "the mask has {left} elements, and the axis {right}");
  Dims dims(values.type.dims.begin() + static_cast<std::ptrdiff_t>(chosen.type.dims.size()), values.type.dims.end());
  const Dim count = product({values.type.dims.begin(), values.type.dims.begin() + static_cast<std::ptrdiff_t>(chosen.type.dims.size())});
  dims.insert(dims.begin(), count);
  Leaf flat = reshape(frame_->result(use(chosen)), {product(chosen.type.dims)});
  return gather_rows(reshape(values, dims), nonzero(flat), 0);
}

/// x with a part replaced, of an array whose rows differ in length: what is written is the places that reading finds there.
Leaf Elaborator::write_rows(const Leaf& x, const std::vector<IndexItem>& items, const Leaf& value, std::optional<ast::BinaryOp> op) {
  Leaf values = values_of(*this, x);
  const Dims dims = values.type.dims;
  const Dim count = product(dims);
  bool one_level = true;
  for (size_t k = 0; k < x.type.dims.size(); ++k) one_level &= x.type.dims[k].is_ragged() == (k == 1);
  const ValueId where = one_level ? builder().emit(row_offsets_op, {use(x)}, {}, span_) : use(x);
  auto as_rows = [&](const Leaf& flat) { return emit(one_level ? rows_at_op : rows_as_op, {use(reshape(flat, dims)), where}, {}, x.weak); };
  Leaf at = read_index(as_rows(iota(count, DType::I64)), items), v = value;
  if (at.type.is_ragged()) {
    auto fitted = [&](auto& self, const Leaf& place, const Leaf& written) -> Leaf {
      if (place.type.is_ragged()) {
        std::array<Leaf, 2> both{place, written};
        return *rows_together(both, [&](std::span<const Leaf> row) -> Sym { return self(self, row[0], row[1]); }).leaf();
      }
      if (written.type.is_ragged()) error(Kind::Shape, fmt::format("{} does not go into {}", describe(written), describe(place)));
      require_fits(*this, written.type.dims, place.type.dims, "a value of size {left} does not fit into a part of size {right}");
      return broadcast_to(frame_->result(use(written)), place.type.dims);
    };
    v = fitted(fitted, at, v);
    at = values_of(*this, at);
    v = values_of(*this, v);
  } else {
    if (v.type.is_ragged()) error(Kind::Shape, fmt::format("{} does not go into {}", describe(v), describe(at)));
    require_fits(*this, v.type.dims, at.type.dims, "a value of size {left} does not fit into a part of size {right}");
    v = broadcast_to(frame_->result(use(v)), at.type.dims);
  }
  const Dims whole{count}, part{product(at.type.dims)};
  Leaf flat = reshape(values, whole), index = reshape(at, part);
  v = reshape(v, {product(v.type.dims)});
  if (!(v.type.dims[0] == part[0])) {
    require_equal(v.type.dims[0], part[0], "a value of {left} elements for {right} places");
    v = broadcast_to(v, part);
  }
  const DType dtype = x.type.dtype;
  const bool accumulates = op && dtype != DType::Bool && dtype != DType::Str && (*op == ast::BinaryOp::Add || *op == ast::BinaryOp::Subtract || *op == ast::BinaryOp::Multiply);
  if (op && !accumulates) v = binary(*op, gather_rows(flat, index, 0), v);
  v = cast(v, dtype);
  if (accumulates && *op == ast::BinaryOp::Subtract) v = emit(neg_op, {use(v)});
  const std::string mode = !accumulates ? "set" : *op == ast::BinaryOp::Multiply ? "mul" : "add";
  return as_rows(emit(scatter_op, {use(flat), use(v), use(index)}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", mode}}));
}

/// x[rows, …] of an array whose rows differ in length: a row, or rows by a slice, numbers or a mask; then the rest in each.
Leaf Elaborator::read_rows(const Leaf& x, const std::vector<IndexItem>& items) {
  const std::vector<IndexItem> rest(items.begin() + 1, items.end());
  SpanScope at(*this, items[0].span);
  if (items[0].form == IndexItem::Form::Ellipsis) {   // the axes that are not written
    auto written = static_cast<size_t>(std::count_if(rest.begin(), rest.end(), [](const IndexItem& i) { return i.form == IndexItem::Form::Slice || i.form == IndexItem::Form::Element; }));
    IndexItem all = items[0];
    all.form = IndexItem::Form::Slice;
    std::vector<IndexItem> whole(static_cast<size_t>(std::max<int64_t>(0, x.type.rank() - static_cast<int64_t>(written))), all);
    whole.insert(whole.end(), rest.begin(), rest.end());
    return whole.empty() ? x : read_rows(x, whole);
  }
  auto unsupported = [&] {
    error(Kind::Unsupported, fmt::format("rows of different length are indexed by numbers, slices and masks, the row first: this is {}", describe(x)),
          "map over the rows: vmap(row => …)(x)");
  };
  auto inside = [&](const Leaf& rows) -> Leaf {
    if (rest.empty()) return rows;
    return *map_lanes("row", rows.type.dims[0], {&rows, 1}, [&](std::span<const Leaf> row) -> Sym { return read_index(row[0], rest); }).leaf();
  };
  auto taken = [&](const Leaf& numbers) { return inside(emit(take_rows_op, {use(x), use(cast(numbers, DType::I64))}, {}, x.weak)); };
  const Dim& n = x.type.dims[0];
  if (items[0].form == IndexItem::Form::Slice) {
    IndexPart part = slice_part(items[0], n, 0);
    if (part.form == IndexPart::Form::Whole) return inside(x);
    Leaf numbers = iota(part.size, DType::I64), start = part.form == IndexPart::Form::Window ? cast(part.index, DType::I64) : size_leaf(part.start);
    return taken(binary(ast::BinaryOp::Add, binary(ast::BinaryOp::Multiply, numbers, int_leaf(part.step)), start));
  }
  if (items[0].form != IndexItem::Form::Element) unsupported();
  Sym value = expr(items[0].element);
  if (value.is_none()) unsupported();
  Leaf index = array(value, "an index");
  if (index.type.is_ragged() && index.type.dtype == DType::Bool && rest.empty()) return read_masked(x, index);
  if (index.type.is_ragged() || index.type.rank() > 1) unsupported();
  if (index.type.dtype == DType::Bool) {
    if (index.type.rank() != 1) unsupported();
    require_equal(index.type.dims[0], n, "the mask has {left} elements, and the axis {right}");
    return taken(nonzero(index));
  }
  Leaf checked = checked_index(index, n, 0);
  if (index.type.rank() == 1) return taken(checked);
  Leaf row = emit(*find_op("ragged_row"), {use(x), use(checked)}, {{"defines", Dim::symbol("k")}}, x.weak);
  return rest.empty() ? row : read_index(row, rest);
}

/// x[index] for rows of indices: each row's elements.
Leaf Elaborator::read_at_rows(const Leaf& x, const Leaf& index) {
  if (index.type.dtype == DType::Bool) error(Kind::Unsupported, fmt::format("a mask of rows of different length: this is {}", describe(index)), "map over the rows: vmap((row, mask) => row[mask])(x, mask)");
  return *map_lanes("row", index.type.dims[0], {&index, 1}, [&](std::span<const Leaf> row) -> Sym {
    if (row[0].type.is_ragged()) return read_at_rows(x, row[0]);
    return gather_rows(x, checked_index(row[0], x.type.dims[0], 0), 0);
  }).leaf();
}

}  // namespace tercet
