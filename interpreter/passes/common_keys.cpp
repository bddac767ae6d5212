#include "interpreter/passes/common_keys.h"

#include <algorithm>

#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

/// The function with every key that it makes marked: nothing in it depends on the lane.
FunctionPtr all_common(const FunctionPtr& f) { return mark_common_keys(*f, std::vector<bool>(f->params.size(), false)); }

}  // namespace

FunctionPtr mark_common_keys(const Function& f, const std::vector<bool>& mapped) {
  Builder out(f.name);
  std::unordered_map<ValueId, ValueId> values;
  std::vector<bool> differs(f.types.size(), false);
  for (size_t i = 0; i < f.params.size(); ++i) {
    values[f.params[i]] = out.param(f.type(f.params[i]));
    differs[f.params[i]] = mapped[i];
  }
  for (const Op& op : f.ops) {
    bool common = std::none_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) { return differs[v]; });
    std::vector<ValueId> inputs;
    for (ValueId v : op.inputs) {
      bool unseen = !common && !op.bodies.empty() && !differs[v];
      inputs.push_back(unseen ? mark_at_border(out, values.at(v), "opaque", op.span) : values.at(v));
    }
    Attrs attrs = op.attrs;
    if (common && op.def == &new_keys_op) attrs.set("common", true);
    std::vector<FunctionPtr> bodies;
    for (const FunctionPtr& body : op.bodies) bodies.push_back(common ? all_common(body) : body);
    std::vector<ValueId> results = out.emit_many(*op.def, std::move(inputs), std::move(attrs), op.span, std::move(bodies));
    for (uint32_t i = 0; i < op.outputs; ++i) {
      values[op.output(i)] = results[i];
      differs[op.output(i)] = !common;
    }
  }
  std::vector<ValueId> results;
  for (ValueId r : f.results) results.push_back(values.at(r));
  return out.finish(std::move(results));
}

ValueId mark_at_border(Builder& b, ValueId value, const char* mark, Span span) {
  if (b.type(value).dtype != DType::Key || b.type(value).is_ragged()) return value;
  return b.emit(mark_keys_op, {value}, {{"mark", std::string(mark)}}, span);
}

}  // namespace tercet
