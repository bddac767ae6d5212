#include "codegen/plan/plan.h"

#include <algorithm>
#include <unordered_map>

#include "codegen/plan/affine.h"
#include "codegen/plan/band.h"
#include "codegen/plan/cost.h"
#include "codegen/plan/fusion.h"
#include "codegen/plan/kernel_group.h"
#include "codegen/plan/roles.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {
namespace {

constexpr int farthest = 24;  // steps that a root looks back for a kernel to join; bounds the time to plan

/// Plans one function of a set. Goes through the operations in order; what needs a loop joins an earlier kernel where
/// that is possible and else becomes a new step.
class Planner {
 public:
  using PlanBody = std::function<void(const FunctionPtr&)>;
  Planner(Program& program, ProgramSet& set, const PlanBody& plan_body)
      : p_(program), set_(set), f_(*program.function), plan_body_(plan_body), facts_(choose_fusion(f_)) {}

  void run() {
    made_at_.assign(f_.types.size(), -1);
    read_elsewhere_.assign(f_.types.size(), false);
    for (ValueId r : f_.results) read_elsewhere_[r] = true;
    for (ValueId v : f_.params) bind_shape(v, 0, p_.parameters);
    for (const Op& op : f_.ops)
      if (asked_first(op)) place(op);
    for (const Op& op : f_.ops)
      if (!asked_first(op)) place(op);
    finish_kernels();
    note_sizes();
    find_deaths();
    find_bands(p_);
    p_.sizes.finish();
  }

 private:
  /// Questions about the parameters' sizes alone come first, so that nothing waits for them. (Which failure is told does not
  /// depend on it: after any, the reference runs.)
  bool asked_first(const Op& op) const {
    if (op.def->effect != Effect::Check || !op.inputs.empty() || op.outputs != 0) return false;
    std::vector<uint64_t> symbols;
    for (auto& [name, attr] : op.attrs.items()) for_each_dim(attr, [&](const Dim& d) { d.collect_symbols(symbols); });
    auto of_parameters = [&](uint64_t s) {
      return std::any_of(p_.parameters.begin(), p_.parameters.end(), [&](const Binding& b) { return b.symbol == s; });
    };
    return std::all_of(symbols.begin(), symbols.end(), of_parameters);
  }

  void place(const Op& op) {
    poll();
    Role role = role_of(f_, op);
    switch (role) {
      case Role::Constant:
        p_.constants.emplace_back(op.output(), op.attrs.get<Array>("value"));
        return;
      case Role::Inline:
        if (facts_.in_memory[op.output()]) join(Root::store(f_, op.output()));
        return;
      case Role::Reshape:
        if (facts_.in_memory[op.output()]) reshape(op);
        return;
      case Role::Reduce:
        reduce(op);
        return;
      case Role::Check:
        if (never_fails(facts_, op)) return;
        set_.may_fail = true;
        join(Root::check(f_, op));
        return;
      case Role::Scatter:
        scatter(op);
        return;
      case Role::Native:
        for (const FunctionPtr& body : op.bodies) plan_body_(body);
        add_step({NativeStep{&op}, {}, {}}, op);
    }
  }

  void reshape(const Op& op) {
    if (!facts_.in_memory[op.inputs[0]] || f_.type(op.inputs[0]).dims.empty())
      return join(Root::store(f_, op.output()));
    add_plain_step({AliasStep{op.output(), op.inputs[0]}, {}, {}}, op.output(), op.inputs[0]);
  }

  /// A reduction whose operand is computed in an order that no schedule walks gets the operand from memory.
  void reduce(const Op& op) {
    Root root = Root::reduce(f_, op);
    ValueId x = op.inputs[0];
    if (!facts_.in_memory[x] && KernelGroup(facts_, root, 1).fit() != Fit::Good) {
      facts_.in_memory[x] = true;
      join(Root::store(f_, x));
    }
    join(root);
  }

  /// The result starts as the values of operand 0; a kernel of its own then combines into it.
  void scatter(const Op& op) {
    ValueId from = op.inputs[0], to = op.output();
    if (facts_.in_memory[from])
      add_plain_step({CopyStep{to, from}, {}, {}}, to, from);
    else
      join(Root::copy(f_, to, from));
    Root root = Root::scatter(f_, op);
    read_elsewhere_[to] = true;
    add_kernel(root, find_leaves(facts_, root));
  }
  void add_kernel(const Root& root, const Leaves& leaves) {
    groups_.push_back(std::make_unique<KernelGroup>(facts_, root, leaves.visited));
    p_.steps.push_back({KernelStep{}, {}, {}});
    made(root, leaves, static_cast<int>(groups_.size()) - 1);
  }
  void add_plain_step(Step step, ValueId made, ValueId read) {
    read_elsewhere_[read] = true;
    p_.steps.push_back(std::move(step));
    groups_.emplace_back();
    made_at_[made] = static_cast<int>(p_.steps.size()) - 1;
  }

  void join(const Root& root) {
    Leaves leaves = find_leaves(facts_, root);
    int earliest = earliest_step(root, leaves);
    earliest = std::max(earliest, static_cast<int>(groups_.size()) - farthest);
    for (int at = static_cast<int>(groups_.size()) - 1; at >= earliest; --at) {
      auto& group = groups_[static_cast<size_t>(at)];
      if (group && can_join(at, leaves) && group->try_add(root, leaves.visited)) return made(root, leaves, at);
    }
    add_kernel(root, leaves);
  }
  void made(const Root& root, const Leaves& leaves, int step) {
    for (const Leaf& l : leaves.values)
      if (made_at_[l.value] != step) read_elsewhere_[l.value] = true;
    for (ValueId v : root.outputs) made_at_[v] = step;
  }
  /// The first step at which everything the root reads and measures is there (steps before it are too early).
  int earliest_step(const Root& root, const Leaves& leaves) const {
    int earliest = last_check_ + 1;  // a check of sizes guards what stands behind it
    for (const Leaf& l : leaves.values) earliest = std::max(earliest, made_at_[l.value]);
    std::vector<uint64_t> symbols;
    for (const Dim& d : root.sizes) d.collect_symbols(symbols);
    for (const Dim& d : leaves.sizes) d.collect_symbols(symbols);
    for (uint64_t s : symbols) earliest = std::max(earliest, p_.sizes.stage(s));
    return earliest;
  }
  /// Values made by step `at` itself can be read in it only at the point that is being computed.
  bool can_join(int at, const Leaves& leaves) const {
    for (const Leaf& l : leaves.values)
      if (made_at_[l.value] == at && (l.moved || !groups_[static_cast<size_t>(at)]->stores(l.value))) return false;
    return true;
  }

  void add_step(Step step, const Op& op) {
    p_.needs_environment = true;
    if (has_effects(op)) set_.may_fail = true;
    int at = static_cast<int>(p_.steps.size());
    if (op.def->effect == Effect::Check) last_check_ = at;
    for (ValueId v : op.inputs) read_elsewhere_[v] = true;
    for (uint32_t i = 0; i < op.outputs; ++i) made_at_[op.output(i)] = at;
    // Other symbols in the types of its results are those of an enclosing function.
    if (const Attr* defines = op.attrs.find("defines")) {
      std::vector<uint64_t> ids;
      for_each_dim(*defines, [&](const Dim& d) { ids.push_back(d.symbol_id()); });
      for (uint32_t i = 0; i < op.outputs; ++i) bind_shape(op.output(i), at + 1, step.binds, &ids);
      for (uint64_t id : ids) {
        if (p_.sizes.defined(id)) continue;
        step.binds.push_back({id, p_.sizes.symbol(id)});
        p_.sizes.define(id, at + 1);
      }
    }
    p_.steps.push_back(std::move(step));
    groups_.emplace_back();
  }
  /// Bare symbols seen for the first time (of `only`, when given) get their value from this array's shape.
  void bind_shape(ValueId v, int stage, std::vector<Binding>& binds, const std::vector<uint64_t>* only = nullptr) {
    const std::vector<Dim>& dims = f_.type(v).dims;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (uint64_t id = dims[axis].symbol_id(); id && !p_.sizes.defined(id)) {
        if (only && std::find(only->begin(), only->end(), id) == only->end()) continue;
        binds.push_back({id, p_.sizes.symbol(id), v, axis});
        p_.sizes.define(id, stage);
      }
  }

  void finish_kernels() {
    for (size_t at = 0; at < groups_.size(); ++at) {
      if (!groups_[at]) continue;
      // What only its own kernel reads never goes to memory.
      for (ValueId v : groups_[at]->drop_stores(read_elsewhere_)) facts_.in_memory[v] = false;
      KernelStep step{p_.kernels.size(), {}, {}, groups_[at]->written(), {}};
      step.reuse.assign(step.written.size(), no_value);
      p_.kernels.push_back(groups_[at]->finish());
      p_.steps[at].what = std::move(step);
    }
  }

  void note_sizes() {
    for (const Kernel& k : p_.kernels)
      for (const Dim& d : k.sizes()) p_.sizes.slot(d);
    p_.shapes.resize(f_.types.size());
    for (Step& step : p_.steps) {
      if (auto* kernel = std::get_if<KernelStep>(&step.what)) {
        for (ValueId v : kernel->written) p_.shapes[v] = p_.sizes.slots(f_.type(v).dims);
        const Kernel& k = p_.kernels[kernel->kernel];
        for (const Loop& l : k.loops) kernel->extents.push_back(p_.sizes.slot(l.extent));
        if (!k.scatter) note_bounds(k, kernel->bounds);
      }
      if (auto* alias = std::get_if<AliasStep>(&step.what))
        p_.shapes[alias->to] = p_.sizes.slots(f_.type(alias->to).dims);
      if (auto* native = std::get_if<NativeStep>(&step.what)) note_environment(*native->op);
    }
  }
  void note_bounds(const Kernel& k, std::vector<SizeSlot>& bounds) {
    for (const Node& n : k.nodes)
      if (n.kind == NodeKind::Clamp && n.bound.constant().value_or(-1) < 0) bounds.push_back(p_.sizes.slot(n.bound));
    if (!bounds.empty()) set_.may_fail = true;
  }
  /// Symbols that a native step may look up.
  void note_environment(const Op& op) {
    for (auto& [name, attr] : op.attrs.items()) for_each_dim(attr, [&](const Dim& d) { note_symbols(d); });
    for (ValueId v : op.inputs)
      for (const Dim& d : f_.type(v).dims) note_symbols(d);
    for (uint32_t i = 0; i < op.outputs; ++i)
      for (const Dim& d : f_.type(op.output(i)).dims) note_symbols(d);
    std::vector<uint64_t> of_bodies;
    for (const FunctionPtr& body : op.bodies) collect_symbols(*body, of_bodies);
    for (uint64_t s : of_bodies)
      if (p_.sizes.defined(s)) p_.sizes.symbol(s);
  }
  void note_symbols(const Dim& d) {
    std::vector<uint64_t> symbols;
    d.collect_symbols(symbols);
    for (uint64_t s : symbols) p_.sizes.symbol(s);
  }

  void find_deaths() {
    std::vector<bool> needed(f_.types.size(), false);
    for (ValueId r : f_.results) needed[r] = true;
    for (const auto& [v, array] : p_.constants) needed[v] = true;
    for (size_t at = p_.steps.size(); at-- > 0;) {
      Step& step = p_.steps[at];
      for (ValueId v : read_by(p_, step))
        if (!needed[v]) {
          needed[v] = true;
          step.dies.push_back(v);
        }
      if (auto* kernel = std::get_if<KernelStep>(&step.what)) choose_reuse(*kernel, step.dies);
    }
  }
  void choose_reuse(KernelStep& step, const std::vector<ValueId>& dies) {
    const Kernel& k = p_.kernels[step.kernel];
    std::vector<ValueId> free = dies;
    for (size_t w = 0; w < step.written.size(); ++w)
      for (size_t i = 0; i < free.size(); ++i)
        if (may_reuse(f_, k, step.written[w], free[i])) {
          step.reuse[w] = free[i];
          free.erase(free.begin() + static_cast<std::ptrdiff_t>(i));
          break;
        }
  }

  Program& p_;
  ProgramSet& set_;
  const Function& f_;
  const PlanBody& plan_body_;
  ValueFacts facts_;
  std::vector<bool> read_elsewhere_;                  // a value is a result or read outside the kernel that makes it
  int last_check_ = -1;                               // step of the last native check
  std::vector<int> made_at_;                          // step that makes a value; -1: there from the start
  std::vector<std::unique_ptr<KernelGroup>> groups_;  // per step; null where it is not a kernel
};

}  // namespace

ProgramSet plan(const FunctionPtr& function, bool fast_math) {
  ProgramSet set;
  Planner::PlanBody plan_function = [&](const FunctionPtr& f) {
    if (set.of_function.contains(f.get())) return;
    Program& program = *set.programs.emplace_back(std::make_unique<Program>());
    program.function = f;
    program.number = set.programs.size() - 1;
    set.of_function.emplace(f.get(), &program);
    Planner(program, set, plan_function).run();
  };
  plan_function(function);
  find_loops(set);
  for (auto& program : set.programs)
    for (Kernel& kernel : program->kernels) kernel.fast_math = fast_math;
  return set;
}

}  // namespace tercet::codegen
