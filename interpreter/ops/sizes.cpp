// Rows: from values to sizes and back.
#include <fmt/format.h>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"

namespace tercet {
namespace {

std::vector<Type> infer_as_size(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && in.operands[0].rank() == 0 && is_int(in.operands[0].dtype));
  return {{DType::I64, {}}};
}
std::vector<Array> eval_as_size(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  int64_t size = in[0].as_int();
  if (size < 0) {
    Diagnostic d;
    d.kind = Kind::Value;
    d.span = op.span;
    d.message = fmt::format("a size must not be negative, and this is {}", size);
    context.report(std::move(d), LaneIndex(static_cast<size_t>(op.attrs.get_or<int64_t>("shared", 0))));
    size = 0;
  }
  context.define(op, size);
  return {scalar_of_int(DType::I64, size)};
}
std::vector<BatchedValue> batch_as_size(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (!in[0].mapped) {
    Op shared = op;   // one size for all lanes: the first of them tells when it is negative
    shared.attrs.set("shared", op.attrs.get_or<int64_t>("shared", 0) + 1);
    if (c.live() == no_value) return c.emit_shared(f, shared, in);
    // Nobody asks for the size where no lane is alive: 0 then.
    Builder& b = c.out();
    ValueId any = b.emit(any_op, {c.live()}, {{"axes", std::vector<int64_t>{0}}}, op.span);
    ValueId zero = b.emit(constant_op, {}, {{"value", scalar_of_int(b.type(in[0].value).dtype, 0)}}, op.span);
    std::vector<BatchedValue> size{{b.emit(select_op, {any, in[0].value, zero}, {}, op.span), false}};
    return c.emit_shared(f, shared, size);
  }
  Builder& b = c.out();
  ValueId wide = b.type(in[0].value).dtype == DType::I64 ? in[0].value : b.emit(cast_op, {in[0].value}, {{"dtype", DType::I64}}, op.span);
  std::vector<ValueId> inputs{wide};
  if (c.live() != no_value) inputs.push_back(c.live());
  ValueId sizes = b.emit(lane_sizes_op, std::move(inputs), {{"lanes", int64_t{1}}, {"has_live", c.live() != no_value}}, op.span);
  c.define(op.attrs.get<Dim>("defines"), sizes, op.span);
  return {{sizes, true}};
}
std::vector<Sample> as_size_samples() { return {{{integers(DType::I32, {}, {5})}, {{"defines", Dim::symbol("s")}}}}; }

std::vector<Type> infer_dim_value(const InferInput& in) {
  TERCET_CHECK(in.operands.empty());
  return {{DType::I64, {}}};
}
std::vector<Array> eval_dim_value(EvalContext& context, const Function&, const Op& op, std::span<Array>) {
  return {scalar_of_int(DType::I64, context.size(op.attrs.get<Dim>("dim")))};
}
std::vector<BatchedValue> batch_dim_value(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  return c.emit_shared(f, op, in);
}
std::vector<Sample> dim_value_samples() { return {{{}, {{"dim", Dim(7)}}}}; }

}  // namespace

// Effect::Check: it fails for a negative value.
const OpDef as_size_op = {
    .name = "as_size", .doc = "An integer that becomes a size.", .surface = Internal{}, .effect = Effect::Check, .ragged = RaggedRule::Dense,
    .infer = infer_as_size, .eval = eval_as_size, .batch = BatchCustom{batch_as_size},
    .diff = NotDifferentiable{"it works on integers"}, .code = CodeSize{}, .samples = as_size_samples};
const OpDef dim_value_op = {
    .name = "dim_value", .doc = "A size as a value.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_dim_value, .eval = eval_dim_value, .batch = BatchCustom{batch_dim_value, flat_dim_value},
    .diff = NotDifferentiable{"it works on integers"}, .code = CodeSize{}, .samples = dim_value_samples};

namespace {
constexpr const OpDef* rows[] = {&as_size_op, &dim_value_op};
}
const Family size_rows = rows;

}  // namespace tercet
