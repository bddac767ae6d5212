#include "interpreter/ops/row_ops_diff.h"

#include <algorithm>

#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/row_ops.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

/// An operation on rows: its elements and offsets, and what lies where.
struct RowsOf {
  RowsOf(ReverseContext& context, Expr values, ValueId at)
      : c(context), b(c.out()), span(c.op().span), x(values), offsets(at), total(x.type().dims[0]), rows(b.type(offsets).dims[0] - Dim(1)) {}
  RowsOf(ReverseContext& context, size_t values, ValueId at)
      : RowsOf(context, Expr{&context.out(), context.operand(values), context.op().span}, at) {}
  explicit RowsOf(ReverseContext& context) : RowsOf(context, 0, context.op().inputs.back()) {}

  Expr expr(ValueId v) const { return {&b, v, span}; }
  ValueId ids() {
    if (ids_ == no_value) ids_ = b.emit(row_ids_op, {offsets}, {{"total", total}}, span);
    return ids_;
  }
  /// from[index, …] along axis 0.
  Expr take(ValueId from, ValueId index) const { return expr(b.emit(gather_op, {from, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, span)); }
  /// i64[rows]: where each row begins or, with `by` 1, ends.
  ValueId bounds(int64_t by) const {
    return b.emit(slice_op, {offsets}, {{"starts", Dims{Dim(by)}}, {"sizes", Dims{rows}}, {"steps", Ints{1}}}, span);
  }
  Expr begins() { return take(bounds(0), ids()); }   // of each element's row
  Expr ends() { return take(bounds(1), ids()); }
  Expr places() const { return expr(b.emit(iota_op, {}, {{"dims", Dims{total}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, span)); }
  /// One entry a row, repeated along the axes that a reduction of x took away.
  Expr spread(ValueId of_rows) {
    Expr each = take(of_rows, ids());
    const Dims dims = x.type().dims;
    Ints axes{0};
    for (int64_t k = x.type().rank() - each.type().rank() + 1; k < x.type().rank(); ++k) axes.push_back(k);
    return expr(repeated(b, each.id, dims, axes, span));
  }
  /// Elements of each row in reverse order.
  Expr flipped(Expr v) { return take(v.id, (begins() + ends() - places() - 1).id); }
  /// `values` added into zeros like x at index along axis 0.
  Expr scattered(ValueId values, ValueId index) {
    return expr(b.emit(scatter_op, {zeros_of(b, x.type(), span), values, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, span));
  }
  /// For the elements of x as [total, n]: that place, and back.
  Expr as_matrix(Expr v) const {
    Dim n(1);
    for (size_t k = 1; k < v.type().dims.size(); ++k) n = n * v.type().dims[k];
    return v.emit(reshape_op, {v.id}, {{"dims", Dims{v.type().dims[0], n}}});
  }

  ReverseContext& c;
  Builder& b;
  Span span;
  Expr x;
  ValueId offsets;
  Dim total, rows;

 private:
  ValueId ids_ = no_value;
};

/// The products of the elements before each one in its row: the first has 1.
Expr products_before(RowsOf& r, Expr x) {
  Expr first = r.expr(repeated(r.b, (r.places() == r.begins()).id, x.type().dims, {0}, r.span));
  Expr shifted = choose(first, x.number(1), r.take(x.id, (r.places() - 1).id));
  return r.expr(r.b.emit(*rows_version(cumprod_op), {shifted.id, r.offsets}, {}, r.span));
}

/// Rows of rows of different length have no derivative rules here.
void require_one_level(ReverseContext& c) {
  const Dims& dims = c.out().type(c.operand(0)).dims;
  auto ragged = [](const Dim& d) { return d.is_ragged(); };
  if (dims.size() < 2 || !ragged(dims[1]) || std::count_if(dims.begin(), dims.end(), ragged) != 1)
    fail(Kind::Unsupported, c.op().span, "the gradient of rows of rows of different length");
}

/// The elements of a ragged operand and its offsets; what is added to places of the elements, as the operand's cotangent.
struct RaggedOperand {
  explicit RaggedOperand(ReverseContext& context) : c(context), b(c.out()), span(c.op().span) {
    require_one_level(c);
    values = b.emit(*find_op("flatten"), {c.operand(0)}, {{"defines", Dim::symbol("total")}}, span);
    offsets = b.emit(row_offsets_op, {c.operand(0)}, {}, span);
  }
  Expr expr(ValueId v) const { return {&b, v, span}; }
  Expr take(ValueId from, ValueId index) const { return expr(b.emit(gather_op, {from, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, span)); }
  void add_at(ValueId places, ValueId cotangents) {
    ValueId sum = b.emit(scatter_op, {zeros_of(b, b.type(values), span), cotangents, places}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, span);
    c.add(0, b.emit(rows_at_op, {sum, offsets}, {}, span));
  }
  ReverseContext& c;
  Builder& b;
  Span span;
  ValueId values, offsets;
};

}  // namespace

void transpose_sum_rows(ReverseContext& c) {
  RowsOf r(c);
  c.add(0, r.spread(c.cotangent()).id);
}

/// The elements that equal the result share its cotangent; NaN equals NaN.
void reverse_extreme_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr result = r.spread(c.result());
  Expr wins = (r.x == result) | ((r.x != r.x) & (result != result));
  const OpDef& sum = *rows_version(sum_op);
  ValueId count = r.b.emit(sum, {as(wins, r.x.type().dtype).id, r.offsets}, c.op().attrs, r.span);
  Expr share = r.spread((r.expr(c.cotangent()) / r.expr(count)).id);
  c.add(0, choose(wins, share, share.number(0)).id);
}

/// The product of all others in the row: those before times those behind.
void reverse_prod_rows(ReverseContext& c) {
  RowsOf whole(c);
  Builder& b = c.out();
  const Dims dims = whole.x.type().dims;
  const auto axes = static_cast<size_t>(c.op().attrs.get<int64_t>("axes"));
  Dim times(1);   // elements of the other reduced axes: with them the rows are that much longer
  for (size_t k = 1; k < axes; ++k) times = times * dims[k];
  Dims joined(dims.begin() + static_cast<std::ptrdiff_t>(axes), dims.end());
  joined.insert(joined.begin(), dims[0] * times);
  ValueId factor = repeated(b, b.emit(dim_value_op, {}, {{"dim", times}}, whole.span), b.type(whole.offsets).dims, {}, whole.span);
  RowsOf r(c, whole.x.emit(reshape_op, {whole.x.id}, {{"dims", joined}}), b.emit(mul_op, {whole.offsets, factor}, {}, whole.span));
  Expr others = products_before(r, r.x) * r.flipped(products_before(r, r.flipped(r.x)));
  Expr ct = others.emit(*find_op("strong_mul"), {r.spread(c.cotangent()).id, others.id});
  c.add(0, ct.emit(reshape_op, {ct.id}, {{"dims", dims}}).id);
}

void transpose_cumsum_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr flipped = r.flipped(r.expr(c.cotangent()));
  c.add(0, r.flipped(r.expr(r.b.emit(*rows_version(cumsum_op), {flipped.id, r.offsets}, {}, r.span))).id);
}

/// s[i] = ct[i] + x[i + 1] * s[i + 1] within each row, from the end: what the products from i on contribute.
void reverse_cumprod_rows(ReverseContext& c) {
  RowsOf whole(c);
  RowsOf r(c, whole.as_matrix(whole.x), whole.offsets);
  const Dims dims = r.x.type().dims;
  Expr ct = r.as_matrix(r.expr(c.cotangent())), next = r.take(r.x.id, (r.places() + 1).id);
  Expr last = r.expr(repeated(r.b, (r.places() + 1 == r.ends()).id, dims, {0}, r.span));
  Builder body("contributions");
  const Type line{r.x.type().dtype, {dims[1]}};
  body.param({DType::I64, {}});
  Expr s{&body, body.param(line), r.span}, own{&body, body.param(line), r.span}, x{&body, body.param(line), r.span};
  Expr ends{&body, body.param({DType::Bool, {dims[1]}}), r.span};
  Expr sum = own + choose(ends, s.number(0), x * s);
  FunctionPtr step = body.finish({sum.id, sum.id});
  std::vector<ValueId> inputs{zeros_of(r.b, line, r.span), ct.id, next.id, last.id};
  Attrs attrs{{"length", r.total}, {"carried", int64_t{1}}, {"consumed", int64_t{3}}, {"reverse", true}};
  Expr sums = r.expr(r.b.emit_many(scan_op, inputs, std::move(attrs), r.span, {step})[1]);
  c.add(0, r.b.emit(reshape_op, {(products_before(r, r.x) * sums).id}, {{"dims", whole.x.type().dims}}, r.span));
}

/// Each place's cotangent goes to the element that set its value: the first one, among equals.
void reverse_running_extreme_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr y = r.as_matrix(r.expr(c.result())), ct = r.as_matrix(r.expr(c.cotangent()));
  const Dims dims = y.type().dims;
  auto over = [&](Expr v) { return r.expr(repeated(r.b, v.id, dims, {0}, r.span)); };
  Expr first = over(r.places() == r.begins());
  Expr start = choose(first | (y != r.take(y.id, (r.places() - 1).id)), over(r.places()), over(r.begins()));
  ValueId from = r.b.emit(*rows_version(cummax_op), {start.id, r.offsets}, {}, r.span);
  ValueId column = r.b.emit(iota_op, {}, {{"dims", dims}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, r.span);
  ValueId sums = r.b.emit(scatter_op, {zeros_of(r.b, y.type(), r.span), ct.id, from, column}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, r.span);
  c.add(0, r.b.emit(reshape_op, {sums}, {{"dims", r.x.type().dims}}, r.span));
}

void reverse_sort_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr order = r.as_matrix(as(r.expr(r.b.emit(*rows_version(argsort_op), {r.x.id, r.offsets}, c.op().attrs, r.span)), DType::I64));
  Expr ct = r.as_matrix(r.expr(c.cotangent()));
  Expr from = order + r.expr(repeated(r.b, r.begins().id, order.type().dims, {0}, r.span));
  ValueId column = r.b.emit(iota_op, {}, {{"dims", order.type().dims}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, r.span);
  ValueId sums = r.b.emit(scatter_op, {zeros_of(r.b, ct.type(), r.span), ct.id, from.id, column}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, r.span);
  c.add(0, r.b.emit(reshape_op, {sums}, {{"dims", r.x.type().dims}}, r.span));
}

void reverse_top_k_rows(ReverseContext& c) {
  if (c.cotangent(0) == no_value) return;
  RowsOf r(c);
  Expr at = as(r.expr(c.result(1)), DType::I64);
  at = at + r.expr(repeated(r.b, r.bounds(0), at.type().dims, {0}, r.span));
  c.add(0, r.scattered(c.cotangent(0), at.id).id);
}

void transpose_gather_sum_rows(ReverseContext& c) {
  if (!c.wanted(0)) return;
  Builder& b = c.out();
  const ValueId ids = c.operand(1), offsets = c.operand(2);
  ValueId row = b.emit(row_ids_op, {offsets}, {{"total", b.type(ids).dims[0]}}, c.op().span);
  ValueId each = b.emit(gather_op, {c.cotangent(), row}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, c.op().span);
  ValueId sum = take_or_zeros(c, 0);
  c.add(0, b.emit(scatter_op, {sum, each, ids}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, c.op().span));
}

void transpose_concat_rows(ReverseContext& c) {
  const ValueId whole = c.op().inputs.back();
  Builder& b = c.out();
  const Dim rows = b.type(whole).dims[0] - Dim(1);
  Expr at{&b, b.emit(slice_op, {whole}, {{"starts", Dims{Dim(0)}}, {"sizes", Dims{rows}}, {"steps", Ints{1}}}, c.op().span), c.op().span};
  for (size_t p = 0; p + 1 < c.op().inputs.size(); p += 2) {
    RowsOf part(c, p, c.operand(p + 1));
    if (c.wanted(p)) {
      Expr place = part.places() - part.begins() + part.take(at.id, part.ids());
      c.add(p, part.take(c.cotangent(), place.id).id);
    }
    at = at + part.expr(part.bounds(1)) - part.expr(part.bounds(0));
  }
}

/// a [total, m…] and b [total, n…] gave [rows, m…, n…].
void transpose_dot_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr ct = r.take(c.cotangent(), r.ids());
  const int64_t m = r.b.type(c.operand(0)).rank() - 1, n = r.b.type(c.operand(1)).rank() - 1;
  for (size_t side : {size_t{0}, size_t{1}}) {
    if (!c.wanted(side)) continue;
    Ints other{0}, summed;   // the axes of ct that the other side's are, and those that the sum takes away
    for (int64_t k = 0; k < (side ? m : n); ++k) other.push_back(1 + (side ? k : m + k)), summed.push_back(other.back());
    Expr product = ct * r.expr(repeated(r.b, c.operand(1 - side), ct.type().dims, other, r.span));
    c.add(side, summed.empty() ? product.id : r.b.emit(sum_op, {product.id}, {{"axes", summed}}, r.span));
  }
}

void transpose_rows_at(ReverseContext& c) {
  c.add(0, c.out().emit(*find_op("flatten"), {c.cotangent()}, {{"defines", Dim::symbol("total")}}, c.op().span));
}

void transpose_flatten(ReverseContext& c) {
  Builder& b = c.out();
  require_one_level(c);
  c.add(0, b.emit(rows_at_op, {c.cotangent(), b.emit(row_offsets_op, {c.operand(0)}, {}, c.op().span)}, {}, c.op().span));
}

void transpose_take_rows(ReverseContext& c) {
  if (!c.wanted(0)) return;
  RaggedOperand r(c);
  ValueId flat = r.b.emit(*find_op("flatten"), {c.cotangent()}, {{"defines", Dim::symbol("total")}}, r.span);
  RowsOf taken(c, r.expr(flat), r.b.emit(row_offsets_op, {c.cotangent()}, {}, r.span));
  Expr row = taken.take(c.operand(1), taken.ids());   // the row of the operand that each element came from
  r.add_at((r.take(r.offsets, row.id) + taken.places() - taken.begins()).id, flat);
}

void transpose_ragged_row(ReverseContext& c) {
  if (!c.wanted(0)) return;
  RaggedOperand r(c);
  const Dims dims = r.b.type(c.cotangent()).dims;
  Expr steps = r.expr(r.b.emit(iota_op, {}, {{"dims", Dims{dims[0]}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, r.span));
  Expr begin = r.take(r.offsets, as(r.expr(c.operand(1)), DType::I64).id);
  r.add_at((steps + r.expr(repeated(r.b, begin.id, steps.type().dims, {}, r.span))).id, c.cotangent());
}

/// Elements that were cut off get nothing; the fill gets what stands behind the rows' ends.
void transpose_pad(ReverseContext& c) {
  RaggedOperand operand(c);
  RowsOf r(c, operand.expr(operand.values), operand.offsets);
  const Dims dims = r.b.type(c.cotangent()).dims;
  ValueId size = r.b.emit(dim_value_op, {}, {{"dim", dims[1]}}, r.span);
  Expr place = r.places() - r.begins(), length = r.expr(repeated(r.b, size, place.type().dims, {}, r.span));
  Expr kept = place < length, at = choose(kept, place, place.number(0));
  Expr ct = r.expr(r.b.emit(gather_op, {c.cotangent(), r.ids(), at.id}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}}, r.span));
  Expr own = choose(r.expr(repeated(r.b, kept.id, ct.type().dims, {0}, r.span)), ct, ct.number(0));
  if (c.wanted(0)) c.add(0, r.b.emit(rows_at_op, {own.id, r.offsets}, {}, r.span));
  if (!c.wanted(1)) return;
  auto total = [&](ValueId v) {
    Ints axes;
    for (int64_t k = 0; k < r.b.type(v).rank(); ++k) axes.push_back(k);
    return r.expr(r.b.emit(sum_op, {v}, {{"axes", axes}}, r.span));
  };
  Expr behind = r.expr(r.b.emit(iota_op, {}, {{"dims", Dims{dims[0], dims[1]}}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, r.span));
  Expr ends = r.expr(r.bounds(1)) - r.expr(r.bounds(0));
  Expr filled_up = behind >= r.expr(repeated(r.b, ends.id, behind.type().dims, {0}, r.span));
  Expr all = r.expr(c.cotangent());
  c.add(1, total(choose(r.expr(repeated(r.b, filled_up.id, dims, {0, 1}, r.span)), all, all.number(0)).id).id);
}

}  // namespace tercet
