#include "repl/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <tercet/tercet.hpp>

#include "repl/cache.h"
#include "repl/interrupt.h"
#include "repl/progress.h"

namespace tercet {

struct Driver::State {
  State(const Options& o, Display& d)
      : options(o), display(d), engine({.threads = o.threads, .simd_bits = o.simd_bits, .cache = cache_directory(), .optimize = o.optimize_when(), .compile_loops = o.compile_loops_when()}) {
    start();
  }

  void start() {
    const size_t devices = options.device_ids.empty() ? static_cast<size_t>(options.devices) : options.device_ids.size();
    auto write = [this](std::string_view text) {
      if (muted) return;
      bar.clear();
      display.print(text);
    };
    std::function<void(const tct_progress*, const tct_progress*)> show_progress;
    if (options.progress && ProgressBar::is_possible())
      show_progress = [this](const tct_progress* loop, const tct_progress* inner) {
        if (!loop) bar.ended();
        else if (!muted) bar.advanced(*loop, inner);
      };
    while (session_in_use.test_and_set()) {}
    session.emplace(engine, SessionOptions{.limits = {.memory_bytes = options.memory_bytes, .files = true},
                                           .write = write,
                                           .progress = show_progress,
                                           .arguments = options.arguments,
                                           .jit_all = options.jit_all,
                                           .devices = static_cast<int>(devices),
                                           .device_timeout_s = options.device_timeout});
    session_in_use.clear();
  }
  /// In a signal handler nothing may wait; and nothing runs in a session that is being replaced.
  void interrupt() {
    if (session_in_use.test_and_set()) return;
    session->interrupt();
    session_in_use.clear();
  }

  Result<Value> run(const std::string& text, const std::string& name) {
    take_interrupt();
    return session->try_eval(text, name);
  }
  /// A run that uses up no random key.
  Result<Value> measure(const std::string& text, const std::string& name) {
    take_interrupt();
    return session->try_measure(text, name);
  }

  int report(const Error& error) {
    display.error(error);
    return error.status() == TCT_ERR_INTERRUPTED ? exit_interrupted : exit_failed;
  }
  int show(const Result<std::string>& text) {
    if (!text) return report(text.error());
    display.print(*text);
    return exit_ok;
  }

  Options options;
  Display& display;
  Engine engine;
  ProgressBar bar;
  std::optional<Session> session;
  std::atomic_flag session_in_use;   // being replaced, or interrupted
  bool muted = false;
};

Driver::Driver(const Options& options, Display& display) : state_(std::make_unique<State>(options, display)) {}
Driver::~Driver() = default;

int Driver::run(const std::string& text, const std::string& name, Show show) {
  Result<Value> value = state_->run(text, name);
  if (!value) return state_->report(value.error());
  if (*value && show != Show::Nothing) {
    state_->display.value(show == Show::Value ? value->text() : value->echo());
    if (show == Show::TypeAndValue) state_->session->set("ans", *value);
  }
  return exit_ok;
}

bool Driver::is_incomplete(const std::string& text) const { return tercet::is_incomplete(text); }

bool Driver::is_wrong_syntax(const std::string& text) const {
  Result<std::string> tree = state_->session->try_show(text, "input", "ast");
  return !tree && tree.error().code() == "syntax";
}

int Driver::check(const std::string& text, const std::string& name) {
  Session::Checked checked = state_->session->check(text, name);
  return checked.error ? state_->report(*checked.error) : exit_ok;
}

int Driver::show_stage(const std::string& text, const std::string& name) {
  const Options& o = state_->options;
  if (o.stage == "ast") return state_->show(state_->session->try_show(text, name, "ast"));
  state_->muted = true;   // what it defines is wanted, not what it prints
  Result<Value> defined = state_->run(text, name);
  state_->muted = false;
  if (!defined) return state_->report(defined.error());
  return state_->show(state_->session->try_show(o.function, o.argument_types, o.stage));
}

int Driver::show_type(const std::string& expression) {
  state_->muted = true;
  Result<Value> value = state_->measure(expression, ":type");
  state_->muted = false;
  if (!value) return state_->report(value.error());
  state_->display.print(fmt::format("{}\n", *value ? value->full_type() : "()"));
  return exit_ok;
}

int Driver::show_time(const std::string& expression) {
  using Clock = std::chrono::steady_clock;
  Result<Value> value{Value()};
  auto run_once = [&] {
    auto begin = Clock::now();
    value = state_->measure(expression, ":time");
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  double first = run_once(), total = first;
  state_->muted = true;           // repetitions are ours, not the user's
  std::vector<double> times;
  while (value && total < 500 && times.size() < 100) total += times.emplace_back(run_once());
  state_->muted = false;
  if (!value) return state_->report(value.error());
  std::string text = fmt::format("first {:.3g} ms", first);
  if (!times.empty()) {
    std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
    text += fmt::format(", then {:.3g} ms (median of {})", times[times.size() / 2], times.size());
  }
  state_->display.print(text + "\n");
  return exit_ok;
}

int Driver::show_ir(const std::string& expression) { return state_->show(state_->session->try_show(expression, "", "statement")); }

int Driver::show_explain(const std::string& expression) {
  // f(args) -> explain(f, args): the parenthesis that the last one closes.
  size_t open = expression.size(), depth = 0;
  while (open-- > 0) {
    depth += expression[open] == ')';
    depth -= expression[open] == '(';
    if (depth == 0) break;
  }
  if (expression.empty() || expression.back() != ')' || open == 0 || open == std::string::npos) {
    state_->display.complain("usage: :explain F(ARGS…)");
    return exit_usage;
  }
  std::string arguments = expression.substr(open + 1, expression.size() - open - 2);
  return run(fmt::format("explain({}{}{})", expression.substr(0, open), arguments.empty() ? "" : ", ", arguments), ":explain",
             Show::Value);
}

int Driver::show_help(const std::string& name) {
  Result<std::string> text = state_->session->try_help(name);
  if (text) {
    state_->display.print(*text + "\n");
    return exit_ok;
  }
  state_->display.complain(text.error().message());
  return exit_failed;
}

std::optional<std::string> Driver::help(const std::string& name) const {
  Result<std::string> text = state_->session->try_help(name);
  if (!text) return std::nullopt;
  return *text;
}

void Driver::reset() { state_->start(); }

std::vector<std::string> Driver::completions(const std::string& prefix) const { return state_->session->complete(prefix); }

Display& Driver::display() const { return state_->display; }

void Driver::interrupt() { state_->interrupt(); }

}  // namespace tercet
