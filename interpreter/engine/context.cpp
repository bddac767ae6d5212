#include "interpreter/engine/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "interpreter/engine/call_place.h"
#include "interpreter/engine/evaluate.h"
#include "interpreter/ir/recursion.h"
#include "interpreter/ir/rewrite.h"

namespace tercet {
namespace {

/// Lanes compare outermost axis first; an effect on values that all lanes share counts as the first lane's.
bool before(const LaneIndex& a, const LaneIndex& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    int64_t x = i < a.size() ? a[i] : 0, y = i < b.size() ? b[i] : 0;
    if (x != y) return x < y;
  }
  return false;
}

/// A name for the variant that arguments of these sizes need: which of them are 1.
std::string variant_key(const Function& f, std::span<const Array> arguments) {
  std::string key;
  for (size_t i = 0; i < f.params.size(); ++i)
    for (size_t k = 0; k < arguments[i].shape.size(); ++k) key += arguments[i].shape[k] == 1 ? '1' : 'n';
  return key;
}

/// Why a variant for these arguments is compiled that the entry does not have.
std::string reason_for(const JitEntry& entry, std::span<const Array> arguments) {
  if (entry.variants.size() <= 1)   // it has its own, empty
    return entry.counter->compiled.load() == 0 ? "a function that is new" : "arguments of other types, or a size that has to be known";
  std::string ones;
  for (size_t i = 0; i < arguments.size(); ++i)
    for (size_t k = 0; k < arguments[i].shape.size(); ++k)
      if (arguments[i].shape[k] == 1) ones += fmt::format("{}axis {} of array {}", ones.empty() ? "" : ", ", k, i + 1);
  return ones.empty() ? "sizes of which none is 1" : fmt::format("sizes that are 1: {}", ones);
}

/// The function for sizes of which it is known whether they are 1.
FunctionPtr specialized(const FunctionPtr& f, std::span<const Array> arguments) {
  DimMap map;
  for (size_t i = 0; i < f->params.size(); ++i) {
    const std::vector<Dim>& dims = f->type(f->params[i]).dims;
    for (size_t k = 0; k < dims.size(); ++k)
      if (uint64_t id = dims[k].symbol_id()) map[id] = arguments[i].shape[k] == 1 ? Dim(1) : Dim::symbol(dims[k].text(), true);
  }
  return substitute(f, map);
}

}  // namespace

std::vector<Array> Session::Context::run_body(const Function& body, std::vector<Array> arguments) {
  return evaluate(body, *this, std::move(arguments));
}

std::optional<std::vector<Array>> Session::Context::run_loop(const Function& f, const Op& op, std::span<Array> operands, int64_t steps) {
  if (by_reference_) return std::nullopt;
  if (!hot_loops_) hot_loops_ = new_hot_loops(session_);
  std::shared_ptr<const Executable> code = hot_loops_->code_for(f, op, dims, steps);
  if (!code) return std::nullopt;
  return code->run(*this, {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())});
}

std::vector<Array> Session::Context::call(const Op& op, std::vector<Array> arguments) {
  return at_call(call_span_, op.span, [&] { return run_callee(op, std::move(arguments)); });
}

std::vector<Array> Session::Context::run_callee(const Op& op, std::vector<Array> arguments) {
  check_stack(op.span);
  if (++call_depth_ > session_.options_.call_depth) {   // the stack may end first
    call_depth_ = 0;
    fail(Kind::Limit, op.span, "functions call each other too deeply", "endless recursion? add a case that ends it");
  }
  DimEnv outer;
  std::swap(outer, dims);
  std::vector<Array> out;
  if (op.attrs.has("recursive")) {
    FunctionPtr f = op.bodies.empty() ? recursive_callee(op.attrs).function.lock() : op.bodies[0];
    TERCET_CHECK(f);
    out = evaluate(*f, *this, std::move(arguments));
  } else if (op.attrs.has("explain")) {
    std::string text = explanation(op, arguments);
    std::string_view view(text.data(), text.size() - 1);   // its last line needs no end
    out = {Array::strings({&view, 1}).reshaped({})};
  } else if (op.attrs.has("jit") && session_.options_.backend && !by_reference_) {
    out = call_compiled(jit_entry(op.attrs), std::move(arguments));
  } else {
    out = evaluate(*op.bodies[0], *this, std::move(arguments));
  }
  std::swap(outer, dims);
  --call_depth_;
  return out;
}

std::vector<Array> Session::Context::call_compiled(JitEntry& entry, std::vector<Array> arguments) {
  return compiled(entry, arguments)->run(*this, std::move(arguments));
}

std::shared_ptr<const Executable> Session::Context::compiled(JitEntry& entry, std::span<const Array> arguments) {
  std::string key = variant_key(*entry.function, arguments);
  std::unique_lock lock(entry.mutex, std::try_to_lock);
  while (!lock && !lock.try_lock()) {   // another thread compiles it
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    poll();
  }
  auto& variant = entry.variants[key];
  if (!variant) {
    CompileOptions options = session_.options_.compile;
    if (entry.options.threads > 0) options.threads = static_cast<int>(entry.options.threads);
    options.fast_math = entry.options.fast_math;
    std::string reason = reason_for(entry, arguments);
    variant = session_.options_.backend->compile(specialized(entry.function, arguments), options);
    entry.reasons[key] = std::move(reason);
    entry.counter->compiled.fetch_add(1);
  }
  return std::static_pointer_cast<const Executable>(variant);
}

std::string Session::Context::explanation(const Op& op, std::span<const Array> arguments) {
  JitEntry& entry = jit_entry(op.attrs);
  std::string types;
  for (const Array& a : arguments) types += (types.empty() ? "" : ", ") + type_text(Value(a));
  std::string out = fmt::format("{}({})\n", op.attrs.get<std::string>("name"), types);
  if (!session_.options_.backend) return out + "this build has no compiler: calls run on the interpreter\n";
  bool before = entry.variants.count(variant_key(*entry.function, arguments)) != 0;
  std::shared_ptr<const Executable> executable = compiled(entry, arguments);
  return out + fmt::format("made {} for {}\n", before ? "by an earlier call" : "now", entry.reasons[variant_key(*entry.function, arguments)]) +
         executable->explain(arguments);
}

LaneIndex Session::Context::whole_lane(LaneIndex inner) const {
  inner.insert(inner.begin(), lanes_.begin(), lanes_.end());
  return inner;
}

LaneIndex Session::Context::running_lane() const {
  LaneIndex out = around_;
  out.insert(out.end(), lanes_.begin(), lanes_.end());
  return out;
}

void Session::Context::report(Diagnostic diagnostic, LaneIndex lane) {
  // No lane comes before the first, and lanes that run one by one have those before them behind: this failure is the
  // one. A size that fails, which all lanes share, is reported so, and there would be nothing to go on with.
  bool ends_region = region_depth_ > 0 && std::all_of(lane.begin(), lane.end(), [](int64_t i) { return i == 0; });
  lane = whole_lane(std::move(lane));
  diagnostic.row.assign(lane.rbegin(), lane.rend());
  set_call_span(diagnostic, call_span_);
  if (region_depth_ == 0) throw Failure(std::move(diagnostic));
  LaneIndex known;
  if (failure_) known.assign(failure_->row.rbegin(), failure_->row.rend());
  if (!failure_ || before(lane, known)) {
    failure_ = std::move(diagnostic);
    failure_at_ = lines_.size();
  }
  if (!ends_region) return;
  region_depth_ = 1;
  lanes_.clear();
  end_region();
}

void Session::Context::print(std::string text, LaneIndex lane) {
  if (region_depth_ == 0) output({whole_lane(std::move(lane)), std::move(text)});
  else lines_.push_back({whole_lane(std::move(lane)), std::move(text)});
}

void Session::Context::output(Line line) {
  if (devices_) printed_.push_back(std::move(line));
  else session_.options_.write(line.text);
}

void Session::Context::begin_region() { ++region_depth_; }

void Session::Context::end_region() {
  if (--region_depth_ > 0) return;
  keys().end_lanes();
  std::vector<Line> lines = std::move(lines_);
  std::optional<Diagnostic> failure = std::move(failure_);
  lines_.clear();
  failure_.reset();
  LaneIndex failed;
  if (failure) {
    failed.assign(failure->row.rbegin(), failure->row.rend());
    // What the failing lane prints later, and all later lanes, did not happen.
    std::vector<Line> kept;
    for (size_t i = 0; i < lines.size(); ++i)
      if (before(lines[i].lane, failed) || (!before(failed, lines[i].lane) && i < failure_at_)) kept.push_back(std::move(lines[i]));
    lines = std::move(kept);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return before(a.lane, b.lane); });
  for (Line& line : lines) output(std::move(line));
  if (failure) throw Failure(std::move(*failure));
}

void Session::Context::poll() {
  if (devices_) devices_->poll();
  if (session_.interrupts_->load(std::memory_order_relaxed) != seen_interrupts_ || (session_.options_.stop && session_.options_.stop())) fail(Kind::Interrupt, {}, "interrupted");
  if (deadline_ && std::chrono::steady_clock::now() > *deadline_)
    fail_bound(Kind::Limit, Bound::Deadline, {}, fmt::format("this took longer than its limit of {} ms", session_.options_.deadline_ms));
}

}  // namespace tercet
