// Random programs run every way there is, until the time or the count is over; a difference is shrunk and printed.
// Usage: tercet_random [--seconds N] [--seed S] [--count N] [--cases N] [--shrink-seconds N] [--keep-going] [--no-jit] [--reasons] [--gradients]
//   --count: programs, counted as functions that ran in at least two ways. --cases: functions in a module (default 16).
//   A crash names the seed of its module: --seed S --count 1 runs it again, --show prints its text.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <unistd.h>

#include "tests/random/check.h"
#include "tests/random/gradients.h"

using namespace tercet;
using namespace tercet::random_programs;

namespace {

volatile uint64_t current_seed = 0;
volatile std::sig_atomic_t stop = 0;   // asked to end: what was counted so far is still told

void on_crash(int signal) {
  char text[96];
  int n = std::snprintf(text, sizeof text, "\ncrash: signal %d in the module of seed %llu\n", signal, static_cast<unsigned long long>(current_seed));
  if (write(2, text, static_cast<size_t>(n)) < 0) _exit(4);
  _exit(3);
}

/// The first lines of a text.
std::string brief(const std::string& text, int lines = 30) {
  size_t at = 0;
  while (lines-- > 0 && at != std::string::npos) at = text.find('\n', at + 1);
  return at == std::string::npos ? text : text.substr(0, at) + "\n...\n";
}

CompileOptions options_for(uint64_t seed) {
  return {.threads = seed / 2 % 2 ? 2 : 1, .simd_bits = seed % 2 ? 256 : 512, .block_bytes = seed / 4 % 2 ? 16 : 0, .optimize = seed % 16 < 3 ? Optimize::Always : Optimize::Auto};
}

/// Gradients of random programs; each difference names its seed.
int run_gradients(uint64_t seed, int64_t count, double seconds, bool keep_going) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::shared_ptr<Backend> backend = make_llvm_backend();
  GradientCounts counts;
  int differences = 0;
  for (; counts.programs < count && elapsed() < seconds && !stop; ++seed) {
    current_seed = seed;
    auto difference = check_gradient(seed, backend, options_for(seed), counts);
    if (!difference) continue;
    ++differences;
    fmt::print("difference at seed {}\n{}\n", seed, brief(*difference));
    std::fflush(stdout);
    if (!keep_going) break;
  }
  fmt::print("{} gradients of random programs, {} of them with other last bits when compiled, {} more had a kink; {} differences; {:.0f} s\n", counts.programs, counts.other_bits, counts.not_smooth, differences, elapsed());
  return differences ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 1e9, shrink_seconds = 60;
  uint64_t seed = 1;
  int64_t count = INT64_MAX;
  int cases = 16;
  bool keep_going = false, jit = true, show = false, reasons = false, gradients = false;
  for (int i = 1; i < argc; ++i) {
    auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    auto number = [&] { return i + 1 < argc ? std::strtod(argv[++i], nullptr) : 0; };
    if (is("--seconds")) seconds = number();
    else if (is("--seed")) seed = static_cast<uint64_t>(number());
    else if (is("--count")) count = static_cast<int64_t>(number());
    else if (is("--cases")) cases = static_cast<int>(number());
    else if (is("--shrink-seconds")) shrink_seconds = number();
    else if (is("--keep-going")) keep_going = true;
    else if (is("--no-jit")) jit = false;
    else if (is("--show")) show = true;
    else if (is("--reasons")) reasons = true;
    else if (is("--gradients")) gradients = true;
    else {
      fmt::print(stderr, "unknown option {}\n", argv[i]);
      return 2;
    }
  }
  if (show) {
    Module m = generate(seed, cases);
    fmt::print("{}", m.text());
    for (const Case& c : m.cases) fmt::print("{}\n", c.call());
    return 0;
  }
  for (int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(s, on_crash);
  for (int s : {SIGINT, SIGTERM}) std::signal(s, [](int) { stop = 1; });
  if (gradients) return run_gradients(seed, count, seconds, keep_going);
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::shared_ptr<Backend> backend = jit ? make_llvm_backend() : nullptr;
  Counts counts;
  int differences = 0;
  for (; counts.programs < count && elapsed() < seconds && !stop; ++seed) {
    current_seed = seed;
    Module module = generate(seed, cases);
    Checker checker(backend, options_for(seed));
    auto difference = checker.check(module, seed % 8 == 0, counts);
    if (!difference) continue;
    ++differences;
    fmt::print("difference `{}` in the module of seed {} (simd {}, threads {})\n{}\n", difference->comparison, seed, options_for(seed).simd_bits,
               options_for(seed).threads, brief(difference->text));
    if (shrink_seconds > 0) {
      Module small = shrink(module, *difference, checker, shrink_seconds);
      Counts ignored;
      auto again = checker.check(small, difference->needs_jit_all(), ignored);
      fmt::print("shrunk to\n----\n{}", small.text());
      for (const Case& c : small.cases) fmt::print("{}\n", c.call());
      fmt::print("----\n{}\n", again ? brief(again->text) : "(it no longer fails)");
    }
    std::fflush(stdout);
    if (!keep_going) break;
  }
  fmt::print("{} programs in {} modules, {} ended in the same error, {} compared with a loop over lanes, {} more rejected; {} differences; {:.0f} s, {:.0f} programs/s\n",
             counts.programs, counts.modules, counts.failed_alike, counts.lanes_compared, counts.rejected, differences, elapsed(),
             static_cast<double>(counts.programs) / elapsed());
  if (reasons)
    for (auto& [reason, n] : counts.reasons) fmt::print("{:6} {}\n{}", n, reason, counts.examples[reason]);
  return differences ? 1 : 0;
}
