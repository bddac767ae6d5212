#include "interpreter/ops/at_span.h"
#include "interpreter/ops/subwords.h"

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/runtime/subwords.h"

namespace tercet {
namespace {

std::vector<Type> infer_encode(const InferInput& in) {
  Type t{DType::I32, in.operands[0].dims};
  t.dims.push_back(t.dims.empty() ? in.attrs.get<Dim>("defines") : Dim::ragged());
  return {t};
}
std::vector<Array> eval_encode(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> {
    Array out = encode_subwords(*subword_model(in[1]), in[0]);
    if (op.attrs.has("defines")) context.define(op, out.shape[0]);
    return {std::move(out)};
  });
}
/// One text a lane: the rows of all of them.
std::vector<BatchedValue> batch_encode(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (f.type(op.inputs[0]).rank() != 0 || !in[0].mapped || in[1].mapped) fail_lane_dependent(op.span);
  return unpacked(c, op, c.out().emit(*op.def, {in[0].value, in[1].value}, {}, op.span), op.attrs.get<Dim>("defines"));
}

std::vector<Type> infer_decode(const InferInput& in) {
  Type t{DType::Str, in.operands[0].dims};
  require_rank(t, 1);
  t.dims.pop_back();
  return {t};
}
std::vector<Array> eval_decode(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {decode_subwords(*subword_model(in[1]), in[0])}; });
}
std::vector<BatchedValue> batch_decode(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  if (in[1].mapped) fail_lane_dependent(op.span);
  return emit_mapped(c, op, {c.mapped(in[0], op.span), in[1].value}, {});
}
std::vector<BatchedValue> flat_decode(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (in[1].mapped || !in[0].packing || f.type(op.inputs[0]).rank() != 1) fail_lane_dependent(op.span);
  return {{c.out().emit(*op.def, {c.as_ragged(in[0], op.span), in[1].value}, {}, op.span), true}};
}

constexpr NotDifferentiable on_text{"it works on text"};

}  // namespace

const OpDef encode_subwords_op = {
    .name = "encode_subwords", .doc = "Numbers of a text's sub-word pieces.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_encode, .eval = eval_encode, .batch = BatchCustom{batch_encode}, .diff = on_text, .code = CodeCall{}, .samples = nullptr};
const OpDef decode_subwords_op = {
    .name = "decode_subwords", .doc = "The text of sub-word pieces.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_decode, .eval = eval_decode, .batch = BatchCustom{batch_decode, flat_decode}, .diff = on_text, .code = CodeCall{}, .samples = nullptr};

}  // namespace tercet
