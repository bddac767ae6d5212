#include "interpreter/passes/replace_ops.h"

#include <algorithm>
#include <map>

#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"

namespace tercet {
namespace {

/// Functions that were seen, so that a callee that occurs twice stays one.
class Replacer {
 public:
  explicit Replacer(const OpReplacement& replacement) : r_(replacement) {}

  FunctionPtr run(const FunctionPtr& f) {
    if (auto at = seen_.find(f.get()); at != seen_.end()) return at->second;
    FunctionPtr out = needed(*f) ? rewritten(*f) : f;
    seen_[f.get()] = out;
    return out;
  }

 private:
  bool needed(const Function& f) {
    return std::any_of(f.ops.begin(), f.ops.end(), [&](const Op& op) {
      return r_.matches(f, op) || std::any_of(op.bodies.begin(), op.bodies.end(), [&](const FunctionPtr& body) { return run(body) != body; });
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
      copy.attrs = substitute(op.attrs, sizes);
      for (FunctionPtr& body : copy.bodies) body = substitute(run(body), sizes);
      const bool replaced = r_.matches(f, op);
      std::vector<ValueId> results = replaced ? r_.emit(b, copy) : b.emit_many(*op.def, copy.inputs, copy.attrs, op.span, copy.bodies);
      for (uint32_t i = 0; i < op.outputs; ++i) {
        values[op.output(i)] = results[i];
        // A size that the operation named is the one that now stands there.
        if (replaced && op.attrs.has("defines")) bind_sizes(f.type(op.output(i)).dims, b.type(results[i]).dims, sizes);
      }
    }
    std::vector<ValueId> results;
    for (ValueId r : f.results) results.push_back(values.at(r));
    return b.finish(std::move(results));
  }

  const OpReplacement& r_;
  std::map<const Function*, FunctionPtr> seen_;
};

}  // namespace

FunctionPtr replace_ops(const FunctionPtr& f, const OpReplacement& replacement) { return Replacer(replacement).run(f); }

}  // namespace tercet
