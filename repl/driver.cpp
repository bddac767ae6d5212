#include "repl/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "grammar/ast_printer.h"
#include "grammar/parser.h"
#include "interpreter/engine/library.h"
#include "interpreter/engine/session.h"
#include "interpreter/runtime/parallel.h"
#include "repl/cache.h"
#include "repl/echo.h"
#include "repl/interrupt.h"
#include "repl/progress.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

namespace tercet {
namespace {

std::shared_ptr<Backend> make_backend() {
#if TERCET_HAS_LLVM
  return make_llvm_backend(cache_directory());
#else
  return nullptr;
#endif
}

}  // namespace

struct Driver::State {
  explicit State(const Options& o) : options(o) {
    if (o.threads) limit_threads(o.threads);
    start();
    on_interrupt([](void* state) { static_cast<State*>(state)->session->interrupt(); }, this);
  }

  void start() {
    SessionOptions s;
    s.backend = make_backend();
    s.compile = {.threads = options.threads, .simd_bits = options.simd_bits};
    s.jit_all = options.jit_all;
    s.memory_bytes = options.memory_bytes;
    s.arguments = options.arguments;
    s.devices = options.device_ids.empty() ? options.devices : static_cast<int>(options.device_ids.size());
    s.device_timeout_seconds = options.device_timeout;
    s.write = [this](std::string_view text) {
      if (muted) return;
      bar.clear();
      std::cout << text;
    };
    session = std::make_unique<Session>(std::move(s));
  }

  Outcome run(const std::string& text, const std::string& name) {
    take_interrupt();
    session->clear_interrupt();
    ProgressScope listening(options.progress && ProgressBar::is_possible() ? &bar : nullptr);
    return session->run(session->add_source(name, text));
  }
  /// A run that uses up no random key.
  Outcome measure(const std::string& text, const std::string& name) {
    take_interrupt();
    session->clear_interrupt();
    return session->rerun(session->add_source(name, text));
  }

  int report(const std::vector<Diagnostic>& diagnostics) {
    std::cout.flush();
    int status = diagnostics.empty() ? exit_ok : exit_failed;
    for (const Diagnostic& d : diagnostics) {
      std::cerr << render(d, session->sources());
      if (d.kind == Kind::Interrupt) status = exit_interrupted;
    }
    return status;
  }

  Options options;
  std::unique_ptr<Session> session;
  ProgressBar bar;
  bool muted = false;
};

Driver::Driver(const Options& options) : state_(std::make_unique<State>(options)) {}
Driver::~Driver() = default;

int Driver::run(const std::string& text, const std::string& name, Show show) {
  Outcome outcome = state_->run(text, name);
  if (!outcome.ok()) return state_->report(outcome.diagnostics);
  if (outcome.value && show != Show::Nothing) {
    std::cout << (show == Show::Value ? value_text(*outcome.value) : echo_text(*outcome.value)) << "\n";
    if (show == Show::TypeAndValue) state_->session->set("ans", *outcome.value);
  }
  std::cout.flush();
  return exit_ok;
}

bool Driver::is_incomplete(const std::string& text) const { return parse(SourceFile(1, "", text)).incomplete; }

int Driver::check(const std::string& text, const std::string& name) {
  return state_->report(state_->session->check(state_->session->add_source(name, text)).diagnostics);
}

int Driver::show_stage(const std::string& text, const std::string& name) {
  const Options& o = state_->options;
  Session& session = *state_->session;
  if (o.stage == "ast") {
    ParseResult parsed = parse(session.add_source(name, text));
    if (parsed.diagnostics.empty()) std::cout << print(parsed.program);
    return state_->report(parsed.diagnostics);
  }
  Outcome defined = session.define(session.add_source(name, text));
  if (!defined.ok()) return state_->report(defined.diagnostics);
  std::string shown;
  Outcome outcome = session.show_stage(o.function, o.argument_types, o.stage, &shown);
  std::cout << shown;
  return state_->report(outcome.diagnostics);
}

int Driver::show_type(const std::string& expression) {
  state_->muted = true;
  Outcome outcome = state_->measure(expression, ":type");
  state_->muted = false;
  if (!outcome.ok()) return state_->report(outcome.diagnostics);
  std::cout << (outcome.value ? full_type(*outcome.value) : "()") << std::endl;
  return exit_ok;
}

int Driver::show_time(const std::string& expression) {
  using Clock = std::chrono::steady_clock;
  auto run_once = [&](Outcome& outcome) {
    auto begin = Clock::now();
    outcome = state_->measure(expression, ":time");
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  Outcome outcome;
  double first = run_once(outcome), total = first;
  state_->muted = true;           // repetitions are ours, not the user's
  std::vector<double> times;
  while (outcome.ok() && total < 500 && times.size() < 100) total += times.emplace_back(run_once(outcome));
  state_->muted = false;
  if (!outcome.ok()) return state_->report(outcome.diagnostics);
  std::cout << fmt::format("first {:.3g} ms", first);
  if (!times.empty()) {
    std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
    std::cout << fmt::format(", then {:.3g} ms (median of {})", times[times.size() / 2], times.size());
  }
  std::cout << std::endl;
  return exit_ok;
}

int Driver::show_ir(const std::string& expression) {
  std::string shown;
  Outcome outcome = state_->session->statement_ir(state_->session->add_source(":ir", expression), &shown);
  std::cout << shown;
  return state_->report(outcome.diagnostics);
}

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
  auto show_code = [](const ast::FunctionPtr& f) {
    std::cout << full_type(Value::Closure{f, {}, {}}) << "\n" << f->doc << std::endl;
  };
  if (const Value* value = state_->session->find(name)) {
    if (auto* closure = value->as<Value::Closure>()) show_code(closure->code);
    else std::cout << full_type(*value) << std::endl;
    return exit_ok;
  }
  if (const BuiltinDef* builtin = find_builtin(name)) {
    std::cout << builtin->name << "(" << builtin->params << ")\n" << builtin->doc << std::endl;
    return exit_ok;
  }
  if (ast::FunctionPtr f = state_->session->library_function(name)) return show_code(f), exit_ok;
  std::cerr << "nothing is named " << name << "\n";
  return exit_failed;
}

void Driver::reset() { state_->start(); }

std::vector<std::string> Driver::completions(const std::string& prefix) const {
  std::vector<std::string> all = state_->session->names();
  for (const auto& more : {builtin_names(), library_names(), reserved_words()}) all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [&](const std::string& name) { return !name.starts_with(prefix); });
  return all;
}

}  // namespace tercet
