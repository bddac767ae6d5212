// Row: change of dtype, as language.md section 5: integers wrap, float to integer truncates and saturates, NaN gives 0.
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

std::vector<Type> infer_cast(const InferInput& in) {
  DType to = in.attrs.get<DType>("dtype");
  TERCET_CHECK(in.operands.size() == 1 && in.operands[0].dtype <= DType::F64 && to <= DType::F64);
  return {{to, in.operands[0].dims}};
}

std::vector<Array> eval_cast(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  DType to = op.attrs.get<DType>("dtype");
  if (to == in[0].dtype) return {std::move(in[0])};
  Array out = Array::make(to, in[0].shape);
  visit_dtype(in[0].dtype, [&]<class From>() {
    visit_dtype(to, [&]<class To>() {
      if constexpr (detail::is_element<From> && detail::is_element<To>) {
        const From* x = in[0].data<From>();
        To* y = out.data<To>();
        in_strips(in[0].count(), [=](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) y[i] = Compute<To>::store(cast<detail::ComputeType<To>>(Compute<From>::load(x[i])));
        });
      }
    });
  });
  return {std::move(out)};
}

void transpose_cast(ReverseContext& c) {
  c.add(0, c.out().emit(cast_op, {c.cotangent()}, {{"dtype", c.out().type(c.operand(0)).dtype}}, c.op().span));
}

Num emit_cast(std::span<const Num> x, const Op&, DType result) {
  return x[0].builder->convert(x[0], result == DType::F16 || result == DType::BF16 ? DType::F32 : result);
}

std::vector<Sample> cast_samples() {
  std::vector<Sample> out;
  for (const Sample& s : samples_of(Domain::NumbersAndBool, 1))
    if (s.operands[0].count() > 20 || s.operands[0].count() == 0)
      for (int to = 0; to <= static_cast<int>(DType::F64); ++to)
        out.push_back({s.operands, {{"dtype", static_cast<DType>(to)}}});
  return out;
}

}  // namespace

const OpDef cast_op = {
    .name = "cast", .doc = "The same numbers in another dtype.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_cast, .eval = eval_cast, .batch = BatchElementwise{}, .diff = Linear{transpose_cast},
    .code = CodeElementwise{emit_cast}, .samples = cast_samples};

namespace {
constexpr const OpDef* rows[] = {&cast_op};
}
const Family cast_rows = rows;

}  // namespace tercet
