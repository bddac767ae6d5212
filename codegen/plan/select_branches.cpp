#include "codegen/plan/select_branches.h"

#include <algorithm>

#include "codegen/plan/cost.h"
#include "codegen/plan/roles.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/replace_ops.h"

namespace tercet::codegen {
namespace {

constexpr int64_t most_work = 60;   // scalar operations of both sides together

bool is_number(const Function& f, ValueId v) { return f.type(v).dims.empty() && is_kernel_dtype(f.type(v).dtype); }

/// Scalar operations, or -1 for a body that does anything else.
int64_t work_of(const Function& body) {
  int64_t work = 0;
  for (const Op& op : body.ops) {
    if (op.outputs != 1 || !is_number(body, op.output())) return -1;
    for (ValueId v : op.inputs)
      if (!is_number(body, v)) return -1;
    if (std::holds_alternative<CodeConstant>(op.def->code)) continue;
    if (!std::holds_alternative<CodeElementwise>(op.def->code) || op.attrs.has("defines")) return -1;
    work += elementwise_cost(body, op);
  }
  return work;
}

bool is_cheap(const Function& f, const Op& op) {
  if (op.def != &cond_op || op.outputs == 0) return false;
  for (uint32_t i = 0; i < op.outputs; ++i)
    if (!is_number(f, op.output(i))) return false;
  const int64_t yes = work_of(*op.bodies[0]), no = work_of(*op.bodies[1]);
  return yes >= 0 && no >= 0 && yes + no <= most_work;
}

std::vector<ValueId> both(Builder& b, const Op& op) {
  const std::span<const ValueId> arguments(op.inputs.data() + 1, op.inputs.size() - 1);
  const std::vector<ValueId> yes = inline_function(b, *op.bodies[0], arguments), no = inline_function(b, *op.bodies[1], arguments);
  std::vector<ValueId> out;
  for (size_t i = 0; i < yes.size(); ++i) out.push_back(b.emit(select_op, {op.inputs[0], yes[i], no[i]}, {}, op.span));
  return out;
}

}  // namespace

FunctionPtr select_branches(const FunctionPtr& f) {
  FunctionPtr out = f;
  for (int depth = 0; depth < 8; ++depth) {   // branches inside branches come first
    FunctionPtr next = replace_ops(out, {is_cheap, both});
    if (next == out) break;
    out = next;
  }
  return out;
}

}  // namespace tercet::codegen
