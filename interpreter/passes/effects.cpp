#include "interpreter/passes/effects.h"

#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"

namespace tercet {

FunctionPtr without_effects(const FunctionPtr& f) {
  if (!has_effects(*f)) return f;
  auto out = std::make_shared<Function>(*f);
  std::vector<bool> keep;
  for (Op& op : out->ops) {
    keep.push_back(op.outputs > 0);
    for (FunctionPtr& body : op.bodies) body = without_effects(body);
  }
  compact(*out, keep);
  return out;
}

}  // namespace tercet
