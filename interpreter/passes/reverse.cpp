#include "interpreter/passes/reverse.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpreter/ir/jit_entry.h"
#include "interpreter/ir/recursion.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/effects.h"

namespace tercet {
namespace {

template <class... F> struct Cases : F... { using F::operator()...; };
template <class... F> Cases(F...) -> Cases<F...>;

/// Is the value costly to compute again, beside what keeping it takes?
bool worth_saving(const OpDef& def) {
  return std::visit(Cases{[](const CodeReduce&) { return true; }, [](const CodeScan&) { return true; },
                          [](const CodeScatter&) { return true; }, [](const CodeContract&) { return true; },
                          [](const CodeCall&) { return true; }, [](const CodeControl&) { return true; },
                          [](const auto&) { return false; }}, def.code);
}

bool differentiable(const OpDef& def) { return !std::holds_alternative<NotDifferentiable>(def.diff); }

bool mentions_any(const Type& type, const std::vector<uint64_t>& symbols) {
  return std::any_of(type.dims.begin(), type.dims.end(), [&](const Dim& d) { return mentions(d, symbols); });
}

/// The same function without some parameters, which it does not read.
FunctionPtr without_params(const FunctionPtr& f, const std::vector<bool>& drop) {
  auto out = std::make_shared<Function>(*f);
  std::vector<ValueId> kept;
  for (size_t i = 0; i < f->params.size(); ++i)
    if (!drop[i]) kept.push_back(f->params[i]);
  out->params = kept;
  compact(*out, std::vector<bool>(f->ops.size(), true));
  return out;
}

std::vector<bool> read_params(const Function& f) {
  std::vector<bool> read(f.types.size());
  for (const Op& op : f.ops)
    for (ValueId v : op.inputs) read[v] = true;
  for (ValueId r : f.results) read[r] = true;
  std::vector<bool> out;
  for (ValueId p : f.params) out.push_back(read[p]);
  return out;
}

/// The compiled callee without its effects.
std::shared_ptr<const void> pure_entry(JitEntry& entry) {
  std::scoped_lock lock(entry.mutex);
  if (!entry.pure) {
    entry.pure = std::make_shared<JitEntry>();
    entry.pure->function = without_effects(entry.function);
    entry.pure->options = entry.options;
  }
  return entry.pure;
}

/// The same function, calling `to` where it called `from`.
FunctionPtr calling(const FunctionPtr& f, const void* from, const std::shared_ptr<const void>& to) {
  auto out = std::make_shared<Function>(*f);
  for (Op& op : out->ops) {
    if (op.attrs.has("recursive") && op.attrs.get<std::shared_ptr<const void>>("recursive").get() == from) op.attrs.set("recursive", to);
    for (FunctionPtr& body : op.bodies) body = calling(body, from, to);
  }
  return out;
}

/// A call of a function that calls itself becomes one of the same without effects, which the call owns.
void make_pure(Op& call) {
  const RecursiveCallee& callee = recursive_callee(call.attrs);
  // A call that brings its function along: that one may stand inside of a copy, and calls what the copy calls.
  FunctionPtr f = call.bodies.empty() ? callee.function.lock() : call.bodies[0];
  if (!f || callee.pure || (call.bodies.empty() && !has_effects(*f))) return;
  auto pure = std::make_shared<RecursiveCallee>();
  pure->results = callee.results;
  pure->pure = true;
  FunctionPtr function = calling(without_effects(f), &callee, pure);
  pure->function = function;
  call.attrs.set("recursive", std::shared_ptr<const void>(pure));
  call.bodies = {function};
}

}  // namespace

class ReverseMode::Forward final : public ForwardContext {
 public:
  Forward(ReverseMode& mode, ForwardOp& forward) : mode_(mode), forward_(forward) {}
  Builder& out() override { return mode_.out_; }
  ForwardOp& forward() override { return forward_; }
  Pullback pull_back(const Function& body, const PullbackRequest& request) override { return ReverseMode::pull_back(body, request); }
  void equate(const Dim& defined, const Dim& size) override {
    for (auto& [symbol, dim] : mode_.sizes_) dim = dim.substitute({{defined.symbol_id(), size}});
    mode_.sizes_[defined.symbol_id()] = size;
  }
  std::vector<bool> active_results(const Function& body, const std::vector<bool>& active) const override {
    return ReverseMode::active_results(body, active);
  }

 private:
  ReverseMode& mode_;
  ForwardOp& forward_;
};

class ReverseMode::Reverse final : public ReverseContext {
 public:
  Reverse(ReverseMode& mode, const Step& step) : mode_(mode), step_(step) {}
  Builder& out() override { return mode_.out_; }
  const ForwardOp& forward() const override { return step_.forward; }
  ValueId cotangent(size_t result) const override {
    auto at = mode_.cotangents_.find(step_.first_output + static_cast<ValueId>(result));
    return at == mode_.cotangents_.end() ? no_value : at->second;
  }
  void add(size_t operand, ValueId cotangent) override {
    if (wanted(operand) && cotangent != no_value) mode_.add(step_.inputs[operand], cotangent, op().span);
  }
  ValueId take(size_t operand) override {
    auto at = mode_.cotangents_.find(step_.inputs[operand]);
    if (at == mode_.cotangents_.end()) return no_value;
    ValueId sum = at->second;
    mode_.cotangents_.erase(at);
    return sum;
  }
  Pullback pull_back(const Function& body, const PullbackRequest& request) override { return ReverseMode::pull_back(body, request); }
  bool any_cotangent() const {
    for (size_t i = 0; i < forward().results.size(); ++i)
      if (cotangent(i) != no_value) return true;
    return false;
  }
  /// Elementwise: every operand's partial derivative times the cotangent.
  void by_partials(PartialFn partial) {
    for (size_t i = 0; i < op().inputs.size(); ++i) {
      if (!wanted(i)) continue;
      ValueId p = partial(out(), op(), i);
      if (p != no_value) add(i, out().emit(strong_mul_op, {cotangent(0), p}, {}, op().span));
    }
  }

 private:
  ReverseMode& mode_;
  const Step& step_;
};

std::vector<bool> ReverseMode::active_operands(const Op& op) const {
  std::vector<bool> out;
  for (ValueId v : op.inputs) out.push_back(active_[v]);
  return out;
}

std::vector<ValueId> ReverseMode::emit(Op op) {
  return out_.emit_many(*op.def, std::move(op.inputs), std::move(op.attrs), op.span, std::move(op.bodies));
}

/// In a pullback: a costly value that is not on the way of the derivative itself is brought in, if its sizes are known
/// outside. (What is active and has bodies runs again anyway, for what it keeps.)
bool ReverseMode::bring_saved(const Function& f, const Op& op) {
  if (!replay_->may_save || !worth_saving(*op.def) || op.attrs.has("defines")) return false;
  std::vector<bool> active = active_operands(op);
  bool any = std::find(active.begin(), active.end(), true) != active.end();
  if (any && std::holds_alternative<CodeControl>(op.def->code)) return false;
  for (uint32_t i = 0; i < op.outputs; ++i) {
    const Type& type = f.type(op.output(i));
    if (!is_number(type.dtype) || type.is_ragged() || mentions_any(type, replay_->own_symbols)) return false;
  }
  for (uint32_t i = 0; i < op.outputs; ++i) {
    ValueId parameter = out_.param(f.type(op.output(i)));
    values_[op.output(i)] = parameter;
    replay_->saved.push_back(op.output(i));
    replay_->parameters.push_back(parameter);
  }
  return true;
}

/// The operation's bodies and callees in out(); in a pullback without their effects.
void ReverseMode::bring_bodies(const Op& op, Op& emitted) const {
  for (const FunctionPtr& body : op.bodies) {
    FunctionPtr own = substitute(body, sizes_);
    emitted.bodies.push_back(replay_ ? without_effects(own) : own);
  }
  if (!replay_) return;
  if (op.attrs.has("jit") && has_effects(*op.bodies[0])) emitted.attrs.set("jit", pure_entry(jit_entry(op.attrs)));
  if (op.attrs.has("recursive")) make_pure(emitted);
}

void ReverseMode::step(const Function& f, const Op& op) {
  if (replay_ && op.outputs == 0) return;   // checks and output happened already
  std::vector<bool> active = active_operands(op);
  bool any = std::find(active.begin(), active.end(), true) != active.end() && differentiable(*op.def);
  bool saved = replay_ && bring_saved(f, op);
  Op emitted{op.def, {}, 0, op.outputs, {}, {}, op.span};
  for (ValueId v : op.inputs) emitted.inputs.push_back(values_.at(v));
  std::vector<ValueId> results;
  ForwardOp forward;
  emitted.attrs = rewrite_attrs(op.attrs, sizes_);
  if (!saved) bring_bodies(op, emitted);
  forward.op = emitted;
  forward.active = active;
  auto* rule = std::get_if<ByRule>(&op.def->diff);
  if (saved) {
    for (uint32_t i = 0; i < op.outputs; ++i) results.push_back(values_.at(op.output(i)));
  } else if (any && rule && rule->forward) {
    Forward context(*this, forward);
    results = rule->forward(context);
  } else {
    results = emit(std::move(emitted));
  }
  for (uint32_t i = 0; i < op.outputs; ++i) {
    values_[op.output(i)] = results[i];
    bool on = any && is_float(out_.type(results[i]).dtype);
    active_[op.output(i)] = on && (forward.active_results.empty() || forward.active_results[i]);
  }
  if (!any) return;
  results.resize(op.outputs);
  if (op.outputs) forward.op.first_output = results[0];
  forward.results = std::move(results);
  steps_.push_back({std::move(forward), op.inputs, op.first_output});
}

std::vector<ValueId> ReverseMode::forward(const Function& f, std::span<const ValueId> arguments, const std::vector<bool>& active) {
  f_ = &f;
  active_.assign(f.types.size(), false);
  for (size_t i = 0; i < f.params.size(); ++i) {
    values_[f.params[i]] = arguments[i];
    active_[f.params[i]] = active[i];
    bind_sizes(f.type(f.params[i]).dims, out_.type(arguments[i]).dims, sizes_);
  }
  for (const Op& op : f.ops) step(f, op);
  std::vector<ValueId> results;
  for (ValueId r : f.results) results.push_back(values_.at(r));
  return results;
}

void ReverseMode::add(ValueId v, ValueId cotangent, Span span) {
  cotangent = with_type(out_, cotangent, out_.type(values_.at(v)), span);
  auto [at, first] = cotangents_.try_emplace(v, cotangent);
  if (!first) at->second = out_.emit(add_op, {at->second, cotangent}, {}, span);
}

void ReverseMode::backward(std::span<const ValueId> cotangents) {
  for (size_t i = 0; i < f_->results.size(); ++i)
    if (cotangents[i] != no_value && active_[f_->results[i]]) add(f_->results[i], cotangents[i], {});
  for (size_t at = steps_.size(); at-- > 0;) {
    const Step& step = steps_[at];
    Reverse context(*this, step);
    if (!context.any_cotangent()) continue;
    const Op& op = context.op();
    std::visit(Cases{[&](const ByPartials& d) { context.by_partials(d.partial); },
                     [&](const Linear& d) { d.transpose(context); },
                     [&](const Multilinear& d) { d.transpose(context); },
                     [&](const ByRule& d) { d.reverse(context); },
                     [&](const NotDifferentiable&) {},
                     [&](const NotYet& d) { fail(Kind::Unsupported, op.span, fmt::format("no gradient through `{}` yet: {}", op.def->name, d.why)); }},
               op.def->diff);
  }
}

ValueId ReverseMode::gradient(size_t parameter) const {
  auto at = cotangents_.find(f_->params[parameter]);
  return at == cotangents_.end() ? no_value : at->second;
}

ValueId ReverseMode::gradient_or_zeros(size_t parameter) {
  ValueId g = gradient(parameter);
  return g != no_value ? g : zeros_of(out_, out_.type(values_.at(f_->params[parameter])));
}

std::vector<bool> ReverseMode::active_results(const Function& body, const std::vector<bool>& active) {
  std::vector<bool> on(body.types.size());
  for (size_t i = 0; i < body.params.size(); ++i) on[body.params[i]] = active[i];
  for (const Op& op : body.ops) {
    bool any = differentiable(*op.def) && std::any_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) { return on[v]; });
    for (uint32_t i = 0; i < op.outputs; ++i) on[op.output(i)] = any && is_float(body.type(op.output(i)).dtype);
  }
  std::vector<bool> out;
  for (ValueId r : body.results) out.push_back(on[r]);
  return out;
}

Pullback ReverseMode::pull_back(const Function& body, const PullbackRequest& request) {
  Builder inner(body.name);
  ReverseMode mode(inner);
  mode.replay_ = Replay{request.may_save, request.own_symbols, {}, {}};
  std::vector<uint64_t> defined;
  collect_defined(body, defined);
  mode.replay_->own_symbols.insert(mode.replay_->own_symbols.end(), defined.begin(), defined.end());
  std::vector<ValueId> params;
  for (const Type& type : body.param_types()) params.push_back(inner.param(type));
  std::vector<ValueId> results = mode.forward(body, params, request.active);

  const Replay& replay = *mode.replay_;
  std::vector<ValueId> order = params, cotangents(results.size(), no_value);
  order.insert(order.end(), replay.parameters.begin(), replay.parameters.end());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!request.given[i]) continue;
    Type type = request.result_types.empty() ? body.type(body.results[i]) : request.result_types[i];
    for (Dim& d : type.dims)   // sizes that only the body knows get names, which the argument's shape binds
      if (mentions(d, defined)) d = Dim::symbol("s");
    order.push_back(cotangents[i] = inner.param(type));
  }
  for (size_t i = 0; i < params.size(); ++i)
    if (request.summed[i]) order.push_back(mode.cotangents_[body.params[i]] = inner.param(inner.type(params[i])));
  mode.backward(cotangents);
  std::vector<ValueId> gradients;
  for (size_t i = 0; i < params.size(); ++i)
    if (request.active[i]) gradients.push_back(mode.gradient_or_zeros(i));
  inner.set_params(order);

  Pullback out;
  out.function = inner.finish(gradients);
  std::vector<bool> read = read_params(*out.function), drop(read.size());
  out.reads.assign(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(params.size()));
  for (size_t k = 0; k < replay.saved.size(); ++k) {
    drop[params.size() + k] = !read[params.size() + k];
    if (read[params.size() + k]) out.saved.push_back(replay.saved[k]);
  }
  out.function = without_params(out.function, drop);
  return out;
}

}  // namespace tercet
