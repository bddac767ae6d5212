// Rows: regular expressions in texts, as native calls on whole arrays (interpreter/runtime/text.h). The pattern is attribute `text`.
#include "interpreter/ops/at_span.h"
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/text.h"

namespace tercet {
namespace {

constexpr NotDifferentiable on_text{"it works on text"};

const std::string& text_attr(const Op& op, const char* name) { return op.attrs.get<std::string>(name); }

template <DType To> std::vector<Type> infer_per_text(const InferInput& in) {
  TERCET_CHECK(in.operands[0].dtype == DType::Str);
  return {{To, in.operands[0].dims}};
}

std::vector<Array> eval_matches(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {matches(in[0], text_attr(op, "text"))}; });
}
std::vector<Array> eval_replace_matches(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {replace_matches(in[0], text_attr(op, "text"), text_attr(op, "to"))}; });
}

std::vector<Type> infer_extract(const InferInput& in) {
  const int64_t groups = in.attrs.get<int64_t>("groups");
  TERCET_CHECK(groups > 0 && groups < 10'000);
  return std::vector<Type>(static_cast<size_t>(groups), Type{DType::Str, in.operands[0].dims});
}
std::vector<Array> eval_extract(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&] { return extract(in[0], text_attr(op, "text")); });
}
std::vector<BatchedValue> batch_extract(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  std::vector<BatchedValue> out = emit_mapped(c, op, {in[0].packing ? in[0].value : c.mapped(in[0], op.span)}, op.attrs);
  for (BatchedValue& v : out) v.packing = in[0].packing;
  return out;
}

std::vector<Type> infer_split_matches(const InferInput& in) {
  Type t{DType::Str, in.operands[0].dims};
  t.dims.push_back(t.dims.empty() ? in.attrs.get<Dim>("defines") : Dim::ragged());
  return {t};
}
std::vector<Array> eval_split_matches(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> {
    Array out = split_matches(in[0], text_attr(op, "text"));
    if (op.attrs.has("defines")) context.define(op, out.shape[0]);   // a row alone has a size that is known now
    return {std::move(out)};
  });
}
/// One text a lane: the rows of all of them.
std::vector<BatchedValue> batch_split_matches(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (f.type(op.inputs[0]).rank() != 0 || !in[0].mapped) fail_lane_dependent(op.span);
  return unpacked(c, op, c.out().emit(*op.def, {in[0].value}, {{"text", text_attr(op, "text")}}, op.span), op.attrs.get<Dim>("defines"));
}

Array some_texts() {
  std::vector<std::string_view> texts{"The cat", "", "h\xC3\xA9llo w\xC3\xB6rld, and more text than fits inside", "a b c"};
  return Array::strings(texts);
}
std::vector<Sample> matches_samples() { return {{{some_texts()}, {{"text", std::string("a")}}}}; }
std::vector<Sample> replace_samples() { return {{{some_texts()}, {{"text", std::string("([a-z]) ")}, {"to", std::string("<\\1>")}}}}; }

}  // namespace

const OpDef matches_op = {
    .name = "matches", .doc = "Does the regular expression occur?", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_per_text<DType::Bool>, .eval = eval_matches, .batch = BatchElementwise{}, .diff = on_text, .code = CodeCall{}, .samples = matches_samples};
const OpDef replace_matches_op = {
    .name = "replace_matches", .doc = "Texts with every match of a regular expression replaced.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_per_text<DType::Str>, .eval = eval_replace_matches, .batch = BatchElementwise{}, .diff = on_text, .code = CodeCall{}, .samples = replace_samples};
const OpDef extract_op = {
    .name = "extract", .doc = "What a regular expression captures.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_extract, .eval = eval_extract, .batch = BatchCustom{batch_extract, batch_extract}, .diff = on_text, .code = CodeCall{}, .samples = nullptr};
const OpDef split_matches_op = {
    .name = "split_matches", .doc = "The pieces between matches of a regular expression.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_split_matches, .eval = eval_split_matches, .batch = BatchCustom{batch_split_matches}, .diff = on_text, .code = CodeCall{}, .samples = nullptr};

namespace {
constexpr const OpDef* rows[] = {&matches_op, &replace_matches_op, &extract_op, &split_matches_op};
}
const Family pattern_rows = rows;

}  // namespace tercet
