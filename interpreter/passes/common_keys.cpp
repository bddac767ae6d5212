#include "interpreter/passes/common_keys.h"

#include <algorithm>

#include "interpreter/ir/jit_entry.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/jit_call.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

/// Does something here tell lanes of the axis apart that they share all else?
bool tells_apart(const Op& op, int64_t level) {
  if (level < 0) return false;
  if (op.attrs.get_or<int64_t>("over", -1) == level && op.attrs.has("differs")) return true;
  return std::any_of(op.bodies.begin(), op.bodies.end(), [&](const FunctionPtr& f) {
    return std::any_of(f->ops.begin(), f->ops.end(), [&](const Op& inner) { return tells_apart(inner, level); });
  });
}

/// The function with every key that it makes marked: nothing in it depends on the lane.
FunctionPtr all_common(const FunctionPtr& f) { return mark_common_keys(*f, std::vector<bool>(f->params.size(), false)); }

bool makes_keys(const Function& f) {
  return std::any_of(f.ops.begin(), f.ops.end(), [](const Op& op) {
    return op.def == &new_keys_op || std::any_of(op.bodies.begin(), op.bodies.end(), [](const FunctionPtr& b) { return makes_keys(*b); });
  });
}

/// A compiled callee that makes keys, with them marked: compiled once for all callers that share the same arguments.
std::shared_ptr<JitEntry> marked_entry(JitEntry& entry, const std::vector<bool>& mapped, int64_t level) {
  std::string key = "keys" + std::to_string(level);
  for (bool m : mapped) key += m ? 'm' : '_';
  std::scoped_lock lock(entry.mutex);
  std::shared_ptr<JitEntry>& out = entry.batched[key];
  if (!out) {
    out = std::make_shared<JitEntry>();
    out->function = mark_common_keys(*entry.function, mapped, level);
    out->counter = entry.counter;
    out->options = entry.options;
  }
  return out;
}

}  // namespace

FunctionPtr mark_common_keys(const Function& f, const std::vector<bool>& mapped, int64_t level) {
  Builder out(f.name);
  std::unordered_map<ValueId, ValueId> values;
  std::vector<bool> differs(f.types.size(), false);
  for (size_t i = 0; i < f.params.size(); ++i) {
    values[f.params[i]] = out.param(f.type(f.params[i]));
    differs[f.params[i]] = mapped[i];
  }
  for (const Op& op : f.ops) {
    bool common = std::none_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) { return differs[v]; }) && !tells_apart(op, level);
    // What all lanes combine is the same for all of them.
    bool combined = op.attrs.get_or<int64_t>("over", -1) == level && level >= 0 && !op.attrs.has("differs");
    std::vector<ValueId> inputs;
    for (ValueId v : op.inputs) {
      bool unseen = !common && !op.bodies.empty() && !differs[v];
      inputs.push_back(unseen ? mark_at_border(out, values.at(v), "opaque", op.span) : values.at(v));
    }
    Attrs attrs = op.attrs;
    if (common && op.def == &new_keys_op) attrs.set("common", true);
    std::vector<FunctionPtr> bodies;
    for (const FunctionPtr& body : op.bodies) bodies.push_back(common ? all_common(body) : body);
    bool compiled = op.attrs.has("jit") && makes_keys(*jit_entry(op.attrs).function);
    std::vector<bool> lane_inputs;
    for (ValueId v : op.inputs) lane_inputs.push_back(differs[v]);
    std::vector<ValueId> results = compiled ? emit_jit_call(out, marked_entry(jit_entry(op.attrs), lane_inputs, level), std::move(inputs), op.span) : out.emit_many(*op.def, std::move(inputs), std::move(attrs), op.span, std::move(bodies));
    for (uint32_t i = 0; i < op.outputs; ++i) {
      values[op.output(i)] = results[i];
      differs[op.output(i)] = !common && !combined;
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
