#include "interpreter/ops/control_diff.h"

#include <algorithm>
#include <functional>
#include <map>

#include "interpreter/ir/recursion.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/jit_call.h"

namespace tercet {
namespace {

using Flags = std::vector<bool>;
using Dims = std::vector<Dim>;
using Ids = std::vector<ValueId>;

void append(Ids& to, const Ids& more) { to.insert(to.end(), more.begin(), more.end()); }

/// The body with more of its values as results, and with a `true` of its own if asked for.
FunctionPtr with_results(const Function& body, const Ids& more, bool live) {
  Builder b(body.name);
  std::unordered_map<ValueId, ValueId> values;
  for (ValueId p : body.params) values[p] = b.param(body.type(p));
  DimMap sizes;
  Ids results = rebuild(b, body, values, sizes);
  for (ValueId v : more) results.push_back(values.at(v));
  if (live) results.push_back(b.emit(constant_op, {}, {{"value", scalar_of_int(DType::Bool, 1)}}));
  return b.finish(std::move(results));
}

Flags floats(const std::vector<Type>& types, const Flags& of) {
  Flags out;
  for (size_t i = 0; i < types.size(); ++i) out.push_back(of[i] && is_float(types[i].dtype));
  return out;
}

// ---- loops: what scan and while have in common ----
struct LoopForm {
  explicit LoopForm(const Op& op) : is_scan(op.def == &scan_op), body(*op.bodies[is_scan ? 0 : 1]) {
    carried = static_cast<size_t>(op.attrs.get<int64_t>("carried"));
    consumed = is_scan ? static_cast<size_t>(op.attrs.get<int64_t>("consumed")) : 0;
    captures = op.inputs.size() - carried - consumed;
  }
  bool is_scan;
  const Function& body;
  size_t carried, consumed, captures;
  size_t first() const { return is_scan ? 1 : 0; }   // the body's parameter of carried value 0
};

struct LoopNotes {
  Flags active;        // the body's parameters
  Flags given;         // the body's results that may have cotangents
  Flags taped;         // carried values that are kept for each step
  Pullback pullback;   // for cotangents of all that is `given`; values that it needs are kept
};

/// A carried value is active when it starts so or becomes so.
Flags active_parameters(ForwardContext& c, const LoopForm& loop) {
  Flags active(loop.first(), false);
  const Flags& operands = c.forward().active;
  active.insert(active.end(), operands.begin(), operands.end());
  for (bool changed = true; changed;) {
    changed = false;
    Flags after = c.active_results(loop.body, active);
    for (size_t i = 0; i < loop.carried; ++i)
      if (after[i] && !active[loop.first() + i]) active[loop.first() + i] = changed = true;
  }
  return active;
}

/// The symbol of that number among those that the operation defines.
Dim symbol_of(const Op& op, uint64_t number) {
  for (const Dim& d : op.attrs.get_or<Dims>("defines", {}))
    if (d.symbol_id() == number) return d;
  return 0;
}

/// The loop with sizes that stay as they begin, where its variables' sizes have names that a round might change: whether
/// it does is asked when it runs.
Op with_steady_sizes(ForwardContext& c, Op op) {
  LoopForm loop(op);
  DimMap begins;
  for (size_t i = 0; i < loop.carried; ++i) bind_sizes(loop.body.type(loop.body.params[loop.first() + i]).dims, c.out().type(op.inputs[i]).dims, begins);
  if (begins.empty()) return op;
  Builder b(loop.body.name);
  Ids arguments;
  for (const Type& t : loop.body.param_types()) {
    Type type = t;
    for (Dim& d : type.dims) d = d.substitute(begins);
    arguments.push_back(b.param(type));
  }
  Ids results = inline_function(b, loop.body, arguments);
  for (size_t i = 0; i < loop.carried; ++i) {
    const Type begun = c.out().type(op.inputs[i]), now = b.type(results[i]);
    for (size_t k = 0; k < begun.dims.size(); ++k) {
      if (begun.dims[k] == now.dims[k]) continue;
      Attrs check{{"left", begun.dims[k]}, {"right", now.dims[k]}, {"relation", std::string("equal")},
                  {"message", std::string("no gradient through a loop whose variable changes its size, from {left} to {right}")},
                  {"help", std::string("make it as large as it will become, and fill it in the loop")}};
      b.emit_many(check_dims_op, {}, std::move(check), op.span);
    }
    results[i] = with_type(b, results[i], begun, op.span);
  }
  FunctionPtr body = b.finish(std::move(results));
  for (FunctionPtr& other : op.bodies) other = substitute(other, begins);
  op.bodies.back() = body;
  for (auto& [symbol, size] : begins) c.equate(symbol_of(op, symbol), size);
  return op;
}

PullbackRequest loop_request(const LoopForm& loop, const Flags& active, Flags given, std::vector<uint64_t> own) {
  PullbackRequest request{active, std::move(given), Flags(active.size(), false), true, std::move(own), {}};
  for (size_t i = loop.first() + loop.carried + loop.consumed; i < active.size(); ++i) request.summed[i] = active[i];
  return request;
}

std::vector<uint64_t> own_symbols(const Builder& b, const Op& op, const LoopForm& loop) {
  if (!loop.is_scan) return {};
  std::vector<Type> operands;
  for (ValueId v : op.inputs) operands.push_back(b.type(v));
  return symbols_of_step(loop.body, operands);
}

/// The loop with stacked results for its backward step behind its own: for a while loop which lanes were alive, then
/// carried values as each step found them, then saved ones.
Ids forward_loop(ForwardContext& c) {
  const Op op = with_steady_sizes(c, c.op());
  c.forward().op = op;
  LoopForm loop(op);
  auto notes = std::make_shared<LoopNotes>();
  notes->active = active_parameters(c, loop);
  Flags results = c.active_results(loop.body, notes->active);
  for (size_t i = 0; i < loop.carried; ++i) results[i] = notes->active[loop.first() + i];
  notes->given = floats(loop.body.result_types(), results);
  notes->pullback = c.pull_back(loop.body, loop_request(loop, notes->active, notes->given, own_symbols(c.out(), op, loop)));
  Ids more;
  for (size_t i = 0; i < loop.carried; ++i) {
    notes->taped.push_back(notes->pullback.reads[loop.first() + i]);
    if (notes->taped[i]) more.push_back(loop.body.params[loop.first() + i]);
  }
  append(more, notes->pullback.saved);
  Attrs attrs = op.attrs;
  std::vector<FunctionPtr> bodies = op.bodies;
  bodies.back() = with_results(loop.body, more, !loop.is_scan);
  if (!loop.is_scan && !attrs.has("count")) {
    Dims defines = attrs.get_or<Dims>("defines", {});
    defines.push_back(Dim::symbol("rounds"));
    attrs.set("count", defines.back());
    attrs.set("defines", defines);
  }
  attrs.set("kept", attrs.get_or<int64_t>("kept", 0) + static_cast<int64_t>(more.size() + !loop.is_scan));   // told by `explain`
  Ids all = c.out().emit_many(*op.def, op.inputs, attrs, op.span, std::move(bodies));
  ForwardOp& forward = c.forward();
  forward.op.attrs = std::move(attrs);   // with the number of rounds
  forward.saved.assign(all.begin() + op.outputs, all.end());
  forward.active_results = notes->given;
  forward.notes = std::move(notes);
  return all;
}

/// The backward step as the body of a scan over the loop's steps, from the last. Its parameters:
///   index; carried: cotangents of carried values, sums of captures; consumed: the loop's own, [alive], kept carried
///   values, saved values, cotangents of stacked results; captured: the loop's captures.
class LoopPullback {
 public:
  LoopPullback(ReverseContext& c, const LoopForm& loop, const LoopNotes& notes) : c_(c), b_(c.out()), loop_(loop), notes_(notes), step_("backward") {
    given_ = notes.given;
    for (size_t i = loop.carried; i < given_.size(); ++i) given_[i] = given_[i] && c.cotangent(i) != no_value;
    pullback_ = given_ == notes.given ? notes.pullback
                                      : c.pull_back(loop.body, loop_request(loop, notes.active, given_, own_symbols(b_, c.op(), loop)));
  }

  void run() {
    open();
    Ids gradients = inline_function(step_, *pullback_.function, arguments());
    Ids results = b_.emit_many(scan_op, inputs_, attrs(), c_.op().span, {close(gradients)});
    size_t at = 0;
    for (size_t i = 0; i < loop_.carried; ++i)
      if (active(i)) c_.add(i, results[at++]);
    for (size_t i = 0; i < loop_.captures; ++i)
      if (active(capture(i))) c_.add(capture(i), results[at++]);
    for (size_t i = 0; i < loop_.consumed; ++i)
      if (active(loop_.carried + i)) c_.add(loop_.carried + i, results[at++]);
  }

 private:
  bool active(size_t operand) const { return notes_.active[loop_.first() + operand]; }
  size_t capture(size_t i) const { return loop_.carried + loop_.consumed + i; }
  Type param_type(size_t operand) const { return loop_.body.type(loop_.body.params[loop_.first() + operand]); }
  ValueId pass(ValueId operand, Type type) {
    inputs_.push_back(operand);
    return step_.param(std::move(type));
  }

  /// Operands of the scan with the parameters that stand for them.
  void open() {
    index_ = step_.param({DType::I64, {}});
    for (size_t i = 0; i < loop_.carried; ++i)
      if (active(i)) carried_.push_back(pass(cotangent_or_zeros(c_, i), param_type(i)));
    for (size_t i = 0; i < loop_.captures; ++i)
      if (active(capture(i))) sums_.push_back(pass(take_or_zeros(c_, capture(i)), b_.type(c_.operand(capture(i)))));
    scan_carried_ = inputs_.size();
    for (size_t i = 0; i < loop_.consumed; ++i) slices_.push_back(pass(c_.operand(loop_.carried + i), param_type(loop_.carried + i)));
    open_kept();
    for (size_t i = loop_.carried, row = 0; i < given_.size(); ++i)
      if (given_[i]) stacked_.push_back(pass(c_.cotangent(i), stacked_type(row++)));
    scan_consumed_ = inputs_.size() - scan_carried_;
    for (size_t i = 0; i < loop_.captures; ++i) captures_.push_back(pass(c_.operand(capture(i)), param_type(capture(i))));
    // Where nothing reads a carried value, the one that the loop began with stands for it.
    for (size_t i = 0; i < loop_.carried; ++i)
      unread_.push_back(pullback_.reads[loop_.first() + i] ? no_value : pass(c_.operand(i), param_type(i)));
  }

  void open_kept() {
    const Ids& kept = c_.forward().saved;
    size_t at = 0, taped = static_cast<size_t>(std::count(notes_.taped.begin(), notes_.taped.end(), true));
    if (!loop_.is_scan) alive_ = pass(kept[taped + notes_.pullback.saved.size()], {DType::Bool, {}});
    for (size_t i = 0; i < loop_.carried; ++i) {
      bool read = pullback_.reads[loop_.first() + i];
      if (notes_.taped[i] && read) tape_.push_back(pass(kept[at], param_type(i)));
      at += notes_.taped[i];
    }
    for (ValueId v : pullback_.saved) {
      auto place = static_cast<size_t>(std::find(notes_.pullback.saved.begin(), notes_.pullback.saved.end(), v) - notes_.pullback.saved.begin());
      TERCET_CHECK(place < notes_.pullback.saved.size());
      saved_.push_back(pass(kept[taped + place], loop_.body.type(v)));
    }
  }

  /// The type of one row of a stacked result's cotangent: the pullback's parameter for it.
  Type stacked_type(size_t row) const {
    const Function& f = *pullback_.function;
    size_t carried = static_cast<size_t>(std::count(given_.begin(), given_.begin() + static_cast<std::ptrdiff_t>(loop_.carried), true));
    return f.type(f.params[loop_.body.params.size() + pullback_.saved.size() + carried + row]);
  }

  Ids arguments() {
    Ids out;
    if (loop_.is_scan) out.push_back(index_);
    for (size_t i = 0, at = 0; i < loop_.carried; ++i)
      out.push_back(pullback_.reads[loop_.first() + i] ? tape_[at++] : unread_[i]);
    append(out, slices_);
    append(out, captures_);
    append(out, saved_);
    for (size_t i = 0, at = 0; i < loop_.carried; ++i)
      if (active(i)) {
        if (given_[i]) out.push_back(gated(carried_[at], zeros_of(step_, step_.type(carried_[at]))));
        ++at;
      }
    for (ValueId v : stacked_) out.push_back(gated(v, zeros_of(step_, step_.type(v))));
    append(out, sums_);
    return out;
  }
  /// In a lane that was done nothing happened.
  ValueId gated(ValueId live, ValueId dead) {
    if (alive_ == no_value) return live;
    const Type type = step_.type(live);
    ValueId mask = type.dims.empty() ? alive_ : repeated(step_, alive_, type.dims, {}, {});
    return step_.emit(select_op, {mask, live, dead}, {}, c_.op().span);
  }

  FunctionPtr close(const Ids& gradients) {
    Ids carried, slices, sums;
    size_t at = 0;
    for (size_t i = 0; i < loop_.carried; ++i)
      if (active(i)) {
        carried.push_back(gated(gradients[at], carried_[carried.size()]));
        ++at;
      }
    for (size_t i = 0; i < loop_.consumed; ++i)
      if (active(loop_.carried + i)) slices.push_back(gradients[at++]);
    for (size_t i = 0; i < loop_.captures; ++i)
      if (active(capture(i))) sums.push_back(gradients[at++]);
    append(carried, sums);
    append(carried, slices);
    return step_.finish(std::move(carried));
  }

  Attrs attrs() const {
    const Attrs& own = c_.op().attrs;
    bool backwards = own.get_or<bool>("reverse", false);
    Attrs out{{"length", own.get<Dim>(loop_.is_scan ? "length" : "count")}, {"carried", static_cast<int64_t>(scan_carried_)},
              {"consumed", static_cast<int64_t>(scan_consumed_)}};
    if (!backwards) out.set("reverse", true);
    return out;
  }

  ReverseContext& c_;
  Builder& b_;
  const LoopForm& loop_;
  const LoopNotes& notes_;
  Builder step_;
  Flags given_;
  Pullback pullback_;
  Ids inputs_;
  size_t scan_carried_ = 0, scan_consumed_ = 0;
  ValueId index_ = no_value, alive_ = no_value;
  Ids carried_, sums_, slices_, tape_, saved_, stacked_, captures_, unread_;   // parameters
};

void reverse_loop(ReverseContext& c) {
  const Op op = c.op();
  LoopForm loop(op);
  LoopPullback(c, loop, *static_cast<const LoopNotes*>(c.forward().notes.get())).run();
}

// ---- compiled callees ----
std::string key_of(const Flags& flags) {
  std::string out;
  for (bool f : flags) out += f ? '1' : '0';
  return out;
}

std::shared_ptr<JitEntry> entry_like(const JitEntry& entry, FunctionPtr function) {
  auto out = std::make_shared<JitEntry>();
  out->function = std::move(function);
  out->options = entry.options;
  return out;
}

std::shared_ptr<JitGradient> compiled_gradient(ForwardContext& c, const Flags& active, const Flags& given) {
  JitEntry& entry = jit_entry(c.op().attrs);
  std::scoped_lock lock(entry.mutex);
  std::shared_ptr<JitGradient>& gradient = entry.gradients[key_of(active)];
  if (!gradient) {
    Pullback p = c.pull_back(*entry.function, {active, given, Flags(active.size(), false), true, {}, {}});
    gradient = std::make_shared<JitGradient>();
    gradient->saved = p.saved;
    gradient->forward = entry_like(entry, with_results(*entry.function, p.saved, false));
    gradient->backward = entry_like(entry, p.function);
  }
  return gradient;
}

Ids forward_compiled(ForwardContext& c) {
  const Op op = c.op();
  Flags results = floats(op.bodies[0]->result_types(), c.active_results(*op.bodies[0], c.forward().active));
  std::shared_ptr<JitGradient> gradient = compiled_gradient(c, c.forward().active, results);
  Ids all = emit_jit_call(c.out(), gradient->forward, op.inputs, op.span);
  c.forward().saved.assign(all.begin() + op.outputs, all.end());
  c.forward().active_results = results;
  c.forward().notes = gradient;
  return all;
}

void reverse_compiled(ReverseContext& c) {
  auto* gradient = static_cast<const JitGradient*>(c.forward().notes.get());
  Ids inputs = c.op().inputs;
  append(inputs, c.forward().saved);
  for (size_t i = 0; i < c.forward().active_results.size(); ++i)
    if (c.forward().active_results[i]) inputs.push_back(cotangent_or_zeros(c, i));
  Ids gradients = emit_jit_call(c.out(), gradient->backward, std::move(inputs), c.op().span);
  for (size_t i = 0, at = 0; i < c.op().inputs.size(); ++i)
    if (c.wanted(i)) c.add(i, gradients[at++]);
}

// ---- recursion: the backward step calls itself where the function does, with every float active ----
/// Backward steps that are being made, by the function they belong to.
std::map<const RecursiveCallee*, std::shared_ptr<RecursiveCallee>>& steps_in_progress() {
  static thread_local std::map<const RecursiveCallee*, std::shared_ptr<RecursiveCallee>> map;
  return map;
}

Flags all_floats(const std::vector<Type>& types) { return floats(types, Flags(types.size(), true)); }

struct BackwardStep { std::shared_ptr<RecursiveCallee> callee; FunctionPtr function; };

BackwardStep backward_step(ReverseContext& c, const RecursiveCallee& callee, const FunctionPtr& f) {
  auto& in_progress = steps_in_progress();
  if (auto at = in_progress.find(&callee); at != in_progress.end()) return {at->second, nullptr};
  Flags active = all_floats(f->param_types());
  auto step = std::make_shared<RecursiveCallee>();
  for (size_t i = 0; i < active.size(); ++i)
    if (active[i]) step->results.push_back(f->type(f->params[i]));
  in_progress[&callee] = step;
  Pullback p;
  try {
    p = c.pull_back(*f, {active, all_floats(f->result_types()), Flags(active.size(), false), false, {}, {}});
  } catch (...) {
    in_progress.erase(&callee);
    throw;
  }
  in_progress.erase(&callee);
  step->function = p.function;
  return {step, p.function};
}

void reverse_recursive(ReverseContext& c) {
  Builder& b = c.out();
  const Op op = c.op();
  const RecursiveCallee& callee = recursive_callee(op.attrs);
  FunctionPtr f = callee.function.lock();
  TERCET_CHECK(f);
  BackwardStep step = backward_step(c, callee, f);
  Ids inputs = op.inputs;
  for (size_t i = 0; i < op.outputs; ++i)
    if (is_float(callee.results[i].dtype)) inputs.push_back(cotangent_or_zeros(c, i));
  Dims defines;
  for (const Type& t : step.callee->results)
    for (const Dim& d : t.dims)
      if (!d.constant()) defines.push_back(Dim::symbol("s"));
  Attrs attrs{{"recursive", std::shared_ptr<const void>(step.callee)}, {"defines", defines}};
  // The outermost call owns both functions: inside they know each other weakly.
  std::vector<FunctionPtr> bodies;
  if (step.function) bodies = {step.function, f};
  Ids gradients = b.emit_many(call_op, std::move(inputs), std::move(attrs), op.span, std::move(bodies));
  for (size_t i = 0, at = 0; i < op.inputs.size(); ++i)
    if (is_float(b.type(op.inputs[i]).dtype)) c.add(i, gradients[at++]);
}

}  // namespace

Ids forward_while(ForwardContext& c) { return forward_loop(c); }
void reverse_while(ReverseContext& c) { reverse_loop(c); }
Ids forward_scan(ForwardContext& c) { return forward_loop(c); }
void reverse_scan(ReverseContext& c) { reverse_loop(c); }

/// Operands of the backward branch: predicate, captures, cotangents of the results, sums of active captures.
void reverse_cond(ReverseContext& c) {
  Builder& b = c.out();
  const Op op = c.op();
  Flags active(c.forward().active.begin() + 1, c.forward().active.end()), given;
  Ids inputs = op.inputs;
  for (size_t i = 0; i < op.outputs; ++i) {
    given.push_back(c.cotangent(i) != no_value);
    if (given[i]) inputs.push_back(c.cotangent(i));
  }
  for (size_t i = 0; i < active.size(); ++i)
    if (active[i]) inputs.push_back(take_or_zeros(c, i + 1));
  std::vector<Type> types;
  for (size_t i = 0; i < op.outputs; ++i) types.push_back(b.type(c.result(i)));
  std::vector<FunctionPtr> bodies;
  for (const FunctionPtr& branch : op.bodies) bodies.push_back(c.pull_back(*branch, {active, given, active, false, {}, types}).function);
  Ids sums = b.emit_many(cond_op, std::move(inputs), {}, op.span, std::move(bodies));
  for (size_t i = 0, at = 0; i < active.size(); ++i)
    if (active[i]) c.add(i + 1, sums[at++]);
}

Ids forward_call(ForwardContext& c) {
  if (c.op().attrs.has("jit")) return forward_compiled(c);
  const Op op = c.op();
  return c.out().emit_many(*op.def, op.inputs, op.attrs, op.span, op.bodies);
}

void reverse_call(ReverseContext& c) { c.op().attrs.has("jit") ? reverse_compiled(c) : reverse_recursive(c); }

}  // namespace tercet
