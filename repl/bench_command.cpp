#include "repl/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <tercet/tercet.hpp>

#include "repl/cache.h"
#include "repl/interrupt.h"
#include "repl/json.h"
#include "repl/program_files.h"

namespace tercet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string time_text(double seconds) {
  struct Unit { double size; const char* name; };
  for (const Unit& u : {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}})
    if (seconds >= u.size) return fmt::format("{:.3g} {}", seconds / u.size, u.name);
  return fmt::format("{:.3g} ns", seconds / 1e-9);
}

struct Times {
  double first = 0, median = 0, least = 0, most = 0;
  size_t groups = 0, calls = 0;   // of a group
};

/// Groups of calls, each at least a millisecond long. An error ends it.
Result<Times> measure(const Function& f, double seconds) {
  constexpr double group_seconds = 1e-3;
  constexpr size_t fewest_groups = 5, most_groups = 10'000;
  Times out;
  auto group = [&](size_t calls) -> Result<double> {
    const Clock::time_point begin = Clock::now();
    for (size_t i = 0; i < calls; ++i)
      if (Result<Value> value = f.try_call(); !value) return value.error();
    return seconds_since(begin);
  };
  Result<double> first = group(1);
  if (!first) return first.error();
  out.first = *first;
  for (out.calls = 1;;) {   // as many calls as a group needs; what this takes also warms up
    Result<double> time = group(out.calls);
    if (!time) return time.error();
    if (*time >= group_seconds || out.calls >= 1'000'000) break;
    out.calls *= *time * 8 < group_seconds ? 8 : 2;
  }
  std::vector<double> times;
  for (const Clock::time_point begin = Clock::now(); times.size() < fewest_groups || (seconds_since(begin) < seconds && times.size() < most_groups);) {
    Result<double> time = group(out.calls);
    if (!time) return time.error();
    times.push_back(*time / static_cast<double>(out.calls));
  }
  std::sort(times.begin(), times.end());
  out.groups = times.size();
  out.least = times.front();
  out.most = times.back();
  out.median = times.size() % 2 ? times[times.size() / 2] : (times[times.size() / 2 - 1] + times[times.size() / 2]) / 2;
  return out;
}

/// The functions bench_… without parameters, in the order of the program.
std::vector<std::string> benches(Session& session, const std::string& text, const std::string& name, const std::string& filter) {
  std::vector<std::string> out;
  Result<std::string> symbols = session.try_show(text, name, "symbols");
  if (!symbols) return out;
  const Json found = Json::parse(*symbols);
  for (const Json& s : found["symbols"].elements()) {
    const std::string called = s["name"].text();
    const bool fits = s["kind"].text() == "function" && s["top_level"].boolean() && s["detail"].text() == "fn " + called + "()";
    if (fits && called.starts_with("bench_") && called.find(filter) != std::string::npos && std::find(out.begin(), out.end(), called) == out.end()) out.push_back(called);
  }
  return out;
}

Session* running = nullptr;

}  // namespace

int run_bench_command(const Options& options) {
  std::string text;
  const std::string name = options.file == "-" ? "<stdin>" : options.file;
  if (!read_file(options.file, &text)) {
    std::cerr << "tercet: cannot read \"" << options.file << "\": " << std::strerror(errno) << "\n";
    return exit_usage;
  }
  Engine engine({.threads = options.threads, .simd_bits = options.simd_bits, .cache = cache_directory(), .optimize = options.optimize_when()});
  bool muted = false;   // what a repeated function prints is no output of the program
  Session session(engine, SessionOptions{.limits = {.memory_bytes = options.memory_bytes, .files = true},
                                         .write = [&](std::string_view s) { if (!muted) std::cout << s; },
                                         .jit_all = options.jit_all,
                                         .devices = options.devices,
                                         .device_timeout_s = options.device_timeout});
  running = &session;
  on_interrupt([](void*) { running->interrupt(); }, nullptr);
  auto report = [](const Error& error) {
    std::cout.flush();
    std::cerr << error.render();
    return error.status() == TCT_ERR_INTERRUPTED ? exit_interrupted : exit_failed;
  };
  if (Result<Value> done = session.try_eval(text, name); !done) return report(done.error());
  const std::vector<std::string> names = benches(session, text, name, options.filter);
  if (names.empty()) {
    std::cerr << "tercet: \"" << name << "\" has no function without parameters whose name starts with bench_"
              << (options.filter.empty() ? "" : " and contains " + options.filter) << "\n";
    return exit_failed;
  }
  size_t width = 0;
  for (const std::string& n : names) width = std::max(width, n.size());
  std::cout << fmt::format("{:<{}}  {:>9}  {:>9}  {:>9}  {:>9}  calls\n", "", width, "median", "least", "most", "first");
  muted = true;
  int status = exit_ok;
  for (const std::string& n : names) {
    Result<Function> f = session.try_function(options.jit_all ? "jit " + n : n);
    if (!f) return report(f.error());
    Result<Times> times = measure(*f, options.seconds);
    if (!times) {
      status = report(times.error());
      if (status == exit_interrupted) return status;
      continue;
    }
    std::cout << fmt::format("{:<{}}  {:>9}  {:>9}  {:>9}  {:>9}  {} x {}\n", n, width, time_text(times->median), time_text(times->least), time_text(times->most),
                             time_text(times->first), times->groups, times->calls) << std::flush;
  }
  return status;
}

}  // namespace tercet
