#include "interpreter/ops/row_ops_diff.h"

#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/row_ops.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

/// x[index, …] along axis 0.
Expr take(Expr x, Expr index) { return x.emit(gather_op, {x.id, index.id}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}); }
/// Values added into zeros [size, …] at index along axis 0.
Expr put(Expr values, Expr index, const Dim& size) {
  Dims dims = values.type().dims;
  dims.erase(dims.begin(), dims.begin() + index.type().rank());
  dims.insert(dims.begin(), size);
  ValueId zeros = zeros_of(*values.b, {values.type().dtype, dims}, values.span);
  return values.emit(scatter_op, {zeros, values.id, index.id}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}});
}
Expr reshaped(Expr x, const Dims& dims) { return x.type().dims == dims ? x : x.emit(reshape_op, {x.id}, {{"dims", dims}}); }
Expr sliced(Expr x, const Dim& start, const Dim& size) { return x.emit(slice_op, {x.id}, {{"starts", Dims{start}}, {"sizes", Dims{size}}, {"steps", Ints{1}}}); }
Expr rows_version(const char* name, Expr x, Expr offsets, Attrs attrs = {}) { return x.emit(*find_op(name), {x.id, offsets.id}, std::move(attrs)); }

/// Where each of `total` elements stands.
struct Elements {
  Elements(Expr offsets_, const Dim& total_) : offsets(offsets_), total(total_) {
    rows = offsets.emit(row_ids_op, {offsets.id}, {{"total", total}});
    at = offsets.emit(iota_op, {}, {{"dims", Dims{total}}, {"axis", int64_t{0}}, {"dtype", DType::I64}});
  }
  Expr begin() const { return take(offsets, rows); }
  Expr end() const { return take(offsets, rows + rows.number(1)); }
  Expr place() const { return at - begin(); }
  /// A mask over the elements, for all that belongs to each.
  Expr like(Expr mask, Expr x) const {
    return x.type().rank() == 1 ? mask : Expr{mask.b, repeated(*mask.b, mask.id, x.type().dims, {0}, mask.span), mask.span};
  }
  /// Each row in reverse order.
  Expr flipped(Expr x) const { return take(x, begin() + end() - at - at.number(1)); }
  /// The element before, within the row; `first` where there is none.
  Expr previous(Expr x, double first) const {
    Expr moved = take(x, call("maximum", at - at.number(1), at.number(0)));
    return choose(like(at == begin(), x), x.number(first), moved);
  }
  Expr products_before(Expr x) const { return previous(rows_version("cumprod_rows", x, offsets), 1); }
  Expr products_behind(Expr x) const { return flipped(products_before(flipped(x))); }

  Expr offsets;
  Dim total;
  Expr rows, at;
};

/// A reduction of rows with one reduced axis: further ones are joined with the first.
struct ReducedRows {
  explicit ReducedRows(ReverseContext& c) : b(c.out()), span(c.op().span), dims(b.type(c.operand(0)).dims), elements(joined(c, b)) {
    auto axes = static_cast<size_t>(c.op().attrs.get<int64_t>("axes"));
    flat_dims.assign(dims.begin() + static_cast<std::ptrdiff_t>(axes), dims.end());
    flat_dims.insert(flat_dims.begin(), elements.total);
    x = reshaped({&b, c.operand(0), span}, flat_dims);
  }
  static Elements joined(ReverseContext& c, Builder& b) {
    const Dims& dims = b.type(c.operand(0)).dims;
    Dim times = 1, total = dims[0];
    for (int64_t k = 1; k < c.op().attrs.get<int64_t>("axes"); ++k) times = times * dims[static_cast<size_t>(k)];
    Expr offsets{&b, c.operand(1), c.op().span};
    if (times.is(1)) return {offsets, total};
    ValueId factor = b.emit(dim_value_op, {}, {{"dim", times}}, c.op().span);
    return {offsets * Expr{&b, repeated(b, factor, offsets.type().dims, {}, c.op().span), c.op().span}, total * times};
  }
  /// A value of each row, for each of its elements.
  Expr spread(ValueId result) const { return take({&b, result, span}, elements.rows); }
  ValueId back(Expr flat) const { return reshaped(flat, dims).id; }

  Builder& b;
  Span span;
  Dims dims, flat_dims;
  Elements elements;
  Expr x;
};

struct RunningRows {
  explicit RunningRows(ReverseContext& c)
      : b(c.out()), x{&b, c.operand(0), c.op().span}, result{&b, c.result(), x.span}, ct{&b, c.cotangent(), x.span},
        elements({&b, c.operand(1), x.span}, x.type().dims[0]) {}
  Builder& b;
  Expr x, result, ct;
  Elements elements;
};

/// Only rows of one level are taken apart.
void require_one_level(const Type& type, Span span) {
  for (size_t k = 0; k < type.dims.size(); ++k)
    if (type.dims[k].is_ragged() != (k == 1)) fail(Kind::Unsupported, span, "no gradient through rows of rows of different length");
}
/// The values of a ragged array, and its offsets.
Expr values_of(Builder& b, ValueId ragged, Span span) {
  require_one_level(b.type(ragged), span);
  return {&b, b.emit(*find_op("flatten"), {ragged}, {{"defines", Dim::symbol("total")}}, span), span};
}
Expr offsets_of(Builder& b, ValueId ragged, Span span) { return {&b, b.emit(row_offsets_op, {ragged}, {}, span), span}; }
Expr cut(Expr values, Expr offsets) { return values.emit(rows_at_op, {values.id, offsets.id}); }

}  // namespace

void transpose_sum_rows(ReverseContext& c) {
  ReducedRows r(c);
  c.add(0, r.back(r.spread(c.cotangent())));
}

void reverse_prod_rows(ReverseContext& c) {
  ReducedRows r(c);
  Expr others = r.elements.products_before(r.x) * r.elements.products_behind(r.x), ct = r.spread(c.cotangent());
  c.add(0, r.back(ct.emit(strong_mul_op, {ct.id, others.id})));
}

void reverse_extreme_rows(ReverseContext& c) {
  ReducedRows r(c);
  Expr result = r.spread(c.result());
  Expr wins = (r.x == result) | ((r.x != r.x) & (result != result));
  Expr count = rows_version("sum_rows", as(wins, r.x.type().dtype), r.elements.offsets, {{"axes", int64_t{1}}});
  Expr share = r.spread((Expr{&r.b, c.cotangent(), r.span} / count).id);
  c.add(0, r.back(choose(wins, share, share.number(0))));
}

void transpose_cumsum_rows(ReverseContext& c) {
  RunningRows r(c);
  c.add(0, r.elements.flipped(rows_version("cumsum_rows", r.elements.flipped(r.ct), r.elements.offsets)).id);
}

/// s[i] = ct[i] + x[i + 1] * s[i + 1], from the end; behind a row's last element stands a strong 0.
void reverse_cumprod_rows(ReverseContext& c) {
  RunningRows r(c);
  const Elements& e = r.elements;
  Expr last = e.at == e.end() - e.at.number(1);
  Expr next = choose(e.like(last, r.x), r.x.number(0), take(r.x, e.at + e.at.number(1)));
  Type element = r.x.type();
  element.dims.erase(element.dims.begin());
  Builder body("contributions");
  body.param({DType::I64, {}});
  Expr s{&body, body.param(element), r.x.span}, ct{&body, body.param(element), s.span}, x{&body, body.param(element), s.span};
  Expr sum = ct + x.emit(strong_mul_op, {x.id, s.id});
  FunctionPtr step = body.finish({sum.id, sum.id});
  Attrs attrs{{"length", e.total}, {"carried", int64_t{1}}, {"consumed", int64_t{2}}, {"reverse", true}};
  ValueId all = r.b.emit_many(scan_op, {zeros_of(r.b, element, s.span), r.ct.id, next.id}, std::move(attrs), s.span, {step})[1];
  c.add(0, (e.products_before(r.x) * Expr{&r.b, all, s.span}).id);
}

void reverse_running_extreme_rows(ReverseContext& c) {
  RunningRows r(c);
  const Elements& e = r.elements;
  Expr changed = e.like(e.at == e.begin(), r.x) | (r.result != e.previous(r.result, 0));
  Expr at = r.x.type().rank() == 1 ? e.at : Expr{&r.b, repeated(r.b, e.at.id, r.x.type().dims, {0}, r.x.span), r.x.span};
  Expr from = rows_version("cummax_rows", choose(changed, at, at.number(0)), e.offsets);
  c.add(0, [&] {   // column by column: the elements' own places beside the rows'
    Lines lines(r.b, r.x.type(), 0, r.x.span);
    return lines.back(lines.scattered(lines.flat(r.ct.id), lines.flat(from.id)));
  }());
}

void reverse_sort_rows(ReverseContext& c) {
  RunningRows r(c);
  Expr order = as(r.x.emit(*find_op("argsort_rows"), {r.x.id, r.elements.offsets.id}, c.op().attrs), DType::I64), begin = r.elements.begin();
  if (r.x.type().rank() > 1) begin.id = repeated(r.b, begin.id, r.x.type().dims, {0}, r.x.span);
  Lines lines(r.b, r.x.type(), 0, r.x.span);
  c.add(0, lines.back(lines.scattered(lines.flat(r.ct.id), lines.flat((order + begin).id))));
}

void reverse_top_k_rows(ReverseContext& c) {
  if (c.cotangent(0) == no_value) return;
  Builder& b = c.out();
  Expr ct{&b, c.cotangent(0), c.op().span}, offsets{&b, c.operand(1), ct.span}, places = as({&b, c.result(1), ct.span}, DType::I64);
  Expr begin = sliced(offsets, 0, places.type().dims[0]);
  begin.id = repeated(b, begin.id, places.type().dims, {0}, ct.span);
  c.add(0, put(ct, places + begin, b.type(c.operand(0)).dims[0]).id);
}

/// (table, ids, offsets): each id's row gets the cotangent of the row that it stands in.
void transpose_gather_sum_rows(ReverseContext& c) {
  Builder& b = c.out();
  Elements e({&b, c.operand(2), c.op().span}, b.type(c.operand(1)).dims[0]);
  const Span span = c.op().span;
  Expr ct = take({&b, c.cotangent(), span}, e.rows);
  ValueId ids = clamped(b, c.operand(1), b.type(c.operand(0)).dims[0], span);
  c.add(0, b.emit(scatter_op, {take_or_zeros(c, 0), ct.id, ids}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, span));
}

void transpose_concat_rows(ReverseContext& c) {
  Builder& b = c.out();
  const std::vector<ValueId> inputs = c.op().inputs;
  Span span = c.op().span;
  Expr ct{&b, c.cotangent(), span}, whole{&b, inputs.back(), span}, before = whole.number(0);   // before: elements of earlier parts
  for (size_t p = 0; p + 1 < inputs.size(); p += 2) {
    Expr offsets{&b, inputs[p + 1], span};
    if (c.wanted(p)) {
      Elements e(offsets, b.type(inputs[p]).dims[0]);
      c.add(p, take(ct, take(whole, e.rows) + take(before, e.rows) + e.place()).id);
    }
    Dim rows = whole.type().dims[0] - 1;
    Expr lengths = sliced(offsets, 1, rows) - sliced(offsets, 0, rows);
    ValueId none = filled(b, {DType::I64, {1}}, 0, span);
    before = before + Expr{&b, b.emit(concat_op, {lengths.id, none}, {{"axis", int64_t{0}}}, span), span};
  }
}

void transpose_concat_whole(ReverseContext& c) {
  Builder& b = c.out();
  const Span span = c.op().span;
  Dim before = 0;
  for (size_t p = 0; p < c.op().inputs.size(); ++p) {
    const Dim rows = b.type(c.operand(p)).dims[0];
    Expr at{&b, b.emit(iota_op, {}, {{"dims", Dims{rows}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, span), span};
    Expr first{&b, b.emit(dim_value_op, {}, {{"dim", before}}, span), span};
    first.id = repeated(b, first.id, {rows}, {}, span);
    if (c.wanted(p)) {
      if (!b.type(c.operand(p)).is_ragged()) fail(Kind::Unsupported, span, "no gradient through rows of equal length that become rows of different length here");
      c.add(p, b.emit(take_rows_op, {c.cotangent(), (at + first).id}, {}, span));
    }
    before = before + rows;
  }
}

/// a [total, m…], b [total, n…] -> [rows, m…, n…]: element by element with the cotangent of its row.
void transpose_dot_rows(ReverseContext& c) {
  Builder& b = c.out();
  Elements e({&b, c.operand(2), c.op().span}, b.type(c.operand(0)).dims[0]);
  Expr ct = take({&b, c.cotangent(), c.op().span}, e.rows);
  const int64_t m = b.type(c.operand(0)).rank() - 1, n = b.type(c.operand(1)).rank() - 1;
  auto axes = [](int64_t from, int64_t count) {
    Ints out;
    for (int64_t k = 0; k < count; ++k) out.push_back(from + k);
    return out;
  };
  if (c.wanted(0)) c.add(0, b.emit(dot_op, {ct.id, c.operand(1)}, {{"batch", int64_t{1}}, {"lhs", axes(1 + m, n)}, {"rhs", axes(1, n)}}, ct.span));
  if (c.wanted(1)) c.add(1, b.emit(dot_op, {c.operand(0), ct.id}, {{"batch", int64_t{1}}, {"lhs", axes(1, m)}, {"rhs", axes(1, m)}}, ct.span));
}

void transpose_rows_at(ReverseContext& c) { c.add(0, values_of(c.out(), c.cotangent(), c.op().span).id); }
void transpose_ragged(ReverseContext& c) { c.add(0, values_of(c.out(), c.cotangent(), c.op().span).id); }

void transpose_flatten(ReverseContext& c) {
  Builder& b = c.out();
  require_one_level(b.type(c.operand(0)), c.op().span);
  c.add(0, cut({&b, c.cotangent(), c.op().span}, offsets_of(b, c.operand(0), c.op().span)).id);
}

/// (ragged, index): a row may be taken several times.
void transpose_take_rows(ReverseContext& c) {
  Builder& b = c.out();
  Span span = c.op().span;
  Expr ct = values_of(b, c.cotangent(), span), from = offsets_of(b, c.operand(0), span), x = values_of(b, c.operand(0), span);
  Elements e(offsets_of(b, c.result(), span), ct.type().dims[0]);
  Expr row = take({&b, c.operand(1), span}, e.rows);
  c.add(0, cut(put(ct, take(from, as(row, DType::I64)) + e.place(), x.type().dims[0]), from).id);
}

/// (ragged, index): one row.
void transpose_ragged_row(ReverseContext& c) {
  Builder& b = c.out();
  Span span = c.op().span;
  Expr x = values_of(b, c.operand(0), span), offsets = offsets_of(b, c.operand(0), span);
  Expr begin = take(offsets, as({&b, c.operand(1), span}, DType::I64));
  Attrs place{{"axis", int64_t{0}}, {"batch", int64_t{0}}};
  Expr all = x.emit(window_update_op, {x.number(0).id, c.cotangent(), begin.id}, std::move(place));
  c.add(0, cut(all, offsets).id);
}

/// (x, fill): what was cut off has no derivative, what was filled counts for the fill.
void transpose_pad(ReverseContext& c) {
  Builder& b = c.out();
  Span span = c.op().span;
  const Type type = b.type(c.operand(0));
  Expr ct{&b, c.cotangent(), span};
  const size_t axis = type.rank() > 1 ? 1 : 0;
  Expr kept;
  ValueId length = b.emit(dim_value_op, {}, {{"dim", ct.type().dims[axis]}}, span);
  auto inside = [&](Expr place) { return place < Expr{&b, repeated(b, length, place.type().dims, {}, span), span}; };
  if (type.is_ragged()) {
    Expr x = values_of(b, c.operand(0), span), offsets = offsets_of(b, c.operand(0), span);
    Elements e(offsets, x.type().dims[0]);
    Expr place = e.place();
    Expr all = ct.emit(gather_op, {ct.id, e.rows.id, place.id}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}});
    kept = choose(e.like(inside(place), all), all, all.number(0));
    if (c.wanted(0)) c.add(0, cut(kept, offsets).id);
  } else {
    Lines lines(b, ct.type(), static_cast<int64_t>(axis), span), narrow(b, type, static_cast<int64_t>(axis), span);
    Expr place = ct.emit(iota_op, {}, {{"dims", Dims{narrow.lines(), narrow.length()}}, {"axis", int64_t{1}}, {"dtype", DType::I64}});
    Expr all{&b, b.emit(gather_op, {lines.flat(ct.id), place.id}, {{"axes", Ints{1}}, {"batch", int64_t{1}}}, span), span};
    kept = choose(inside(place), all, all.number(0));
    if (c.wanted(0)) c.add(0, narrow.back(kept.id));
  }
  if (!c.wanted(1)) return;
  auto total = [&](Expr x) {
    Ints axes;
    for (int64_t k = 0; k < x.type().rank(); ++k) axes.push_back(k);
    return x.emit(sum_op, {x.id}, {{"axes", axes}});
  };
  c.add(1, (total(ct) - total(kept)).id);
}

}  // namespace tercet
