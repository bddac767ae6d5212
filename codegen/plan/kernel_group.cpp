#include "codegen/plan/kernel_group.h"

#include <algorithm>

#include "codegen/plan/cost.h"
#include "codegen/plan/roles.h"
#include "interpreter/ir/rewrite.h"

namespace tercet::codegen {
namespace {

constexpr size_t largest = 600;  // values in a kernel; bounds the time to compile it

/// Visits what a root reads down to values in memory, noting on the way whether the position has been moved.
class LeafFinder {
 public:
  explicit LeafFinder(const ValueFacts& facts) : facts_(facts) {}
  void operands(const Op& op, bool moved) {
    for (auto& [name, attr] : op.attrs.items()) for_each_dim(attr, [&](const Dim& d) { leaves.sizes.push_back(d); });
    bool moves = moved || !std::holds_alternative<CodeElementwise>(op.def->code);
    for (ValueId v : op.inputs) visit(v, moves);
  }
  void visit(ValueId v, bool moved) {
    auto seen =
        std::find_if(seen_.begin(), seen_.end(), [&](const Leaf& l) { return l.value == v && l.moved == moved; });
    if (seen != seen_.end()) return;
    seen_.push_back({v, moved});
    ++leaves.visited;
    const Op* op = facts_.op(v);
    if (facts_.in_memory[v] || !op)
      leaves.values.push_back({v, moved});
    else
      operands(*op, moved);
  }
  Leaves leaves;

 private:
  const ValueFacts& facts_;
  std::vector<Leaf> seen_;
};

std::vector<Dim> sizes_of(const Function& f, const Op& op) {
  std::vector<Dim> out;
  for (auto& [name, attr] : op.attrs.items()) for_each_dim(attr, [&](const Dim& d) { out.push_back(d); });
  for (ValueId v : op.inputs) out.insert(out.end(), f.type(v).dims.begin(), f.type(v).dims.end());
  return out;
}

bool identical(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

int64_t cost_of(const Function& f, const Kernel& k) {
  int64_t cost = 1;
  for (const Node& n : k.nodes)
    if (n.depth == static_cast<int>(k.loops.size()))
      cost += n.kind == NodeKind::Compute ? elementwise_cost(f, *n.op) : 1;
  return cost + static_cast<int64_t>(k.stores.size() + k.reductions.size());
}

Scatter::Mode mode_of(const std::string& mode) {
  return mode == "add"   ? Scatter::Add
         : mode == "mul" ? Scatter::Mul
         : mode == "max" ? Scatter::Max
         : mode == "min" ? Scatter::Min
                         : Scatter::Set;
}

Scatter scatter_of(const Function& f, const Op& op, const Position& here, ExpressionBuilder& expressions) {
  ValueId out = op.output();
  const std::vector<Dim>& sizes = f.type(out).dims;
  const auto& axes = op.attrs.get<std::vector<int64_t>>("axes");
  auto batch = static_cast<size_t>(op.attrs.get<int64_t>("batch"));
  size_t rest = f.type(op.inputs[2]).dims.size();
  Position at_index(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(rest)), to(sizes.size());
  Scatter s{mode_of(op.attrs.get<std::string>("mode")),
            expressions.read(op.inputs[1], here),
            expressions.buffer(out),
            {},
            f.type(out).dtype,
            {}};
  std::vector<bool> indexed(sizes.size());
  for (size_t j = 0; j < axes.size(); ++j) {
    auto axis = static_cast<size_t>(axes[j]);
    NodeId index = expressions.read(op.inputs[j + 2], at_index),
           clamped = expressions.clamped(op.inputs[j + 2], at_index, sizes[axis] - 1);
    s.bounds.push_back({index, clamped});
    to[axis] = Index::node(clamped);
    indexed[axis] = true;
  }
  for (size_t a = 0; a < sizes.size(); ++a)
    if (!indexed[a]) to[a] = a < batch ? here[a] : here[rest++];
  s.address = linear_address(to, sizes);
  return s;
}

}  // namespace

Root Root::store(const Function& f, ValueId v) {
  return {StoreRoot, nullptr, {v}, {}, no_value, f.type(v).dims, {}, f.type(v).dims};
}

Root Root::copy(const Function& f, ValueId to, ValueId from) {
  return {StoreRoot, nullptr, {to}, {from}, no_value, f.type(to).dims, {}, f.type(to).dims};
}

// scatter(x, v, indices…): walked over v, whose leading axes are those of the indices.
Root Root::scatter(const Function& f, const Op& op) {
  Root r{ScatterRoot, &op, {op.output()}, {op.inputs[1]}, no_value, f.type(op.inputs[1]).dims, {}, sizes_of(f, op)};
  for (int64_t k = op.attrs.get<int64_t>("batch"); k < f.type(op.inputs[2]).rank(); ++k) r.reduced.push_back(k);
  return r;
}

Root Root::reduce(const Function& f, const Op& op) {
  Root r{ReduceRoot,
         &op,
         {op.output()},
         {op.inputs[0]},
         no_value,
         f.type(op.inputs[0]).dims,
         op.attrs.get<std::vector<int64_t>>("axes"),
         sizes_of(f, op)};
  return r;
}

Root Root::check(const Function& f, const Op& op) {
  Root r{CheckRoot, &op, {}, op.inputs, no_value, {}, {}, sizes_of(f, op)};
  if (op.attrs.get_or<bool>("has_live", false)) {
    r.live = r.reads.back();
    r.reads.pop_back();
  }
  if (!r.reads.empty())
    r.space = f.type(r.reads[0]).dims;
  else if (r.live != no_value)
    r.space = f.type(r.live).dims;
  return r;
}

Leaves find_leaves(const ValueFacts& facts, const Root& root) {
  LeafFinder finder(facts);
  if (root.kind == Root::StoreRoot && root.reads.empty()) finder.operands(*facts.op(root.outputs[0]), false);
  if (root.kind == Root::ScatterRoot) finder.operands(*root.op, true);
  for (ValueId v : root.reads) finder.visit(v, false);
  if (root.live != no_value) finder.visit(root.live, true);
  return finder.leaves;
}

KernelGroup::KernelGroup(const ValueFacts& facts, Root first, size_t size) : facts_(facts), size_(size) {
  roots_.push_back(std::move(first));
}

Fit KernelGroup::fit() const {
  Fit fit = Fit::Good;
  build(fit);
  return fit;
}

bool KernelGroup::try_add(const Root& root, size_t size) {
  if (size_ + size > largest || !identical(root.space, roots_[0].space)) return false;
  if (root.kind == Root::ScatterRoot || roots_[0].kind == Root::ScatterRoot) return false;
  bool reduces = root.kind == Root::ReduceRoot;
  for (const Root& r : roots_) {
    if (r.kind == Root::ReduceRoot && root.kind == Root::ReduceRoot && r.reduced != root.reduced) return false;
    reduces |= r.kind == Root::ReduceRoot;
  }
  roots_.push_back(root);
  if (reduces && fit() != Fit::Good) {  // without reductions there is always a schedule
    roots_.pop_back();
    return false;
  }
  size_ += size;
  return true;
}

bool KernelGroup::stores(ValueId v) const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [&](const Root& r) { return r.kind == Root::StoreRoot && r.outputs[0] == v; });
}

std::vector<ValueId> KernelGroup::drop_stores(const std::vector<bool>& needed) {
  std::vector<ValueId> dropped;
  auto stays = [&](const Root& r) { return r.kind != Root::StoreRoot || needed[r.outputs[0]]; };
  if (std::none_of(roots_.begin(), roots_.end(), stays)) return dropped;
  std::erase_if(roots_, [&](const Root& r) {
    if (stays(r)) return false;
    dropped.push_back(r.outputs[0]);
    return true;
  });
  return dropped;
}

std::vector<ValueId> KernelGroup::written() const {
  std::vector<ValueId> out;
  for (const Root& r : roots_)  // a scatter finds its result there already
    if (r.kind != Root::ScatterRoot) out.insert(out.end(), r.outputs.begin(), r.outputs.end());
  return out;
}

Kernel KernelGroup::finish() const {
  Fit fit = Fit::Good;
  Kernel k = build(fit);
  TERCET_CHECK(fit != Fit::None);
  return k;
}

Kernel KernelGroup::build(Fit& fit) const {
  const Function& f = facts_.function;
  Kernel k;
  ExpressionBuilder expressions(facts_, k);
  for (const Dim& d : roots_[0].space) k.loops.push_back({d, false});
  for (const Root& r : roots_)
    for (int64_t axis : r.reduced) k.loops[static_cast<size_t>(axis)].reduced = true;
  for (const Root& r : roots_) add(k, expressions, r);
  fit = schedule(k);
  k.cost = cost_of(f, k);
  return k;
}

void KernelGroup::add(Kernel& k, ExpressionBuilder& expressions, const Root& r) const {
  const Function& f = facts_.function;
  const Position here = identity_position(k.loops.size());
  switch (r.kind) {
    case Root::StoreRoot: {
      ValueId v = r.outputs[0];
      NodeId node = r.reads.empty() ? expressions.compute(v, here) : expressions.read(r.reads[0], here);
      k.stores.push_back({node, expressions.buffer(v), linear_address(here, f.type(v).dims), f.type(v).dtype, leading_loops(here)});
      return;
    }
    case Root::ReduceRoot: {
      NodeId node = expressions.read(r.reads[0], here);
      Position kept;
      for (size_t l = 0; l < k.loops.size(); ++l)
        if (!k.loops[l].reduced) kept.push_back(here[l]);
      ValueId v = r.outputs[0];
      k.reductions.push_back({std::get<CodeReduce>(r.op->def->code).kind, node, expressions.buffer(v),
                              linear_address(kept, f.type(v).dims), f.type(v).dtype, leading_loops(kept)});
      return;
    }
    case Root::CheckRoot: {
      Check c{r.op, {}, no_node};
      for (ValueId v : r.reads) c.operands.push_back(expressions.read(v, here));
      if (r.live != no_value) {
        auto lanes = static_cast<std::ptrdiff_t>(f.type(r.live).dims.size());
        c.live = expressions.read(r.live, Position(here.begin(), here.begin() + lanes));
      }
      k.checks.push_back(std::move(c));
      return;
    }
    case Root::ScatterRoot:
      k.scatter = scatter_of(f, *r.op, here, expressions);
      return;
  }
}

bool may_reuse(const Function& f, const Kernel& k, ValueId written, ValueId dying) {
  if (size_of(f.type(written).dtype) != size_of(f.type(dying).dtype) ||
      !identical(f.type(written).dims, f.type(dying).dims))
    return false;
  const Store* store = nullptr;
  for (const Store& s : k.stores)
    if (k.buffers[static_cast<size_t>(s.buffer)] == written) store = &s;
  if (!store) return false;
  for (const Node& n : k.nodes)
    if (n.kind == NodeKind::Load && k.buffers[static_cast<size_t>(n.buffer)] == dying && !(n.address == store->address))
      return false;
  return true;
}

}  // namespace tercet::codegen
