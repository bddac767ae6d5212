// Rows: comparison, selection, and questions about one number.
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/scalar_math.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

struct Eq { template <class N> static auto apply(N a, N b) { return eq(a, b); } };
struct Ne { template <class N> static auto apply(N a, N b) { return ne(a, b); } };
struct Lt { template <class N> static auto apply(N a, N b) { return a < b; } };
struct Le { template <class N> static auto apply(N a, N b) { return a <= b; } };
struct Gt { template <class N> static auto apply(N a, N b) { return a > b; } };
struct Ge { template <class N> static auto apply(N a, N b) { return a >= b; } };

/// Strings compare by code points, which for valid UTF-8 is the order of their bytes.
template <class Compare>
std::vector<Array> compare_strings(std::span<Array> in) {
  Array out = Array::make(DType::Bool, in[0].shape);
  const StringRef *a = in[0].data<StringRef>(), *b = in[1].data<StringRef>();
  PollCounter polls;
  for (int64_t i = 0, n = out.count(); i < n; ++i) {
    polls.add(8);
    out.data<bool>()[i] = Compare::apply(compare_texts(a[i].view(), b[i].view()), 0);
  }
  return {std::move(out)};
}

template <class Compare>
std::vector<Array> eval_compare(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  if (in[0].dtype == DType::Str) return compare_strings<Compare>(in);
  return each2<Compare, Domain::NumbersAndBool>(context, f, op, in);
}

std::vector<Type> infer_compare(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 2 && in.operands[0] == in.operands[1]);
  return {{DType::Bool, in.operands[0].dims}};
}

template <class Compare> constexpr OpDef comparison(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_compare,
          .eval = eval_compare<Compare>, .batch = BatchElementwise{},
          .diff = NotDifferentiable{"the result is bool"}, .code = CodeElementwise{emit2<Compare>},
          .samples = elementwise_samples<Domain::NumbersAndBool, 2>};
}

std::vector<Type> infer_select(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 3 && in.operands[0].dtype == DType::Bool && in.operands[1] == in.operands[2] &&
               in.operands[0].dims == in.operands[1].dims);
  return {in.operands[1]};
}

std::vector<Array> eval_select(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  Array out = result_in_place(in[1].dtype, in.subspan(1));
  for (const Array& a : in.subspan(1)) out.owners.insert(out.owners.end(), a.owners.begin(), a.owners.end());
  const bool* mask = in[0].data<bool>();
  visit_dtype(out.dtype, [&]<class T>() {
    const T *a = in[1].data<T>(), *b = in[2].data<T>();
    T* y = out.data<T>();
    in_strips(in[0].count(), [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = mask[i] ? a[i] : b[i];
    });
  });
  return {std::move(out)};
}

void transpose_select(ReverseContext& c) {
  Builder& b = c.out();
  ValueId ct = c.cotangent(), zeros = zeros_of(b, b.type(ct), c.op().span);
  if (c.wanted(1)) c.add(1, b.emit(select_op, {c.operand(0), ct, zeros}, {}, c.op().span));
  if (c.wanted(2)) c.add(2, b.emit(select_op, {c.operand(0), zeros, ct}, {}, c.op().span));
}

Num emit_select(std::span<const Num> x, const Op&, DType) { return select(x[0], x[1], x[2]); }

std::vector<Sample> select_samples() {
  std::vector<Sample> out;
  for (Sample& s : samples_of(Domain::NumbersAndBool, 2)) {
    Array mask = Array::make(DType::Bool, s.operands[0].shape);
    for (int64_t i = 0; i < mask.count(); ++i) mask.data<bool>()[i] = i % 3 != 1;
    out.push_back({{mask, s.operands[0], s.operands[1]}, {}});
  }
  return out;
}

}  // namespace

const OpDef eq_op = comparison<Eq>("eq", "Equal, element by element.");
const OpDef ne_op = comparison<Ne>("ne", "Not equal, element by element.");
const OpDef lt_op = comparison<Lt>("lt", "Less, element by element.");
const OpDef le_op = comparison<Le>("le", "Less or equal, element by element.");
const OpDef gt_op = comparison<Gt>("gt", "Greater, element by element.");
const OpDef ge_op = comparison<Ge>("ge", "Greater or equal, element by element.");
const OpDef isnan_op = unary_predicate<IsNan, Domain::Floats>("isnan", "Is it not a number?", Public{"x", Promotion::CommonFloat});
const OpDef isfinite_op = unary_predicate<IsFinite, Domain::Floats>("isfinite", "Is it neither infinite nor NaN?", Public{"x", Promotion::CommonFloat});
const OpDef isinf_op = unary_predicate<IsInf, Domain::Floats>("isinf", "Is it plus or minus infinity?", Public{"x", Promotion::CommonFloat});
const OpDef select_op = {
    .name = "select", .doc = "Elements of the second where the first is true, else of the third.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_select, .eval = eval_select, .batch = BatchElementwise{},
    .diff = Linear{transpose_select}, .code = CodeElementwise{emit_select},
    .samples = select_samples};

namespace {
constexpr const OpDef* rows[] = {&eq_op, &ne_op, &lt_op, &le_op, &gt_op, &ge_op, &isnan_op, &isfinite_op, &isinf_op, &select_op};
}
const Family comparison_rows = rows;

}  // namespace tercet
