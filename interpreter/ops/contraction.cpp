// Row: contraction of two arrays over any axes (`@`, dot, einsum).
//
// Order of the sum (language.md section 10): each element is one chain acc = fma(a, b, acc) with k ascending from +0. Only
// the product of two vectors, which have no free axes, enters the reduction order: partial i mod 16 is a chain of fma, partials
// and blocks combine as in runtime/reduce.h. Lanes that multiply vectors (attr "vectors") keep that order.
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/ops/view_rules.h"
#include "interpreter/runtime/contract.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;

/// Axes that are neither batch nor contracted, in order.
Ints free_axes(int64_t rank, int64_t batch, const Ints& contracted) {
  Ints out;
  for (int64_t k = batch; k < rank; ++k)
    if (!contains(contracted, k)) out.push_back(k);
  return out;
}

std::vector<Type> infer_dot(const InferInput& in) {
  const Type &a = in.operands[0], &b = in.operands[1];
  int64_t batch = in.attrs.get<int64_t>("batch");
  const Ints &lhs = in.attrs.get<Ints>("lhs"), &rhs = in.attrs.get<Ints>("rhs");
  TERCET_CHECK(a.dtype == b.dtype && (is_int(a.dtype) || is_float(a.dtype)) && lhs.size() == rhs.size());
  TERCET_CHECK(batch >= 0 && batch <= std::min(a.rank(), b.rank()));
  for (size_t i = 0; i < lhs.size(); ++i) TERCET_CHECK(size_at(a.dims, lhs[i]) == size_at(b.dims, rhs[i]));
  Type t{a.dtype, {a.dims.begin(), a.dims.begin() + batch}};
  for (int64_t k : free_axes(a.rank(), batch, lhs)) t.dims.push_back(a.dims[static_cast<size_t>(k)]);
  for (int64_t k : free_axes(b.rank(), batch, rhs)) t.dims.push_back(b.dims[static_cast<size_t>(k)]);
  return {t};
}

int64_t product(const Array& a, const Ints& axes) {
  int64_t n = 1;
  for (int64_t k : axes) n *= a.shape[static_cast<size_t>(k)];
  return n;
}

Ints joined(int64_t batch, const Ints& x, const Ints& y) {
  Ints out;
  for (int64_t k = 0; k < batch; ++k) out.push_back(k);
  out.insert(out.end(), x.begin(), x.end());
  out.insert(out.end(), y.begin(), y.end());
  return out;
}

bool is_identity(const Ints& order) {
  for (size_t k = 0; k < order.size(); ++k)
    if (order[k] != static_cast<int64_t>(k)) return false;
  return true;
}

/// Are elements products of two vectors, by themselves or in a lane?
bool is_of_vectors(const Op& op, int64_t left_rank, int64_t right_rank) {
  const int64_t fixed = op.attrs.get<int64_t>("batch") + static_cast<int64_t>(op.attrs.get<Ints>("lhs").size());
  return op.attrs.get_or<bool>("vectors", false) || (left_rank == fixed && right_rank == fixed);
}

std::vector<Array> eval_dot(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  int64_t batch = op.attrs.get<int64_t>("batch");
  const Ints &lhs = op.attrs.get<Ints>("lhs"), &rhs = op.attrs.get<Ints>("rhs");
  Ints left = free_axes(in[0].rank(), batch, lhs), right = free_axes(in[1].rank(), batch, rhs), shared;
  for (int64_t k = 0; k < batch; ++k) shared.push_back(k);
  ContractSizes sizes{product(in[0], shared), product(in[0], left), product(in[0], lhs), product(in[1], right)};
  const bool vectors = is_of_vectors(op, in[0].rank(), in[1].rank());
  // Products of vectors want both operands with the contracted axis innermost; those of matrices take either order as it lies.
  sizes.a_transposed = !vectors && is_identity(joined(batch, lhs, left)) && !is_identity(joined(batch, left, lhs));
  sizes.b_transposed = !vectors && is_identity(joined(batch, right, rhs)) && !is_identity(joined(batch, rhs, right));
  Array a = sizes.a_transposed ? in[0] : permuted(in[0], joined(batch, left, lhs), context);
  Array b = sizes.b_transposed ? in[1] : permuted(in[1], vectors ? joined(batch, right, rhs) : joined(batch, rhs, right), context);
  Array out = Array::make(in[0].dtype, context.shape(f.type(op.output()).dims));
  contract(out.dtype, sizes, vectors, a.raw(), b.raw(), out.raw());
  return {std::move(out)};
}

std::vector<BatchedValue> batch_dot(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  int64_t batch = op.attrs.get<int64_t>("batch");
  const Ints &lhs = op.attrs.get<Ints>("lhs"), &rhs = op.attrs.get<Ints>("rhs");
  Builder& b = c.out();
  auto attrs = [&](int64_t batched, Ints left, Ints right) {
    Attrs out{{"batch", batched}, {"lhs", std::move(left)}, {"rhs", std::move(right)}};
    if (is_of_vectors(op, f.type(op.inputs[0]).rank(), f.type(op.inputs[1]).rank())) out.set("vectors", true);
    return out;
  };
  if (batch == 0 && in[0].mapped && !in[1].mapped)   // lanes are one more free axis of the left side, in front
    return emit_mapped(c, op, {in[0].value, in[1].value}, attrs(0, shifted(lhs), rhs));
  if (batch == 0 && in[1].mapped && !in[0].mapped) {  // lanes end up after the left side's free axes
    ValueId out = b.emit(dot_op, {in[0].value, in[1].value}, attrs(0, lhs, shifted(rhs)), op.span);
    int64_t left = b.type(in[0].value).rank() - static_cast<int64_t>(lhs.size());
    if (left == 0) return {{out, true}};
    Ints perm{left};
    for (int64_t k = 0; k < b.type(out).rank(); ++k)
      if (k != left) perm.push_back(k);
    return {{b.emit(transpose_op, {out}, {{"perm", perm}}, op.span), true}};
  }
  return emit_mapped(c, op, all_mapped(c, in, op.span), attrs(batch + 1, shifted(lhs), shifted(rhs)));
}

/// One operand's cotangent: that of the result contracted with the other operand over the other's free axes. What comes
/// out has the batch axes, this operand's free axes and the contracted ones (in the other's order); `perm` sorts them.
void add_dot_cotangent(ReverseContext& c, bool left) {
  Builder& b = c.out();
  int64_t batch = c.op().attrs.get<int64_t>("batch");
  const Ints &mine = c.op().attrs.get<Ints>(left ? "lhs" : "rhs"), &others = c.op().attrs.get<Ints>(left ? "rhs" : "lhs");
  ValueId x = c.operand(left ? 0 : 1), other = c.operand(left ? 1 : 0), ct = c.cotangent();
  Ints my_free = free_axes(b.type(x).rank(), batch, mine), other_free = free_axes(b.type(other).rank(), batch, others);
  auto mine_count = static_cast<int64_t>(my_free.size()), other_count = static_cast<int64_t>(other_free.size());
  Ints of_result;   // the other operand's free axes within the result
  for (int64_t k = 0; k < other_count; ++k) of_result.push_back(batch + (left ? mine_count : 0) + k);
  ValueId out = left ? b.emit(dot_op, {ct, other}, {{"batch", batch}, {"lhs", of_result}, {"rhs", other_free}}, c.op().span)
                     : b.emit(dot_op, {other, ct}, {{"batch", batch}, {"lhs", other_free}, {"rhs", of_result}}, c.op().span);
  int64_t free_at = left ? batch : batch + static_cast<int64_t>(mine.size()), contracted_at = left ? batch + mine_count : batch;
  Ints sorted = others, perm;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t k = 0; k < b.type(x).rank(); ++k) {
    auto contracted = std::find(mine.begin(), mine.end(), k);
    if (k < batch) perm.push_back(k);
    else if (contracted == mine.end()) perm.push_back(free_at + (std::find(my_free.begin(), my_free.end(), k) - my_free.begin()));
    else perm.push_back(contracted_at + (std::find(sorted.begin(), sorted.end(), others[static_cast<size_t>(contracted - mine.begin())]) - sorted.begin()));
  }
  c.add(left ? 0 : 1, reordered(b, out, perm, c.op().span));
}
void transpose_dot(ReverseContext& c) {
  for (bool left : {true, false})
    if (c.wanted(left ? 0 : 1)) add_dot_cotangent(c, left);
}

/// Numbers whose products round, so that another order of a sum shows.
Array rounding(DType t, const Shape& shape) {
  Array a = counting(t, shape);
  if (t == DType::F32) for (int64_t i = 0; i < a.count(); ++i) a.data<float>()[i] /= 7;
  if (t == DType::F64) for (int64_t i = 0; i < a.count(); ++i) a.data<double>()[i] /= 7;
  return a;
}

std::vector<Sample> dot_samples() {
  std::vector<Sample> out;
  for (DType t : {DType::F32, DType::F64, DType::I32, DType::I8, DType::F16, DType::BF16}) {
    auto add = [&](Shape a, Shape b, int64_t batch, Ints lhs, Ints rhs) {
      out.push_back({{rounding(t, a), rounding(t, b)}, {{"batch", batch}, {"lhs", std::move(lhs)}, {"rhs", std::move(rhs)}}});
    };
    add({9, 33}, {33, 17}, 0, {1}, {0});
    add({33}, {33}, 0, {0}, {0});
    add({5, 33}, {33}, 0, {1}, {0});
    add({33}, {33, 5}, 0, {0}, {0});
    add({3, 4, 5}, {3, 5, 6}, 1, {2}, {1});
    add({4, 5, 6}, {6, 5, 2}, 0, {1, 2}, {1, 0});
    add({5, 33}, {17, 33}, 0, {1}, {1});
    add({33, 5}, {33, 17}, 0, {0}, {0});
    add({33}, {5, 33}, 0, {0}, {1});
    add({33, 5}, {33}, 0, {0}, {0});
    add({2, 33, 5}, {2, 17, 33}, 1, {1}, {2});
    add({3, 0}, {0, 2}, 0, {1}, {0});
    add({3}, {2}, 0, {}, {});
  }
  return out;
}

}  // namespace

const OpDef dot_op = {
    .name = "dot", .doc = "Sum of products over shared axes.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_dot, .eval = eval_dot, .batch = BatchCustom{batch_dot, flat_dot}, .diff = Multilinear{transpose_dot},
    .code = CodeContract{}, .samples = dot_samples};

namespace {
constexpr const OpDef* rows[] = {&dot_op};
}
const Family contraction_rows = rows;

}  // namespace tercet
