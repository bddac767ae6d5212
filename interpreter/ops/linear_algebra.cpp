// Rows: factorisations and linear systems, on the matrices in the last two axes; axes before them are a batch. The work is
// LAPACK's (runtime/linear_algebra.h says what comes of matrices that have no answer). Derivatives: linear_algebra_diff.h.
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/linear_algebra_diff.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/linear_algebra.h"
#include "interpreter/runtime/parallel.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;

// ---- types ----
Dims lead_of(const Type& t) { return {t.dims.begin(), t.dims.end() - 2}; }
Type with_last(const Type& t, std::initializer_list<Dim> last) {
  Type out{t.dtype, lead_of(t)};
  out.dims.insert(out.dims.end(), last);
  return out;
}
const Dim& rows_of(const Type& t) { return t.dims[t.dims.size() - 2]; }
const Dim& columns_of(const Type& t) { return t.dims.back(); }

void check_matrices(const Type& t) { TERCET_CHECK(t.rank() >= 2 && (t.dtype == DType::F32 || t.dtype == DType::F64)); }
void check_square(const Type& t) {
  check_matrices(t);
  TERCET_CHECK(rows_of(t) == columns_of(t));
}

std::vector<Type> infer_cholesky(const InferInput& in) { return check_square(in.operands[0]), std::vector{in.operands[0]}; }
std::vector<Type> infer_solve(const InferInput& in) {
  const Type &a = in.operands[0], &b = in.operands[1];
  check_square(a);
  check_matrices(b);
  TERCET_CHECK(a.dtype == b.dtype && lead_of(a) == lead_of(b) && rows_of(b) == columns_of(a));
  return {b};
}
std::vector<Type> infer_det(const InferInput& in) { return check_square(in.operands[0]), std::vector{with_last(in.operands[0], {})}; }
std::vector<Type> infer_slogdet(const InferInput& in) {
  Type t = infer_det(in)[0];
  return {t, t};
}
std::vector<Type> infer_qr(const InferInput& in) {
  const Type& a = in.operands[0];
  check_matrices(a);
  const Dim r = min(rows_of(a), columns_of(a));
  return {with_last(a, {rows_of(a), r}), with_last(a, {r, columns_of(a)})};
}
std::vector<Type> infer_svd(const InferInput& in) {
  const Type& a = in.operands[0];
  check_matrices(a);
  const Dim r = min(rows_of(a), columns_of(a));
  return {with_last(a, {rows_of(a), r}), with_last(a, {r}), with_last(a, {r, columns_of(a)})};
}
std::vector<Type> infer_eigh(const InferInput& in) {
  check_square(in.operands[0]);
  return {with_last(in.operands[0], {rows_of(in.operands[0])}), in.operands[0]};
}

// ---- values ----
constexpr double worthwhile = 1e5;   // operations below which another thread, or a poll, does not pay

/// The results of an operation whose operands are stacks of matrices: work.operator()<T>(i) computes number i of the batch.
/// `cost`: about how many operations one matrix takes.
template <class F> std::vector<Array> each_matrix(EvalContext& context, const Function& f, const Op& op, const Array& a, double cost, F&& work) {
  std::vector<Array> out;
  for (uint32_t k = 0; k < op.outputs; ++k) out.push_back(Array::make(a.dtype, context.shape(f.type(op.first_output + k).dims)));
  int64_t count = 1;
  for (size_t k = 0; k + 2 < a.shape.size(); ++k) count *= a.shape[k];
  auto one = [&](int64_t i) {
    if (cost > worthwhile) poll();
    if (a.dtype == DType::F32) work.template operator()<float>(out, i);
    else work.template operator()<double>(out, i);
  };
  parallel_chunks(count, 1 + static_cast<int64_t>(worthwhile / (cost + 1)), [&one](int64_t, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) one(i);
  });
  return out;
}

/// Matrix number i of a stack.
template <class T> const T* matrix(const Array& a, int64_t i) {
  return a.data<T>() + i * a.shape[a.shape.size() - 2] * a.shape.back();
}
template <class T> T* matrix(Array& a, int64_t i) { return a.data<T>() + i * a.shape[a.shape.size() - 2] * a.shape.back(); }
template <class T> T* vector(Array& a, int64_t i) { return a.data<T>() + i * a.shape.back(); }

double cubic(int64_t x, int64_t y, int64_t z) { return static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z); }
int64_t rows_of(const Array& a) { return a.shape[a.shape.size() - 2]; }

std::vector<Array> eval_cholesky(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t n = rows_of(in[0]);
  return each_matrix(context, f, op, in[0], cubic(n, n, n) / 3, [&]<class T>(std::vector<Array>& out, int64_t i) {
    lapack::cholesky(n, matrix<T>(in[0], i), matrix<T>(out[0], i));
  });
}
std::vector<Array> eval_triangular(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t n = rows_of(in[0]), k = in[1].shape.back();
  const bool lower = op.attrs.get<bool>("lower"), transposed = op.attrs.get<bool>("transposed");
  return each_matrix(context, f, op, in[0], cubic(n, n, k), [&]<class T>(std::vector<Array>& out, int64_t i) {
    lapack::triangular_solve(n, k, matrix<T>(in[0], i), matrix<T>(in[1], i), lower, transposed, matrix<T>(out[0], i));
  });
}
std::vector<Array> eval_solve(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t n = rows_of(in[0]), k = in[1].shape.back();
  return each_matrix(context, f, op, in[0], cubic(n, n, n + k), [&]<class T>(std::vector<Array>& out, int64_t i) {
    lapack::solve(n, k, matrix<T>(in[0], i), matrix<T>(in[1], i), matrix<T>(out[0], i));
  });
}
std::vector<Array> eval_det(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t n = rows_of(in[0]);
  return each_matrix(context, f, op, in[0], cubic(n, n, n), [&]<class T>(std::vector<Array>& out, int64_t i) {
    out[0].data<T>()[i] = lapack::determinant(n, matrix<T>(in[0], i));
  });
}
std::vector<Array> eval_slogdet(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t n = rows_of(in[0]);
  return each_matrix(context, f, op, in[0], cubic(n, n, n), [&]<class T>(std::vector<Array>& out, int64_t i) {
    lapack::log_determinant(n, matrix<T>(in[0], i), out[0].data<T>() + i, out[1].data<T>() + i);
  });
}
std::vector<Array> eval_qr(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t m = rows_of(in[0]), n = in[0].shape.back();
  return each_matrix(context, f, op, in[0], cubic(m, n, std::min(m, n)) * 2, [&]<class T>(std::vector<Array>& out, int64_t i) {
    lapack::qr(m, n, matrix<T>(in[0], i), matrix<T>(out[0], i), matrix<T>(out[1], i));
  });
}
std::vector<Array> eval_svd(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t m = rows_of(in[0]), n = in[0].shape.back();
  return each_matrix(context, f, op, in[0], cubic(m, n, std::min(m, n)) * 8, [&]<class T>(std::vector<Array>& out, int64_t i) {
    lapack::svd(m, n, matrix<T>(in[0], i), matrix<T>(out[0], i), vector<T>(out[1], i), matrix<T>(out[2], i));
  });
}
std::vector<Array> eval_eigh(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t n = rows_of(in[0]);
  return each_matrix(context, f, op, in[0], cubic(n, n, n) * 8, [&]<class T>(std::vector<Array>& out, int64_t i) {
    lapack::eigh(n, matrix<T>(in[0], i), vector<T>(out[0], i), matrix<T>(out[1], i));
  });
}

/// Lanes are one more axis of the batch in front.
std::vector<BatchedValue> batch_matrices(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, all_mapped(c, in, op.span), op.attrs);
}

// ---- samples ----
/// Matrices n * identity + small numbers: symmetric on request, far from singular, with distinct eigenvalues.
Array sample_matrices(DType t, const Shape& shape, bool symmetric) {
  Array a = counting(t, shape);
  const int64_t m = shape[shape.size() - 2], n = shape.back();
  for (int64_t i = 0; i < a.count(); ++i) {
    const int64_t row = i / n % m, column = i % n;
    const int64_t r = symmetric ? std::min(row, column) : row, c = symmetric ? std::max(row, column) : column;
    const double value = static_cast<double>((r * 5 + c * 3 + i / (m * n)) % 7) / 8 + (row == column ? 4.0 + static_cast<double>(row) : 0.0);
    if (t == DType::F32) a.data<float>()[i] = static_cast<float>(value);
    else a.data<double>()[i] = value;
  }
  return a;
}

std::vector<Sample> samples(bool symmetric, bool wide) {
  std::vector<Sample> out;
  for (DType t : {DType::F32, DType::F64}) {
    for (const Shape& s : {Shape{3, 3}, Shape{2, 4, 4}, Shape{1, 1}, Shape{0, 0}}) out.push_back({{sample_matrices(t, s, symmetric)}, {}});
    if (wide)
      for (const Shape& s : {Shape{5, 3}, Shape{2, 3, 5}}) out.push_back({{sample_matrices(t, s, false)}, {}});
  }
  return out;
}
std::vector<Sample> symmetric_samples() { return samples(true, false); }
std::vector<Sample> square_samples() { return samples(false, false); }
std::vector<Sample> matrix_samples() { return samples(false, true); }
std::vector<Sample> solve_samples() {
  std::vector<Sample> out;
  for (DType t : {DType::F32, DType::F64}) {
    out.push_back({{sample_matrices(t, {3, 3}, false), sample_matrices(t, {3, 2}, false)}, {}});
    out.push_back({{sample_matrices(t, {2, 4, 4}, false), sample_matrices(t, {2, 4, 1}, false)}, {}});
    out.push_back({{sample_matrices(t, {0, 0}, false), sample_matrices(t, {0, 3}, false)}, {}});
  }
  return out;
}
std::vector<Sample> triangular_samples() {
  std::vector<Sample> out;
  for (const Sample& s : solve_samples())
    for (bool lower : {false, true})
      for (bool transposed : {false, true}) out.push_back({s.operands, {{"lower", lower}, {"transposed", transposed}}});
  return out;
}

}  // namespace

const OpDef cholesky_op = {
    .name = "cholesky", .doc = "The lower factor of positive definite matrices.", .surface = Internal{}, .effect = Effect::Pure,
    .ragged = RaggedRule::Dense, .infer = infer_cholesky, .eval = eval_cholesky, .batch = BatchCustom{batch_matrices},
    .diff = ByRule{nullptr, reverse_cholesky}, .code = CodeCall{}, .samples = symmetric_samples};
const OpDef triangular_solve_op = {
    .name = "triangular_solve", .doc = "Solutions of triangular systems.", .surface = Internal{}, .effect = Effect::Pure,
    .ragged = RaggedRule::Dense, .infer = infer_solve, .eval = eval_triangular, .batch = BatchCustom{batch_matrices},
    .diff = ByRule{nullptr, reverse_triangular_solve}, .code = CodeCall{}, .samples = triangular_samples};
const OpDef solve_op = {
    .name = "solve", .doc = "Solutions of linear systems.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_solve, .eval = eval_solve, .batch = BatchCustom{batch_matrices}, .diff = ByRule{nullptr, reverse_solve},
    .code = CodeCall{}, .samples = solve_samples};
const OpDef det_op = {
    .name = "det", .doc = "Determinants.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_det, .eval = eval_det, .batch = BatchCustom{batch_matrices}, .diff = ByRule{nullptr, reverse_det},
    .code = CodeCall{}, .samples = square_samples};
const OpDef slogdet_op = {
    .name = "slogdet", .doc = "Signs of determinants, and logarithms of their absolute values.", .surface = Internal{}, .effect = Effect::Pure,
    .ragged = RaggedRule::Dense, .infer = infer_slogdet, .eval = eval_slogdet, .batch = BatchCustom{batch_matrices},
    .diff = ByRule{nullptr, reverse_slogdet}, .code = CodeCall{}, .samples = square_samples};
const OpDef qr_op = {
    .name = "qr", .doc = "Orthonormal columns and an upper triangle whose product the matrix is.", .surface = Internal{}, .effect = Effect::Pure,
    .ragged = RaggedRule::Dense, .infer = infer_qr, .eval = eval_qr, .batch = BatchCustom{batch_matrices},
    .diff = ByRule{nullptr, reverse_qr}, .code = CodeCall{}, .samples = matrix_samples};
const OpDef svd_op = {
    .name = "svd", .doc = "Singular vectors and values.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_svd, .eval = eval_svd, .batch = BatchCustom{batch_matrices}, .diff = ByRule{nullptr, reverse_svd},
    .code = CodeCall{}, .samples = matrix_samples};
const OpDef eigh_op = {
    .name = "eigh", .doc = "Eigenvalues and eigenvectors of symmetric matrices.", .surface = Internal{}, .effect = Effect::Pure,
    .ragged = RaggedRule::Dense, .infer = infer_eigh, .eval = eval_eigh, .batch = BatchCustom{batch_matrices},
    .diff = ByRule{nullptr, reverse_eigh}, .code = CodeCall{}, .samples = symmetric_samples};

namespace {
constexpr const OpDef* rows[] = {&cholesky_op, &triangular_solve_op, &solve_op, &det_op, &slogdet_op, &qr_op, &svd_op, &eigh_op};
}
const Family linear_algebra_rows = rows;

}  // namespace tercet
