#include "interpreter/passes/expand.h"

#include <algorithm>
#include <map>

#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

/// A broadcast that repeats nothing, because no size is 1: the same elements under other names of the same sizes.
bool only_renames(const Function& f, const Op& op) {
  if (op.def != &broadcast_op) return false;
  const std::vector<Dim>&from = f.type(op.inputs[0]).dims, &to = op.attrs.get<std::vector<Dim>>("dims");
  const auto& axes = op.attrs.get<std::vector<int64_t>>("axes");
  if (from.size() != to.size()) return false;
  for (size_t k = 0; k < from.size(); ++k)
    if (axes[k] != static_cast<int64_t>(k) || !(from[k] == to[k] || from[k].not_one())) return false;
  return true;
}

/// Functions that were seen, so that a callee that occurs twice stays one.
class Expander {
 public:
  FunctionPtr run(const FunctionPtr& f) {
    if (auto at = seen_.find(f.get()); at != seen_.end()) return at->second;
    FunctionPtr out = needed(*f) ? rewritten(*f) : f;
    seen_[f.get()] = out;
    return out;
  }

 private:
  bool needed(const Function& f) {
    return std::any_of(f.ops.begin(), f.ops.end(), [&](const Op& op) {
      return std::holds_alternative<CodeExpand>(op.def->code) || only_renames(f, op) ||
             std::any_of(op.bodies.begin(), op.bodies.end(), [&](const FunctionPtr& body) { return run(body) != body; });
    });
  }

  FunctionPtr rewritten(const Function& f) {
    Builder b(f.name);
    std::unordered_map<ValueId, ValueId> values;
    DimMap sizes;
    for (ValueId p : f.params) values[p] = b.param(f.type(p));
    for (const Op& op : f.ops) {
      Op copy = op;
      for (ValueId& v : copy.inputs) v = values.at(v);
      copy.attrs = map_all(op.attrs, sizes);
      for (FunctionPtr& body : copy.bodies) body = substitute(run(body), sizes);
      auto* expanded = std::get_if<CodeExpand>(&op.def->code);
      std::vector<ValueId> results = expanded             ? expanded->expand(b, copy)
                                     : only_renames(f, op) ? std::vector{b.emit(reshape_op, copy.inputs, {{"dims", copy.attrs.get<std::vector<Dim>>("dims")}}, op.span)}
                                                           : b.emit_many(*op.def, copy.inputs, copy.attrs, op.span, copy.bodies);
      for (uint32_t i = 0; i < op.outputs; ++i) {
        values[op.output(i)] = results[i];
        // A size that the operation named is the one that now stands there.
        if (expanded && op.attrs.has("defines")) bind_sizes(f.type(op.output(i)).dims, b.type(results[i]).dims, sizes);
      }
    }
    std::vector<ValueId> results;
    for (ValueId r : f.results) results.push_back(values.at(r));
    return b.finish(std::move(results));
  }

  static Attrs map_all(const Attrs& attrs, const DimMap& sizes) {
    Attrs out;
    for (auto& [name, value] : attrs.items()) out.set(name, map_dims(value, [&](const Dim& d) { return d.substitute(sizes); }));
    return out;
  }

  std::map<const Function*, FunctionPtr> seen_;
};

}  // namespace

FunctionPtr expand(const FunctionPtr& f) { return Expander().run(f); }

}  // namespace tercet
