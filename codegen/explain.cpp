#include "codegen/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "codegen/plan/fusion.h"
#include "codegen/run/band.h"
#include "codegen/run/launch.h"

namespace tercet::codegen {
namespace {

using Bytes = std::optional<int64_t>;  // nothing: known only when it runs

Bytes operator+(Bytes a, Bytes b) { return a && b ? Bytes(*a + *b) : std::nullopt; }

std::string text_of(Bytes bytes) {
  if (!bytes) return "a number of bytes known when it runs";
  double x = static_cast<double>(*bytes);
  if (x < 1e4) return fmt::format("{} B", *bytes);
  if (x < 1e6) return fmt::format("{:.0f} kB", x / 1e3);
  if (x < 1e9) return fmt::format("{:.1f} MB", x / 1e6);
  return fmt::format("{:.2f} GB", x / 1e9);
}

const char* in_words(Schedule schedule) {
  switch (schedule) {
    case Schedule::Elementwise: return "element by element";
    case Schedule::Interleaved: return "element by element, a short last axis unrolled";
    case Schedule::RowReduce: return "reduction along the vector loop";
    case Schedule::ColumnReduce: return "reduction across the vector loop";
    case Schedule::SmallReduce: return "reduction of a few elements, unrolled";
    case Schedule::Scatter: return "scatter";
  }
  return "?";
}

/// "exp, add x2": in order of first appearance.
class Counted {
 public:
  void add(const std::string& name) {
    if (int& count = counts_[name]; count++ == 0) order_.push_back(name);
  }
  std::string text() const {
    std::vector<std::string> out;
    for (const std::string& name : order_)
      out.push_back(counts_.at(name) == 1 ? name : fmt::format("{} x{}", name, counts_.at(name)));
    return fmt::format("{}", fmt::join(out, ", "));
  }
  bool empty() const { return order_.empty(); }

 private:
  std::vector<std::string> order_;
  std::map<std::string, int> counts_;
};

/// Everything about one program of the set.
class ProgramText {
 public:
  ProgramText(const ProgramSet& set, const Program& program, const RunOptions& options, const DimEnv& known)
      : set_(set), p_(program), f_(*program.function), options_(options), known_(known), facts_(choose_fusion(f_)) {
    find_readers();
    find_bands();
  }

  std::string text() {
    std::string out;
    for (size_t at = 0; at < p_.steps.size(); ++at) {
      out += fmt::format("{}. ", at + 1);
      std::visit([&](const auto& step) { out += describe(at, step); }, p_.steps[at].what);
    }
    return out;
  }
  std::string type(ValueId v) const {
    std::vector<std::string> sizes;
    for (const Dim& d : f_.type(v).dims) sizes.push_back(size(d));
    std::string name = tercet::name_of(f_.type(v).dtype);
    return sizes.empty() ? name : fmt::format("{}[{}]", name, fmt::join(sizes, ", "));
  }
  Bytes bytes(ValueId v) const {
    Bytes count = elements(v);
    return count ? Bytes(*count * static_cast<int64_t>(size_of(f_.type(v).dtype))) : std::nullopt;
  }
  Bytes moved() const { return moved_; }
  bool runs_bodies() const { return bodies_; }
  int checks() const { return checks_; }
  Bytes copied() const { return copied_; }
  int copies() const { return copies_; }
  int copies_if_held() const { return copies_if_held_; }

 private:
  std::optional<int64_t> value(const Dim& d) const { return d.is_ragged() ? std::nullopt : d.eval(known_); }
  std::string size(const Dim& d) const {
    auto number = value(d);
    return number ? std::to_string(*number) : d.text();
  }
  Bytes elements(ValueId v) const {
    int64_t count = 1;
    for (const Dim& d : f_.type(v).dims) {
      auto n = value(d);
      if (!n) return std::nullopt;
      count *= *n;
    }
    return count;
  }

  // ---- who reads what ----
  void find_readers() {
    readers_.resize(f_.types.size());
    for (size_t at = 0; at < p_.steps.size(); ++at) {
      auto* kernel = std::get_if<KernelStep>(&p_.steps[at].what);
      for (ValueId v : read_by(p_, p_.steps[at])) {
        bool made_here = kernel && std::find(kernel->written.begin(), kernel->written.end(), v) != kernel->written.end();
        if (!made_here && (readers_[v].empty() || readers_[v].back() != at)) readers_[v].push_back(at);
      }
    }
  }
  /// Which bands run block by block: their scratch values stay in a cache.
  void find_bands() {
    std::vector<int64_t> sizes(p_.sizes.slot_count());
    for (const SizeTable::Symbol& s : p_.sizes.symbols()) {
      auto found = known_.find(s.id);
      if (found == known_.end()) return;
      sizes[static_cast<size_t>(s.slot)] = found->second;
    }
    for (size_t stage = 0; stage <= p_.steps.size(); ++stage) p_.sizes.evaluate(static_cast<int>(stage), sizes.data());
    std::vector<KernelFunction> none;
    for (const Band& band : p_.bands)
      if (sizes[static_cast<size_t>(band.rows)] > 0 && runs_in_blocks({p_, band, none, sizes.data(), options_})) bands_.push_back(&band);
  }
  bool in_cache(ValueId v) const {
    return std::any_of(bands_.begin(), bands_.end(), [&](const Band* b) {
      return std::find(b->scratch.begin(), b->scratch.end(), v) != b->scratch.end();
    });
  }
  /// The block of it that step `at` reads is in a cache: an earlier step of its band read or wrote it.
  bool is_near(ValueId v, size_t at) const {
    for (const Band* b : bands_) {
      if (at < b->first || at >= b->first + b->count) continue;
      for (size_t before = b->first; before < at; ++before) {
        const KernelStep& step = std::get<KernelStep>(p_.steps[before].what);
        const std::vector<ValueId>& touched = p_.kernels[step.kernel].buffers;
        if (std::find(touched.begin(), touched.end(), v) != touched.end()) return true;
      }
    }
    return false;
  }
  bool is_result(ValueId v) const { return std::find(f_.results.begin(), f_.results.end(), v) != f_.results.end(); }

  // ---- kernels ----
  std::string describe(size_t at, const KernelStep& step) {
    const Kernel& k = p_.kernels[step.kernel];
    std::string out = fmt::format("kernel, {}{}\n", in_words(k.schedule), computed(k));
    if (!k.loops.empty()) out += "   " + loops_of(k) + "\n";
    Bytes in = reads(k, step, at), written = writes(step);
    moved_ = moved_ + in + written;
    out += fmt::format("   reads {}, writes {}; {}\n", text_of(in), text_of(written), threads_of(k));
    if (std::string slow = scattered(k); !slow.empty()) out += fmt::format("   reads element by element, not in vectors: {}\n", slow);
    if (!k.checks.empty()) out += fmt::format("   checks: {}\n", checks_of(k));
    for (const Band* band : bands_)
      if (at == band->first)
        out += fmt::format("   runs with the next {} block by block of rows, so that what they share stays in a cache\n",
                           band->count == 2 ? "step" : fmt::format("{} steps", band->count - 1));
    for (ValueId v : step.written) out += fmt::format("   gives {}: {}\n", type(v), fate(v, k));
    return out;
  }
  std::string computed(const Kernel& k) const {
    Counted names;
    bool gathers = false;
    for (const Node& n : k.nodes) {
      if (n.kind == NodeKind::Compute) names.add(n.op->def->name);
      gathers |= n.kind == NodeKind::Clamp;
    }
    if (gathers) names.add("reads at computed places");
    for (const Reduction& r : k.reductions) names.add(codegen::name_of(r.kind));
    if (names.empty() && !k.stores.empty()) names.add(k.nodes.size() > 1 || k.nodes[0].kind == NodeKind::Load ? "moves elements" : "fills");
    return names.empty() ? "" : ": " + names.text();
  }
  std::string loops_of(const Kernel& k) const {
    std::vector<std::string> out;
    for (size_t l = 0; l < k.loops.size(); ++l)
      out.push_back(fmt::format("i{} < {}{}{}", l, size(k.loops[l].extent), k.loops[l].reduced ? " reduced" : "",
                                l + 1 == k.loops.size() ? " in vectors" : ""));
    return fmt::format("for {}", fmt::join(out, ", "));
  }
  std::optional<int64_t> points(const Kernel& k, size_t loops) const {
    int64_t count = 1;
    for (size_t l = 0; l < loops; ++l) {
      auto n = value(k.loops[l].extent);
      if (!n) return std::nullopt;
      count *= *n;
    }
    return count;
  }
  /// How many elements a load touches: an array is not read more than once from memory.
  Bytes touched(const Kernel& k, const Node& load) const {
    Bytes all = elements(k.buffers[static_cast<size_t>(load.buffer)]);
    std::optional<int64_t> count = points(k, static_cast<size_t>(load.depth));
    if (load.address.nodes.empty() && count) {
      count = 1;
      for (const Index::Term& t : load.address.loops) *count *= *value(k.loops[static_cast<size_t>(t.of)].extent);
    }
    return all && count ? Bytes(std::min(*all, *count)) : std::nullopt;
  }
  Bytes reads(const Kernel& k, const KernelStep& step, size_t at) const {
    std::map<int32_t, Bytes> most;
    for (const Node& n : k.nodes) {
      if (n.kind != NodeKind::Load) continue;
      ValueId v = k.buffers[static_cast<size_t>(n.buffer)];
      if (is_near(v, at) || std::find(step.written.begin(), step.written.end(), v) != step.written.end()) continue;
      Bytes count = touched(k, n);
      auto [known, fresh] = most.try_emplace(n.buffer, count);
      if (!fresh) known->second = count && known->second ? Bytes(std::max(*count, *known->second)) : std::nullopt;
    }
    Bytes total = 0;
    for (auto& [buffer, count] : most) {
      auto width = static_cast<int64_t>(size_of(f_.type(k.buffers[static_cast<size_t>(buffer)]).dtype));
      total = total + (count ? Bytes(*count * width) : std::nullopt);
    }
    if (k.scatter) total = total + bytes(k.buffers[static_cast<size_t>(k.scatter->buffer)]);
    return total;
  }
  Bytes writes(const KernelStep& step) const {
    Bytes total = 0;
    for (ValueId v : step.written)
      if (!in_cache(v)) total = total + bytes(v);
    const Kernel& k = p_.kernels[step.kernel];
    if (k.scatter) total = total + bytes(k.buffers[static_cast<size_t>(k.scatter->buffer)]);
    return total;
  }
  std::string threads_of(const Kernel& k) const {
    int64_t kept = 1, reduced = 1;
    for (const Loop& l : k.loops) {
      auto n = value(l.extent);
      if (!n) return "threads by its sizes";
      (l.reduced ? reduced : kept) *= *n;
    }
    return work_of(k, kept, reduced) <= small_work || options_.threads == 1 ? "1 thread" : fmt::format("{} threads", options_.threads);
  }
  /// Arrays whose elements are not next to each other along the vector loop.
  std::string scattered(const Kernel& k) const {
    Counted names;
    auto last = static_cast<int32_t>(k.loops.size()) - 1;
    for (const Node& n : k.nodes) {
      if (n.kind != NodeKind::Load || n.depth <= last) continue;
      bool in_lanes = false;
      for (const Index::Term& t : n.address.nodes) in_lanes |= k.nodes[static_cast<size_t>(t.of)].depth > last;
      Dim stride = n.address.of_loop(last);
      if (in_lanes || !(stride.is(1) || stride.is(0))) names.add(type(k.buffers[static_cast<size_t>(n.buffer)]));
    }
    return names.text();
  }
  std::string checks_of(const Kernel& k) {
    Counted names;
    for (const Check& c : k.checks) names.add(c.op->def->name);
    checks_ += static_cast<int>(k.checks.size());
    return names.text();
  }

  /// Why a value is in memory.
  std::string fate(ValueId v, const Kernel& k) const {
    std::vector<std::string> to;
    for (size_t step : readers_[v]) to.push_back(std::to_string(step + 1));
    std::string steps = to.empty() ? "" : fmt::format("step{} {}", to.size() == 1 ? "" : "s", fmt::join(to, ", "));
    if (is_result(v)) return "a result" + (to.empty() ? "" : ", and read by " + steps);
    if (to.empty()) return "combined into";
    bool reduced = std::any_of(k.reductions.begin(), k.reductions.end(),
                               [&](const Reduction& r) { return k.buffers[static_cast<size_t>(r.buffer)] == v; });
    const std::string why = reduced ? "a reduction ends before it is read" : why_stored(v, k);
    return in_cache(v) ? fmt::format("read by {} while it is in a cache; {}", steps, why) : fmt::format("stored for {}; {}", steps, why);
  }
  /// Why what reads a value does not compute it.
  std::string why_stored(ValueId v, const Kernel& k) const {
    for (size_t step : readers_[v])
      if (auto* native = std::get_if<NativeStep>(&p_.steps[step].what))
        return fmt::format("`{}` {}", native->op->def->name, native->op->bodies.empty() ? "works on whole arrays" : "runs its body on arrays in memory");
    const int64_t cost = facts_.cost[v];
    switch (facts_.kept[v]) {
      case Kept::Reshaped: return "a reshape merges its axes, which another order of loops would have to divide again";
      case Kept::Overwritten: return "what it is computed from is overwritten before it is used";
      case Kept::Repeated: return fmt::format("each element is read many times, and takes about {} operations", cost);
      case Kept::Shared: return fmt::format("it is used more than once, in different loops or orders, and takes about {} operations an element", cost);
      case Kept::Long: return fmt::format("the expression would have more than {} operations, which takes long to compile", longest_expression);
      case Kept::No: case Kept::Needed: break;
    }
    if (!k.reductions.empty()) return "what it goes into waits for the reduction here";
    return readers_[v].size() > 1 ? "computed once for all of them" : "the loops of what reads it are different ones";
  }

  // ---- other steps ----
  std::string describe(size_t, const AliasStep& step) const {
    return fmt::format("{} as {}, in the same memory\n", type(step.from), type(step.to));
  }
  std::string describe(size_t at, const CopyStep& step) {
    const std::vector<ValueId>& dies = p_.steps[at].dies;
    bool last = std::find(dies.begin(), dies.end(), step.from) != dies.end();
    if (last) {
      ++copies_if_held_;
      return fmt::format("{} is changed in place, or copied where something else holds it\n", type(step.from));
    }
    ++copies_;
    copied_ = copied_ + bytes(step.to);
    moved_ = moved_ + bytes(step.from) + bytes(step.to);
    return fmt::format("copy of {}, which is needed again\n", type(step.from));
  }
  std::string describe(size_t, const NativeStep& step) {
    const Op& op = *step.op;
    std::vector<std::string> in, out, bodies;
    for (ValueId v : op.inputs) in.push_back(type(v)), moved_ = moved_ + bytes(v);
    for (uint32_t i = 0; i < op.outputs; ++i) out.push_back(type(op.output(i))), moved_ = moved_ + bytes(op.output(i));
    for (const FunctionPtr& body : op.bodies)
      if (auto found = set_.of_function.find(body.get()); found != set_.of_function.end())
        bodies.push_back(std::to_string(found->second->number));
    bodies_ |= !bodies.empty();
    if (op.def->effect == Effect::Check) {
      ++checks_;
      return fmt::format("{}({}), a check\n", op.def->name, fmt::join(in, ", "));
    }
    std::string what = bodies.empty() ? "on whole arrays" : fmt::format("runs {} {}", bodies.size() == 1 ? "body" : "bodies", fmt::join(bodies, ", "));
    if (step.loop >= 0) what += "; in one piece of machine code where each of their kernels is small";
    if (step.loop >= 0 && op.attrs.get_or<bool>("lanes", false) && options_.threads > 1) what += fmt::format(", lanes side by side on {} threads", options_.threads);
    if (!step.why_stepwise.empty()) what += "; step by step, since " + step.why_stepwise;
    if (auto kept = static_cast<uint32_t>(op.attrs.get_or<int64_t>("kept", 0))) {   // a loop's stacked results for its backward step
      Bytes stacked = 0;
      for (uint32_t i = op.outputs - kept; i < op.outputs; ++i) stacked = stacked + bytes(op.output(i));
      what += fmt::format("; the last {} results, {}, are kept for its gradient", kept, text_of(stacked));
    }
    return fmt::format("{}({}){}, {}\n", op.def->name, fmt::join(in, ", "), out.empty() ? "" : fmt::format(" -> {}", fmt::join(out, ", ")), what);
  }

  const ProgramSet& set_;
  const Program& p_;
  const Function& f_;
  const RunOptions& options_;
  const DimEnv& known_;
  const ValueFacts facts_;
  std::vector<std::vector<size_t>> readers_;  // steps, by value
  std::vector<const Band*> bands_;
  Bytes moved_ = 0;
  Bytes copied_ = 0;
  bool bodies_ = false;
  int checks_ = 0, copies_ = 0, copies_if_held_ = 0;
};

/// "1 of 4096 B", "none": the arrays that are copied, over all programs.
std::string copies_text(int sure, Bytes bytes, int if_held) {
  std::string out = sure ? fmt::format("{} of {}", sure, text_of(bytes)) : "none";
  if (if_held) out += fmt::format(", {} more where something else holds an array that is changed", if_held);
  return out;
}

}  // namespace

std::string explain(const ProgramSet& set, const RunOptions& options, std::span<const Array> arguments) {
  const Program& main = *set.programs[0];
  const Function& f = *main.function;
  DimEnv known;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<Dim>& dims = f.type(f.params[i]).dims;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (uint64_t id = dims[axis].symbol_id()) known[id] = arguments[i].shape[axis];
  }
  ProgramText first(set, main, options, known);
  std::string out = first.text();
  if (main.steps.empty()) out += "nothing to compute: results are arguments or constants\n";
  Bytes least = 0;
  for (ValueId v : f.params) least = least + first.bytes(v);
  for (ValueId v : f.results) least = least + first.bytes(v);
  int checks = first.checks(), copies = first.copies(), if_held = first.copies_if_held();
  Bytes copied = first.copied();
  std::string bodies;
  for (size_t i = 1; i < set.programs.size(); ++i) {
    ProgramText body(set, *set.programs[i], options, known);
    bodies += fmt::format("body {}:\n{}", i, body.text());
    checks += body.checks();
    copies += body.copies();
    if_held += body.copies_if_held();
    copied = copied + body.copied();
  }
  out += bodies;
  if (first.moved() && least && !main.steps.empty())
    out += fmt::format("memory: {} moved{}; arguments and results have {}{}\n", text_of(first.moved()), first.runs_bodies() ? ", bodies apart" : "",
                       text_of(least), *least ? fmt::format(" ({:.2g} times)", static_cast<double>(*first.moved()) / static_cast<double>(*least)) : "");
  out += fmt::format("copies: {}\n", copies_text(copies, copied, if_held));
  return out + (checks ? fmt::format("checks left: {}\n", checks) : "checks left: none\n");
}

}  // namespace tercet::codegen
