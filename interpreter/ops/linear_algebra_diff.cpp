#include "interpreter/ops/linear_algebra_diff.h"

#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

// Formulas over stacks of matrices, the last two axes.
int64_t batch_of(Expr x) { return x.type().rank() - 2; }

Expr product(Expr x, Expr y, bool transpose_x = false, bool transpose_y = false) {
  const int64_t n = batch_of(x);
  return x.emit(dot_op, {x.id, y.id}, {{"batch", n}, {"lhs", Ints{transpose_x ? n : n + 1}}, {"rhs", Ints{transpose_y ? n + 1 : n}}});
}

Expr transposed(Expr x) {
  const int64_t n = batch_of(x);
  Ints perm;
  for (int64_t k = 0; k < n; ++k) perm.push_back(k);
  perm.insert(perm.end(), {n + 1, n});
  return x.emit(transpose_op, {x.id}, {{"perm", perm}});
}

/// Row number + `offset` against column number.
Expr row_number(Expr x) { return x.emit(iota_op, {}, {{"dims", x.type().dims}, {"axis", batch_of(x)}, {"dtype", DType::I64}}); }
Expr column_number(Expr x) { return x.emit(iota_op, {}, {{"dims", x.type().dims}, {"axis", batch_of(x) + 1}, {"dtype", DType::I64}}); }
Expr below(Expr x) { return choose(row_number(x) > column_number(x), x, x.number(0)); }
Expr above(Expr x) { return choose(row_number(x) < column_number(x), x, x.number(0)); }
Expr on_diagonal(Expr x) { return choose(row_number(x) == column_number(x), x, x.number(0)); }

Expr identity(Expr like) { return choose(row_number(like) == column_number(like), like.number(1), like.number(0)); }

/// s[…, k] over rows (as columns of equal numbers) or over columns of a matrix like `like`.
Expr along_rows(Expr s, Expr like) {
  Ints axes;
  for (int64_t k = 0; k <= batch_of(like); ++k) axes.push_back(k);
  return {s.b, repeated(*s.b, s.id, like.type().dims, axes, s.span), s.span};
}
Expr along_columns(Expr s, Expr like) {
  Ints axes;
  for (int64_t k = 0; k < batch_of(like); ++k) axes.push_back(k);
  axes.push_back(batch_of(like) + 1);
  return {s.b, repeated(*s.b, s.id, like.type().dims, axes, s.span), s.span};
}
/// x[…] repeated over both axes of a matrix.
Expr over_matrix(Expr x, Expr like) {
  Ints axes;
  for (int64_t k = 0; k < batch_of(like); ++k) axes.push_back(k);
  return {x.b, repeated(*x.b, x.id, like.type().dims, axes, x.span), x.span};
}

Expr solve(Expr a, Expr b) { return a.emit(solve_op, {a.id, b.id}); }
Expr triangular(Expr a, Expr b, bool lower, bool transpose) {
  return a.emit(triangular_solve_op, {a.id, b.id}, {{"lower", lower}, {"transposed", transpose}});
}

/// `count` columns from `start`.
Expr columns(Expr x, const Dim& start, const Dim& count) {
  Dims starts(x.type().dims.size(), Dim(0)), sizes = x.type().dims;
  starts.back() = start;
  sizes.back() = count;
  return x.emit(slice_op, {x.id}, {{"starts", starts}, {"sizes", sizes}, {"steps", Ints(sizes.size(), 1)}});
}

struct Values {
  ReverseContext& c;
  Expr of(ValueId v) const { return {&c.out(), v, c.op().span}; }
  Expr operand(size_t i) const { return of(c.operand(i)); }
  Expr result(size_t i = 0) const { return of(c.result(i)); }
  Expr cotangent(size_t i = 0) const { return of(cotangent_or_zeros(c, i)); }
};

/// The cotangent of a matrix of which only the lower triangle is read, from that of the symmetric matrix it stands for.
Expr of_lower(Expr full) { return below(full + transposed(full)) + on_diagonal(full); }

/// 1 / (x_j - x_i), and 0 on the diagonal.
Expr reciprocal_differences(Expr x, Expr like) {
  Expr difference = along_columns(x, like) - along_rows(x, like);
  Expr diagonal = row_number(like) == column_number(like);
  return choose(diagonal, like.number(0), 1 / choose(diagonal, like.number(1), difference));
}

}  // namespace

void reverse_cholesky(ReverseContext& c) {
  Values v{c};
  Expr l = v.result(), p = product(l, v.cotangent(), true);
  Expr half = below(p) + 0.5 * on_diagonal(p);
  Expr right = transposed(triangular(l, transposed(half), true, true));   // half * inverse(l)
  Expr full = triangular(l, right, true, true);
  c.add(0, of_lower(0.5 * (full + transposed(full))).id);
}

void reverse_triangular_solve(ReverseContext& c) {
  Values v{c};
  const bool lower = c.op().attrs.get<bool>("lower"), transpose = c.op().attrs.get<bool>("transposed");
  Expr x = v.result(), b = triangular(v.operand(0), v.cotangent(), lower, !transpose);
  if (c.wanted(1)) c.add(1, b.id);
  if (!c.wanted(0)) return;
  Expr a = -(transpose ? product(x, b, false, true) : product(b, x, false, true));
  c.add(0, (on_diagonal(a) + (lower ? below(a) : above(a))).id);
}

void reverse_solve(ReverseContext& c) {
  Values v{c};
  Expr b = solve(transposed(v.operand(0)), v.cotangent());
  if (c.wanted(1)) c.add(1, b.id);
  if (c.wanted(0)) c.add(0, (-product(b, v.result(), false, true)).id);
}

void reverse_det(ReverseContext& c) {
  Values v{c};
  Expr a = v.operand(0), scale = v.cotangent() * v.result();
  c.add(0, (over_matrix(scale, a) * solve(transposed(a), identity(a))).id);
}

void reverse_slogdet(ReverseContext& c) {
  if (c.cotangent(1) == no_value) return;
  Values v{c};
  Expr a = v.operand(0);
  c.add(0, (over_matrix(v.cotangent(1), a) * solve(transposed(a), identity(a))).id);
}

/// With a = [x y] and r = [u w], where x and u are square: y and w are empty unless a is wide.
void reverse_qr(ReverseContext& c) {
  Values v{c};
  Expr a = v.operand(0), q = v.result(0), r = v.result(1), r_bar = v.cotangent(1);
  const Dim k = q.type().dims.back(), n = a.type().dims.back(), rest = n - k;
  Expr u = columns(r, 0, k), u_bar = columns(r_bar, 0, k), w_bar = columns(r_bar, k, rest), y = columns(a, k, rest);
  Expr q_bar = v.cotangent(0) + product(y, w_bar, false, true);
  Expr m = product(u, u_bar, false, true) - product(q_bar, q, true);
  Expr lower = below(m), symmetric = lower + transposed(lower) + on_diagonal(m);
  Expr x_bar = transposed(triangular(u, transposed(q_bar + product(q, symmetric)), false, false));
  Expr y_bar = product(q, w_bar);
  Expr joined = x_bar.emit(concat_op, {x_bar.id, y_bar.id}, {{"axis", batch_of(x_bar) + 1}});
  c.add(0, with_type(c.out(), joined.id, a.type(), c.op().span));
}

void reverse_svd(ReverseContext& c) {
  Values v{c};
  Expr u = v.result(0), s = v.result(1), vt = v.result(2);
  Expr square = product(u, u, true);   // k by k, for its type
  Expr f = reciprocal_differences(s * s, square);
  Expr sum = product(u * along_columns(v.cotangent(1), u), vt);
  if (c.cotangent(0) != no_value) {
    Expr u_bar = v.cotangent(0), inner = product(u, u_bar, true);
    Expr scaled = u_bar / along_columns(s, u_bar);
    Expr left = product(u, f * (inner - transposed(inner)) * along_columns(s, square)) + scaled - product(u, product(u, scaled, true));
    sum = sum + product(left, vt);
  }
  if (c.cotangent(2) != no_value) {
    Expr vt_bar = v.cotangent(2), inner = product(vt, vt_bar, false, true);
    Expr scaled = vt_bar / along_rows(s, vt_bar);
    Expr right = product(f * (inner - transposed(inner)) * along_rows(s, square), vt) + scaled - product(product(scaled, vt, false, true), vt);
    sum = sum + product(u, right);
  }
  c.add(0, sum.id);
}

void reverse_eigh(ReverseContext& c) {
  Values v{c};
  Expr w = v.result(0), vectors = v.result(1);
  Expr inner = on_diagonal(along_rows(v.cotangent(0), vectors));
  if (c.cotangent(1) != no_value) inner = inner + reciprocal_differences(w, vectors) * product(vectors, v.cotangent(1), true);
  Expr full = product(product(vectors, inner), vectors, false, true);
  c.add(0, of_lower(0.5 * (full + transposed(full))).id);
}

}  // namespace tercet
