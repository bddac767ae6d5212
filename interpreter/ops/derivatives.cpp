// Rows that say how something is differentiated: not at all, by computing it again, or by rules of the user's own.
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ids = std::vector<ValueId>;
using Flags = std::vector<bool>;

struct Identity { template <class N> static N apply(N x) { return x; } };

// ---- checkpoint(operands…) {body}, custom_grad(arguments…, captures…) {body, forward, backward} ----
/// Results of the first body. Sizes that only it knows get the operation's own names.
std::vector<Type> infer_body(const InferInput& in) {
  std::vector<uint64_t> inside;
  collect_defined(*in.bodies[0], inside);
  const Dims fresh = in.attrs.get_or<Dims>("defines", {});
  size_t next = 0;
  std::vector<Type> out = in.bodies[0]->result_types();
  for (Type& t : out)
    for (Dim& d : t.dims)
      if (mentions(d, inside)) TERCET_CHECK(next < fresh.size()), d = fresh[next++];
  return out;
}

std::vector<Array> eval_body(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  std::vector<Array> out = context.run_body(*op.bodies[0], {std::make_move_iterator(in.begin()), std::make_move_iterator(in.end())});
  context.bind_defined(f, op, out);
  return out;
}

Ids expand_body(Builder& b, const Op& op) { return inline_function(b, *op.bodies[0], op.inputs); }

std::vector<BatchedValue> emit_batched(BatchContext& c, const Op& op, std::span<const BatchedValue> in, const Flags& mapped, std::vector<FunctionPtr> bodies) {
  DimMap map;
  Attrs attrs = rewrite_attrs(op.attrs, map);
  for (FunctionPtr& body : bodies) body = substitute(body, map);
  Ids inputs;
  for (const BatchedValue& v : in) inputs.push_back(v.value);
  Ids values = c.out().emit_many(*op.def, with_live(c, std::move(inputs)), std::move(attrs), op.span, std::move(bodies));
  std::vector<BatchedValue> out;
  for (size_t i = 0; i < values.size(); ++i) out.push_back({values[i], mapped[i]});
  return out;
}

std::vector<BatchedValue> batch_checkpoint(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  auto body = c.batch_closed(*op.bodies[0], flags_of(in), {}, false);
  return emit_batched(c, op, in, body.mapped, {body.function});
}

/// Computes the body again, for its derivative only.
void reverse_checkpoint(ReverseContext& c) {
  Builder& b = c.out();
  const Op op = c.op();
  Flags active = c.forward().active, given;
  Ids inputs = op.inputs;
  std::vector<Type> types;
  for (size_t i = 0; i < op.outputs; ++i) {
    types.push_back(b.type(c.result(i)));
    given.push_back(c.cotangent(i) != no_value);
    if (given[i]) inputs.push_back(c.cotangent(i));
  }
  Pullback p = c.pull_back(*op.bodies[0], {active, given, Flags(active.size(), false), false, {}, types});
  Ids gradients = b.emit_many(checkpoint_op, std::move(inputs), {}, op.span, {p.function});
  for (size_t i = 0, at = 0; i < active.size(); ++i)
    if (active[i]) c.add(i, gradients[at++]);
}

/// All values of the user's rules are mapped, so that both see what the other gives.
std::vector<BatchedValue> batch_custom_grad(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  auto arguments = static_cast<size_t>(op.attrs.get<int64_t>("arguments"));
  std::vector<BatchedValue> all;
  for (size_t i = 0; i < in.size(); ++i) all.push_back(i < arguments ? BatchedValue{c.mapped(in[i], op.span), true} : in[i]);
  Flags flags = flags_of(all), every(op.bodies[1]->results.size(), true);
  auto body = c.batch_closed(*op.bodies[0], flags, every, false), forward = c.batch_closed(*op.bodies[1], flags, every, false);
  Flags back(op.bodies[2]->params.size() - (in.size() - arguments), true);
  for (size_t i = arguments; i < in.size(); ++i) back.push_back(in[i].mapped);
  auto backward = c.batch_closed(*op.bodies[2], back, Flags(op.bodies[2]->results.size(), true), false);
  return emit_batched(c, op, all, body.mapped, {body.function, forward.function, backward.function});
}

Ids forward_custom_grad(ForwardContext& c) {
  const Op op = c.op();
  Ids all = inline_function(c.out(), *op.bodies[1], op.inputs);
  c.forward().saved.assign(all.begin() + op.outputs, all.end());
  all.resize(op.outputs);
  return all;
}
/// backward(residuals…, cotangents of the results…, captures…) gives a cotangent for each float argument.
void reverse_custom_grad(ReverseContext& c) {
  const Op& op = c.op();
  auto arguments = static_cast<size_t>(op.attrs.get<int64_t>("arguments"));
  Ids inputs = c.forward().saved;
  for (size_t i = 0; i < op.outputs; ++i) inputs.push_back(cotangent_or_zeros(c, i));
  inputs.insert(inputs.end(), op.inputs.begin() + static_cast<std::ptrdiff_t>(arguments), op.inputs.end());
  Ids gradients = inline_function(c.out(), *op.bodies[2], inputs);
  for (size_t i = 0, at = 0; i < arguments; ++i)
    if (is_float(c.out().type(op.inputs[i]).dtype)) c.add(i, gradients[at++]);
}

constexpr OpDef body_row(const char* name, const char* doc, BatchFn batch, ByRule diff) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole, .infer = infer_body, .eval = eval_body,
          .batch = BatchCustom{batch}, .diff = diff, .code = CodeExpand{expand_body}, .samples = nullptr};
}

}  // namespace

const OpDef stop_gradient_op = unary_op<Identity, Domain::NumbersAndBool>("stop_gradient", "The same value, as a constant to gradients.", Internal{}, NotDifferentiable{"it stops gradients"});
const OpDef checkpoint_op = body_row("checkpoint", "A body that gradients compute again instead of keeping its values.", batch_checkpoint, ByRule{nullptr, reverse_checkpoint});
const OpDef custom_grad_op = body_row("custom_grad", "A body with derivative rules of its own.", batch_custom_grad, ByRule{forward_custom_grad, reverse_custom_grad});

namespace {
constexpr const OpDef* rows[] = {&stop_gradient_op, &checkpoint_op, &custom_grad_op};
}
const Family derivative_rows = rows;

}  // namespace tercet
