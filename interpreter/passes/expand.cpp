#include "interpreter/passes/expand.h"

#include "interpreter/ir/op_def.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/replace_ops.h"

namespace tercet {
namespace {

/// A broadcast that gives its operand: it was written to give a size another name, which turned out to be the same.
bool is_identity(const Function& f, const Op& op) { return op.def == &broadcast_op && f.type(op.inputs[0]).dims == f.type(op.output()).dims; }

bool stands_for_others(const Function& f, const Op& op) { return std::holds_alternative<CodeExpand>(op.def->code) || is_identity(f, op); }

std::vector<ValueId> others(Builder& b, const Op& op) {
  if (auto* expanded = std::get_if<CodeExpand>(&op.def->code)) return expanded->expand(b, op);
  return {op.inputs[0]};
}

}  // namespace

FunctionPtr expand(const FunctionPtr& f) { return replace_ops(f, {stands_for_others, others}); }

}  // namespace tercet
