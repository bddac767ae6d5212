#include "interpreter/engine/evaluate.h"

#include "interpreter/ir/op_def.h"

namespace tercet {
namespace {

/// The value itself at its last use, else a share of it. An operand that occurs twice in one operation stays shared.
Array take(std::vector<Array>& values, const Op& op, size_t operand, bool last) {
  ValueId v = op.inputs[operand];
  if (last)
    for (size_t k = operand + 1; k < op.inputs.size(); ++k) last &= op.inputs[k] != v;
  return last ? std::move(values[v]) : values[v];
}

/// All operands of operation `i`.
void take_all(std::vector<Array>& values, const Op& op, uint32_t i, const std::vector<uint32_t>& last_use, std::vector<Array>& operands) {
  constexpr size_t few = 8;   // of many, comparing each with all others takes longer than sharing them for a moment
  operands.clear();
  const bool many = op.inputs.size() > few;
  for (size_t k = 0; k < op.inputs.size(); ++k) operands.push_back(take(values, op, k, !many && last_use[op.inputs[k]] == i));
  if (many)
    for (ValueId v : op.inputs)
      if (last_use[v] == i) values[v] = {};
}

}  // namespace

void bind_shape(DimEnv& env, const std::vector<Dim>& dims, const Shape& shape) {
  for (size_t k = 0; k < dims.size(); ++k)
    if (uint64_t id = dims[k].symbol_id()) env[id] = shape[k];
}

std::vector<Array> evaluate(const Function& f, EvalContext& context, std::vector<Array> arguments) {
  TERCET_CHECK(arguments.size() == f.params.size());
  check_stack(Span::of_call());
  const std::vector<uint32_t>& last = f.last_use;
  std::vector<Array> values(f.types.size());
  for (size_t i = 0; i < f.params.size(); ++i) {
    bind_shape(context.dims, f.type(f.params[i]).dims, arguments[i].shape);
    values[f.params[i]] = std::move(arguments[i]);
  }
  arguments.clear();
  std::vector<Array> operands;
  for (uint32_t i = 0; i < f.ops.size(); ++i) {
    const Op& op = f.ops[i];
    context.poll();
    take_all(values, op, i, last, operands);
    std::vector<Array> results = op.def->eval(context, f, op, operands);
    for (uint32_t k = 0; k < op.outputs; ++k)
      if (last[op.output(k)] > i) values[op.output(k)] = std::move(results[k]);
  }
  std::vector<Array> out;
  for (ValueId r : f.results) out.push_back(values[r]);
  return out;
}

}  // namespace tercet
