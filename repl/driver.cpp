#include "repl/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <tercet/tercet.hpp>

#include "repl/cache.h"
#include "repl/interrupt.h"
#include "repl/progress.h"

namespace tercet {

struct Driver::State {
  explicit State(const Options& o)
      : options(o), engine({.threads = o.threads, .simd_bits = o.simd_bits, .cache = cache_directory(), .optimize = o.optimize_when(), .compile_loops = o.compile_loops_when()}) {
    start();
    on_interrupt([](void* state) { static_cast<State*>(state)->session->interrupt(); }, this);
  }

  void start() {
    const size_t devices = options.device_ids.empty() ? static_cast<size_t>(options.devices) : options.device_ids.size();
    auto write = [this](std::string_view text) {
      if (muted) return;
      bar.clear();
      std::cout << text;
    };
    std::function<void(const tct_progress*, const tct_progress*)> show_progress;
    if (options.progress && ProgressBar::is_possible())
      show_progress = [this](const tct_progress* loop, const tct_progress* inner) {
        if (!loop) bar.ended();
        else if (!muted) bar.advanced(*loop, inner);
      };
    session.emplace(engine, SessionOptions{.limits = {.memory_bytes = options.memory_bytes, .files = true},
                                           .write = write,
                                           .progress = show_progress,
                                           .arguments = options.arguments,
                                           .jit_all = options.jit_all,
                                           .devices = static_cast<int>(devices),
                                           .device_timeout_s = options.device_timeout});
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
    std::cout.flush();
    std::cerr << (error.get() ? error.render() : "error[limit]: out of memory\n");
    return error.status() == TCT_ERR_INTERRUPTED ? exit_interrupted : exit_failed;
  }
  int show(const Result<std::string>& text) {
    if (!text) return report(text.error());
    std::cout << *text;
    return exit_ok;
  }

  Options options;
  Engine engine;
  ProgressBar bar;
  std::optional<Session> session;
  bool muted = false;
};

Driver::Driver(const Options& options) : state_(std::make_unique<State>(options)) {}
Driver::~Driver() = default;

int Driver::run(const std::string& text, const std::string& name, Show show) {
  Result<Value> value = state_->run(text, name);
  if (!value) return state_->report(value.error());
  if (*value && show != Show::Nothing) {
    std::cout << (show == Show::Value ? value->text() : value->echo()) << "\n";
    if (show == Show::TypeAndValue) state_->session->set("ans", *value);
  }
  std::cout.flush();
  return exit_ok;
}

bool Driver::is_incomplete(const std::string& text) const { return tercet::is_incomplete(text); }

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
  std::cout << (*value ? value->full_type() : "()") << std::endl;
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
  std::cout << fmt::format("first {:.3g} ms", first);
  if (!times.empty()) {
    std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
    std::cout << fmt::format(", then {:.3g} ms (median of {})", times[times.size() / 2], times.size());
  }
  std::cout << std::endl;
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
    std::cerr << "usage: :explain F(ARGS…)\n";
    return exit_usage;
  }
  std::string arguments = expression.substr(open + 1, expression.size() - open - 2);
  return run(fmt::format("explain({}{}{})", expression.substr(0, open), arguments.empty() ? "" : ", ", arguments), ":explain",
             Show::Value);
}

int Driver::show_help(const std::string& name) {
  Result<std::string> text = state_->session->try_help(name);
  if (text) {
    std::cout << *text << std::endl;
    return exit_ok;
  }
  std::cerr << text.error().message() << "\n";
  return exit_failed;
}

void Driver::reset() { state_->start(); }

std::vector<std::string> Driver::completions(const std::string& prefix) const { return state_->session->complete(prefix); }

}  // namespace tercet
