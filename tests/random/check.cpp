#include "tests/random/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "interpreter/runtime/print.h"
#include "tests/random/equal.h"

namespace tercet::random_programs {
namespace {

/// Interrupts a session that runs too long.
class Watchdog {
 public:
  Watchdog(Session& session, int seconds) : thread_([this, &session, seconds] {
    std::unique_lock lock(mutex_);
    if (!done_.wait_for(lock, std::chrono::seconds(seconds), [&] { return finished_; })) session.interrupt();
  }) {}
  ~Watchdog() {
    {
      std::scoped_lock lock(mutex_);
      finished_ = true;
    }
    done_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;
  std::thread thread_;
};

struct Ran {
  std::optional<Value> value;
  std::string printed, rendered;
  std::optional<Diagnostic> error;
};

/// What is compiled: what jit names; every statement; the loops of the evaluator.
enum class Way : uint8_t { Jit, Whole, Loops };

class World {
 public:
  World(const Module& module, std::shared_ptr<Backend> backend, CompileOptions compile, Way way)
      : session_([&] {
          SessionOptions o;
          o.backend = std::move(backend);
          o.compile = compile;
          o.jit_all = way == Way::Whole;
          o.compile_loops = way == Way::Loops ? CompileLoops::Always : CompileLoops::Never;
          o.memory_bytes = int64_t{4} << 30;
          o.write = [this](std::string_view text) { printed_ += text; };
          return o;
        }()) {
    ready = run(module.text(), "program");
  }
  Ran run(const std::string& text, const char* name = "call") {
    printed_.clear();
    Outcome outcome = session_.run(session_.add_source(name, text));
    Ran out{std::move(outcome.value), std::move(printed_), "", std::nullopt};
    if (!outcome.ok()) {
      out.error = outcome.diagnostics[0];
      out.rendered = render(*out.error, session_.sources());
    }
    return out;
  }
  Session& session() { return session_; }
  Ran ready;

 private:
  std::string printed_;
  Session session_;
};

/// Found before anything ran: nothing to compare.
bool is_rejection(const Diagnostic& d) {
  return d.kind == Kind::Name || d.kind == Kind::Type || d.kind == Kind::Syntax || d.kind == Kind::Unsupported || d.kind == Kind::Limit ||
         !d.frames.empty();
}

std::string show(const Ran& r) {
  std::string out = r.printed;
  if (r.error) return out + r.rendered;
  if (!r.value) return out + "(nothing)\n";
  return out + type_text(*r.value) + " " + value_text(*r.value) + "\n";
}

/// The whole text; but that what an error without a place of its own is shown at may be another call.
bool same_error(const Ran& a, const Ran& b) {
  const Diagnostic &x = *a.error, &y = *b.error;
  return x.kind == y.kind && x.message == y.message && x.label == y.label && x.help == y.help && x.row == y.row &&
         (a.rendered == b.rendered || a.rendered.find("--> call:") != std::string::npos);
}

bool same(const Ran& a, const Ran& b) {
  if (a.printed != b.printed || a.error.has_value() != b.error.has_value()) return false;
  if (a.error) return same_error(a, b);
  return same_value(*a.value, *b.value);
}

class ModuleCheck {
 public:
  ModuleCheck(const Module& module, std::shared_ptr<Backend> backend, CompileOptions compile, Counts& counts)
      : module_(module), backend_(std::move(backend)), compile_(compile), counts_(counts), reference_(module, nullptr, compile, Way::Jit) {}

  std::optional<Difference> run(bool jit_all, int seconds) {
    Watchdog dog(reference_.session(), seconds);
    if (reference_.ready.error) return Difference{"internal", -1, reference_.ready.rendered};
    for (size_t i = 0; i < module_.cases.size(); ++i)
      if (auto d = interpret(static_cast<int>(i))) return d;
    if (!backend_) return std::nullopt;
    if (auto d = compiled("jit", Way::Jit, seconds)) return d;
    if (!jit_all) return std::nullopt;
    if (auto d = compiled("jit_all", Way::Whole, seconds)) return d;
    return compiled("loops", Way::Loops, seconds);
  }

 private:
  std::optional<Difference> interpret(int i) {
    const Case& c = module_.cases[static_cast<size_t>(i)];
    expected_.push_back(reference_.run(c.call()));
    const Ran& r = expected_.back();
    if (r.error) {
      if (r.error->kind == Kind::Interrupt) return Difference{"slow", i, "interpreter: " + show(r)};
      if (r.error->kind == Kind::Internal || r.error->kind == Kind::Syntax || r.error->message.find("this is ()") != std::string::npos) return Difference{"internal", i, show(r)};
      if (is_rejection(*r.error)) {
        ++counts_.rejected;
        std::string& example = counts_.examples[fmt::format("{}: {}", name_of(r.error->kind), r.error->message)];
        if (example.empty() || r.rendered.size() < example.size()) example = fmt::format("seed {}: ", module_.seed) + r.rendered;
        ++counts_.reasons[fmt::format("{}: {}", name_of(r.error->kind), r.error->message)];
        return std::nullopt;
      }
    }
    if (c.mapped && c.lanes > 0 && !c.close) return loop(i);
    return std::nullopt;
  }

  /// vmap means a loop over the lanes: values, what is printed, the first error.
  std::optional<Difference> loop(int i) {
    const Case& c = module_.cases[static_cast<size_t>(i)];
    const Ran& batch = expected_.back();
    std::vector<Value> values;
    std::string printed;
    for (int lane = 0; lane < c.lanes; ++lane) {
      Ran one = reference_.run(c.lane_call(lane));
      printed += one.printed;
      if (one.error && is_rejection(*one.error)) return std::nullopt;
      if (one.error) {
        one.error->row.push_back(lane);
        one.printed = printed;
        one.rendered = render(*one.error, reference_.session().sources());
        return compare("lanes", i, one, batch);
      }
      values.push_back(std::move(*one.value));
    }
    ++counts_.lanes_compared;
    Ran all{stacked(values), printed, "", std::nullopt};
    if (!all.value) return std::nullopt;   // lanes of different shapes
    return compare("lanes", i, all, batch);
  }

  std::optional<Difference> compare(const char* comparison, int i, const Ran& expected, const Ran& got) {
    if (got.error && got.error->kind == Kind::Interrupt) return Difference{"slow", i, std::string(comparison) + ": " + show(got)};
    if (same(expected, got)) return std::nullopt;
    return Difference{comparison, i, "expected:\n" + show(expected) + "got:\n" + show(got)};
  }

  /// "fn all(x, y) = …" over all inputs, and its call.
  std::string wrapped(const std::string& name, const std::string& body, bool jit) const {
    std::string params, values;
    for (const Input& in : module_.inputs) {
      params += (params.empty() ? "" : ", ") + ("z" + in.name);
      values += (values.empty() ? "" : ", ") + in.name;
    }
    return fmt::format("fn {}({}) = {}\n{}({})", name, params, body, jit ? "(jit " + name + ")" : name, values);
  }

  std::optional<Difference> compiled(const char* comparison, Way way, int seconds) {
    World world(module_, backend_, compile_, way);
    const bool jit = way == Way::Jit;
    Watchdog dog(world.session(), seconds);
    if (world.ready.error) return Difference{"internal", -1, world.ready.rendered};
    // All that end well in one function; each of the others by itself.
    std::string together, printed;
    std::vector<int> members;
    for (size_t i = 0; i < module_.cases.size(); ++i) {
      const Ran& r = expected_[i];
      if (r.error && is_rejection(*r.error)) continue;
      ++counts_.programs;
      if (r.error) {
        ++counts_.failed_alike;
        if (auto d = alone(world, comparison, static_cast<int>(i), jit)) return d;
        continue;
      }
      members.push_back(static_cast<int>(i));
      together += module_.cases[i].call("z") + ", ";
      printed += r.printed;
    }
    if (members.empty()) return std::nullopt;
    Ran all = world.run(wrapped("all_cases", "(" + together + ")", jit));
    bool good = !all.error && all.printed == printed && all.value && all.value->as<Value::Tuple>();
    for (size_t k = 0; good && k < members.size(); ++k)
      good = same_value(all.value->as<Value::Tuple>()->elements[k], *expected_[static_cast<size_t>(members[k])].value);
    if (good) return std::nullopt;
    for (int i : members)
      if (auto d = alone(world, comparison, i, jit)) return d;
    return Difference{comparison, -1, "all cases together:\n" + show(all)};
  }

  std::optional<Difference> alone(World& world, const char* comparison, int i, bool jit) {
    return compare(comparison, i, expected_[static_cast<size_t>(i)],
                   world.run(wrapped(fmt::format("alone_{}", i), module_.cases[static_cast<size_t>(i)].call("z"), jit)));
  }

  const Module& module_;
  std::shared_ptr<Backend> backend_;
  CompileOptions compile_;
  Counts& counts_;
  World reference_;
  std::vector<Ran> expected_;
};

}  // namespace

std::optional<Difference> Checker::check(const Module& module, bool jit_all, Counts& counts) {
  ++counts.modules;
  int64_t before = counts.programs, lanes = counts.lanes_compared;
  auto d = ModuleCheck(module, backend_, compile_, counts).run(jit_all, seconds_per_run);
  if (jit_all && counts.programs > before) counts.programs = before + (counts.programs - before) / 3;   // each ran three ways
  if (!backend_) counts.programs += counts.lanes_compared - lanes;
  return d;
}

}  // namespace tercet::random_programs
