#include "codegen/plan/fusion.h"

#include <algorithm>

#include "codegen/plan/cost.h"
#include "codegen/plan/roles.h"

namespace tercet::codegen {
namespace {

constexpr int64_t cheap = 6;      // scalar operations that are worth less than a trip through memory
constexpr int64_t few = 64;       // elements that cost nothing to store

/// Where the readers of a value stand: readers with equal places read each element once, at one position.
using Place = int64_t;

class Fusion {
 public:
  explicit Fusion(const Function& f) : f_(f), facts_{f, {}, {}, {}, {}} {
    facts_.definition.assign(f.types.size(), nullptr);
    facts_.in_memory.assign(f.types.size(), false);
    facts_.kept.assign(f.types.size(), Kept::No);
    facts_.cost.assign(f.types.size(), 1);
    for (const Op& op : f.ops)
      for (uint32_t i = 0; i < op.outputs; ++i) facts_.definition[op.output(i)] = &op;
  }

  ValueFacts run() {
    mark_required();
    read_before_overwritten();
    find_places();
    mark_costly();
    return std::move(facts_);
  }

 private:
  bool is_inline(const Op& op) const {
    Role r = role_of(f_, op);
    return r == Role::Inline || r == Role::Reshape;
  }
  bool moves(const Op& op) const { return !std::holds_alternative<CodeElementwise>(op.def->code); }
  void keep(ValueId v, Kept why) {
    if (!facts_.in_memory[v]) facts_.kept[v] = why;
    facts_.in_memory[v] = true;
  }
  void require(ValueId v, Kept why = Kept::Needed) {
    const Op* op = facts_.op(v);
    bool scalar_constant = op && role_of(f_, *op) == Role::Constant && f_.type(v).dims.empty();
    if (!scalar_constant) keep(v, why);
  }

  void mark_required() {
    for (ValueId p : f_.params) require(p);
    for (ValueId r : f_.results) require(r);
    for (const Op& op : f_.ops) {
      Role role = role_of(f_, op);
      if (role == Role::Native)
        for (ValueId v : op.inputs) require(v);
      if (!is_inline(op) && role != Role::Check)
        for (uint32_t i = 0; i < op.outputs; ++i) require(op.output(i));
      if (role == Role::Reshape && !split_axes(f_.type(op.inputs[0]).dims, f_.type(op.output()).dims))
        require(op.inputs[0], Kept::Reshaped);
    }
  }

  bool is_small(ValueId v) const {
    int64_t count = 1;
    for (const Dim& d : f_.type(v).dims) count *= std::clamp<int64_t>(d.constant().value_or(few + 1), 0, few + 1);
    return count <= few;
  }
  /// A few elements of an array that a scatter takes over are read before it: else the array were needed afterwards, and copied.
  /// Example: in y[i] = y[i - 1] + y[i] the sum is in memory before y is overwritten.
  void read_before_overwritten() {
    for (size_t at = 0; at < f_.ops.size(); ++at)
      if (role_of(f_, f_.ops[at]) == Role::Scatter) read_before(at, f_.ops[at].inputs[0]);
  }
  void read_before(size_t scatter, ValueId array) {
    std::vector<bool> reads(f_.types.size(), false), late(f_.types.size(), false);   // the array; read at the scatter or later
    reads[array] = true;
    for (size_t i = 0; i < scatter; ++i) {
      const Op& op = f_.ops[i];
      if (op.outputs == 1 && is_inline(op) && !facts_.in_memory[op.output()])
        reads[op.output()] = std::any_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) { return reads[v]; });
    }
    for (size_t i = scatter; i < f_.ops.size(); ++i)
      for (ValueId v : f_.ops[i].inputs) late[v] = true;
    for (size_t i = scatter; i-- > 0;) {
      const Op& op = f_.ops[i];
      if (op.outputs != 1 || !is_inline(op) || !late[op.output()] || !reads[op.output()]) continue;
      if (is_small(op.output())) keep(op.output(), Kept::Overwritten);
      else
        for (ValueId v : op.inputs) late[v] = true;
    }
  }

  /// place of a value: the common place of its readers, or one of its own when they differ.
  void find_places() {
    place_.assign(f_.types.size(), 0);
    several_.assign(f_.types.size(), false);
    for (size_t i = f_.ops.size(); i-- > 0;) {
      const Op& op = f_.ops[i];
      if (op.outputs == 0 || !is_inline(op)) {
        Place own = next_++;
        for (ValueId v : op.inputs) note_reader(v, own);
        continue;
      }
      ValueId out = op.output();
      if (facts_.in_memory[out] || place_[out] == 0 || several_[out]) place_[out] = next_++;
      for (ValueId v : op.inputs) note_reader(v, moves(op) ? next_++ : place_[out]);
    }
  }
  void note_reader(ValueId v, Place place) {
    if (place_[v] == 0)
      place_[v] = place;
    else if (place_[v] != place)
      several_[v] = true;
  }

  void mark_costly() {
    std::vector<int64_t>& cost = facts_.cost;
    for (const Op& op : f_.ops) {
      if (!is_inline(op)) continue;
      int64_t total = std::holds_alternative<CodeElementwise>(op.def->code) ? elementwise_cost(f_, op) : 0;
      for (ValueId v : op.inputs) {
        if (repeats(op, v) && cost[v] > cheap) keep(v, Kept::Repeated);
        total += facts_.in_memory[v] ? 1 : cost[v];
      }
      ValueId out = op.output();
      cost[out] = total;
      if (several_[out] && total > cheap) keep(out, Kept::Shared);
      else if (total > longest_expression) keep(out, Kept::Long);
    }
  }
  /// The op may read an element of v many times.
  bool repeats(const Op& op, ValueId v) const {
    if (std::holds_alternative<CodeGather>(op.def->code) || std::holds_alternative<CodeWindow>(op.def->code))
      return v == op.inputs[0];
    if (!std::holds_alternative<CodeView>(op.def->code)) return false;
    const std::vector<Dim>&from = f_.type(v).dims, &to = f_.type(op.output()).dims;
    bool repeated = from.size() < to.size();
    for (size_t k = 0; k < from.size() && !repeated; ++k) repeated = from[k].is(1) && !to[k].is(1);
    return repeated;
  }

  const Function& f_;
  ValueFacts facts_;
  std::vector<Place> place_;
  std::vector<bool> several_;
  Place next_ = 1;
};

}  // namespace

ValueFacts choose_fusion(const Function& f) { return Fusion(f).run(); }

}  // namespace tercet::codegen
