// Row: calls of functions of the host. They have effects of their own, so that they stay where they are, in their order.
#include <fmt/format.h>

#include "interpreter/ir/host_function.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

const HostFunction& host_of(const Attrs& attrs) {
  return *static_cast<const HostFunction*>(attrs.get<std::shared_ptr<const void>>("host").get());
}

std::vector<Type> infer_host_call(const InferInput& in) {
  const HostFunction& host = host_of(in.attrs);
  TERCET_CHECK(in.operands.size() == host.parameters.size());
  DimMap map;
  for (size_t i = 0; i < in.operands.size(); ++i) bind_sizes(host.parameters[i].dims, in.operands[i].dims, map);
  std::vector<Type> out = host.results;
  for (Type& t : out)
    for (Dim& d : t.dims) d = d.substitute(map);
  return out;
}

std::vector<Array> eval_host_call(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const HostFunction& host = host_of(op.attrs);
  std::vector<Array> out;
  try {
    out = host.call({std::make_move_iterator(in.begin()), std::make_move_iterator(in.end())});
  } catch (Failure& failure) {
    if (!failure.first().span.known()) failure.first().span = op.span;
    throw;
  }
  for (uint32_t i = 0; i < op.outputs; ++i) {
    const Type& type = f.type(op.output(i));
    if (i < out.size() && out[i].dtype == type.dtype && !out[i].ragged && out[i].shape == context.shape(type.dims)) continue;
    fail(Kind::Type, op.span, fmt::format("`{}` of the host gave {}, and its signature says {}{}", host.name,
         i < out.size() ? name_of(out[i].dtype) + (out[i].rank() ? to_string(out[i].shape) : std::string()) : "nothing", name_of(type.dtype),
         type.dims.empty() ? "" : to_string(context.shape(type.dims))));
  }
  return out;
}

std::vector<BatchedValue> batch_host_call(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (c.live() != no_value)
    fail(Kind::Unsupported, op.span, fmt::format("`{}` of the host in a branch or loop that lanes take differently", host_of(op.attrs).name), "call it outside of it, and select from what it gives");
  return c.loop_over_lanes(f, op, in);
}

}  // namespace

const OpDef host_call_op = {
    .name = "host_call", .doc = "A function of the host.", .surface = Internal{}, .effect = Effect::Output, .ragged = RaggedRule::Dense,
    .infer = infer_host_call, .eval = eval_host_call, .batch = BatchCustom{batch_host_call},
    .diff = NotDifferentiable{"nobody knows what a function of the host does"}, .code = CodeCall{}, .samples = nullptr};

namespace {
constexpr const OpDef* rows[] = {&host_call_op};
}
const Family host_rows = rows;

}  // namespace tercet
