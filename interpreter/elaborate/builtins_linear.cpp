// Library: products and sums of products, factorisations, linear systems.
#include <fmt/format.h>

#include "interpreter/elaborate/einsum.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using A = BuiltinArguments;

// ---- products ----
Sym matmul(Elaborator& e, A& a) { return e.matmul(e.array(*a[0], "dot"), e.array(*a[1], "dot")); }

Sym dot(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "dot"), y = e.array(*a[1], "dot");
  if (x.type.rank() == 0 || y.type.rank() == 0) return e.binary(ast::BinaryOp::Multiply, x, y);
  return e.matmul(x, y);
}

Sym einsum_of(Elaborator& e, A& a) {
  std::vector<Leaf> operands, joined;
  for (const Sym& s : a[1]->as<Sym::Tuple>()->elements) {
    operands.push_back(e.array(s, "einsum"));
    const Type& t = operands.back().type;
    if (t.dtype > DType::F64) e.error(Kind::Type, fmt::format("einsum takes numbers, and this is {}", describe(operands.back())));
    if (t.is_ragged()) e.error(Kind::Type, fmt::format("einsum of rows of different length: this is {}", describe(operands.back())), "map it over the rows: vmap(row => einsum(…, row))(x)");
    if (t.dtype == DType::Bool) operands.back() = e.cast(operands.back(), DType::I32);
  }
  if (operands.empty()) e.error(Kind::Type, "einsum takes arrays behind its subscripts", "as in einsum(\"ij,jk->ik\", x, y)");
  e.dtype_joined(operands, joined);
  return einsum(e, e.static_string(*a[0], "einsum"), std::move(joined));
}

// ---- factorisations and systems ----
/// What LAPACK computes in: f64 stays, everything else is f32.
DType working(DType t) { return t == DType::F64 ? t : DType::F32; }
/// What the caller gets: half floats as they came, integers as the default float.
DType result_of(DType t) { return is_float(t) ? t : DType::F32; }

/// An argument as a stack of matrices of the working dtype.
Leaf matrices(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("`{}` takes numbers, and this is {}", what, describe(x)));
  if (x.type.rank() < 2 || x.type.is_ragged()) e.error(Kind::Shape, fmt::format("`{}` takes matrices, and this is {}", what, describe(x)));
  return e.cast(x, working(x.type.dtype));
}

/// Matrices with one name for the number of rows and of columns.
Leaf square(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = matrices(e, value, what);
  std::vector<Dim> dims = x.type.dims;
  const size_t last = dims.size() - 1;
  e.require_equal(dims[last - 1], dims[last], fmt::format("`{}` takes square matrices: {{left}} rows and {{right}} columns", what));
  dims[last] = dims[last - 1];
  return e.broadcast_to(x, dims);
}

Leaf transposed(Elaborator& e, const Leaf& x) { return e.move_axis(x, x.type.rank() - 1, x.type.rank() - 2); }

/// (x + transpose(x)) / 2: what is symmetric stays as it is, and the derivative is symmetric too.
Leaf symmetric(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = square(e, value, what);
  Leaf half = e.binary(ast::BinaryOp::Multiply, x, float_leaf(0.5));   // first, so that large numbers do not overflow
  return e.binary(ast::BinaryOp::Add, half, transposed(e, half));
}

DType dtype_of(Elaborator& e, const Sym& value) { return result_of(e.array(value, "a").type.dtype); }

/// An operation on the matrices that `read` makes of the argument; several results are a tuple.
template <const OpDef* op, Leaf (*read)(Elaborator&, const Sym&, const char*)> Sym of_matrices(Elaborator& e, A& a) {
  Leaf x = read(e, *a[0], op->name);
  const DType dtype = dtype_of(e, *a[0]);
  Sym::Tuple out;
  for (const Leaf& y : e.emit_many(*op, {e.use(x)})) out.elements.push_back(e.cast(y, dtype));
  if (out.elements.size() == 1) return out.elements[0];
  return out;
}

/// The solution of a linear system: a vector on the right is one column.
Sym solved(Elaborator& e, const OpDef& op, Attrs attrs, const Sym& left, const Sym& right, const char* what) {
  Leaf a = square(e, left, what), b = e.array(right, what);
  if (b.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("`{}` takes numbers, and this is {}", what, describe(b)));
  if (b.type.rank() == 0 || b.type.is_ragged()) e.error(Kind::Shape, fmt::format("`{}` takes a vector or matrices on the right, and this is {}", what, describe(b)));
  bool weak = false;
  const DType dtype = result_of(promote(dtype_of(e, left), false, b.type.dtype, b.weak, &weak));
  const bool vector = b.type.rank() == 1;
  if (vector) b = e.reshape(e.frame().result(e.use(b)), {b.type.dims[0], Dim(1)});
  a = e.cast(a, working(dtype)), b = e.cast(b, working(dtype));
  const Dim n = a.type.dims.back();
  e.require_equal(n, b.type.dims[b.type.dims.size() - 2], fmt::format("`{}` needs equally many rows: {{left}} on the left and {{right}} on the right", what));
  std::array<Leaf, 2> outer{a, b};   // leading axes broadcast, as in NumPy
  for (Leaf& x : outer) x.type.dims.resize(x.type.dims.size() - 2);
  std::vector<Dim> a_dims = e.common_dims(outer), b_dims = a_dims;
  a_dims.insert(a_dims.end(), {n, n});
  b_dims.insert(b_dims.end(), {n, b.type.dims.back()});
  Leaf x = e.emit(op, {e.use(e.broadcast_to(a, a_dims)), e.use(e.broadcast_to(b, b_dims))}, std::move(attrs));
  std::vector<Dim> dims = x.type.dims;
  dims.pop_back();
  return e.cast(vector ? e.reshape(x, dims) : x, dtype);
}

Sym solve(Elaborator& e, A& a) { return solved(e, solve_op, {}, *a[0], *a[1], "solve"); }

Sym triangular_solve(Elaborator& e, A& a) {
  const bool lower = absent(a[2]) || e.static_bool(*a[2], "`lower`"), transpose = !absent(a[3]) && e.static_bool(*a[3], "`transposed`");
  return solved(e, triangular_solve_op, {{"lower", lower}, {"transposed", transpose}}, *a[0], *a[1], "triangular_solve");
}

constexpr BuiltinDef list[] = {
    {"matmul", "x, y", "Matrix product, as x @ y.", matmul},
    {"dot", "x, y", "Product over the last axis of x and the second-to-last of y.", dot},
    {"einsum", "subscripts, *operands", "Sums of products over axes named by letters, as \"ij,jk->ik\".", einsum_of},
    {"cholesky", "a", "The lower triangular l with l @ transpose(l) = a, a symmetric and positive definite.", of_matrices<&cholesky_op, symmetric>},
    {"solve", "a, b", "x with a @ x = b.", solve},
    {"triangular_solve", "a, b, lower=, transposed=", "x with a @ x = b, of a only one triangle taken.", triangular_solve},
    {"det", "a", "Determinant of a square matrix.", of_matrices<&det_op, square>},
    {"slogdet", "a", "Sign of the determinant, and the logarithm of its absolute value.", of_matrices<&slogdet_op, square>},
    {"qr", "a", "(q, r) with q @ r = a: orthonormal columns and an upper triangle.", of_matrices<&qr_op, matrices>},
    {"svd", "a", "(u, s, v) with (u * s) @ v = a: singular values descending.", of_matrices<&svd_op, matrices>},
    {"eigh", "a", "Eigenvalues, ascending, and eigenvectors (columns) of a symmetric matrix.", of_matrices<&eigh_op, symmetric>},
};

}  // namespace

const BuiltinList linear_builtins = list;

}  // namespace tercet
