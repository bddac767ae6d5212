// How long programs go on after they are asked to stop (tests/stopping_programs.h), interpreted and compiled.
//
//   stop_times [--n ELEMENTS] [--only PART-OF-NAME] [--moments K] [--threads T]
//
// Prints per program, in milliseconds: the whole run, the longest CPU time between two polls of one thread (what an
// interrupt may have to wait for), and the longest real time from an interrupt by another thread to the return.
#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "interpreter/engine/session.h"
#include "interpreter/runtime/parallel.h"
#include "tests/stopping_programs.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

using namespace tercet;
using Clock = std::chrono::steady_clock;

namespace {

double cpu_ms() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}
double ms_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

std::atomic<double> longest_gap{0};
thread_local double last_poll = -1;
thread_local int64_t last_run = -1;
std::atomic<int64_t> run_number{0};

bool note_poll() {
  const double now = cpu_ms();
  if (last_run == run_number) {
    for (double gap = now - last_poll, known = longest_gap; gap > known && !longest_gap.compare_exchange_weak(known, gap);) {}
  }
  last_poll = now;
  last_run = run_number;
  return false;
}

struct Options { std::string only; int64_t n = 32 << 20; int moments = 5, threads = 1; };

std::unique_ptr<Session> session_for(const Options& o, bool compiled, const test::StoppingProgram& p, const std::string& folder) {
  SessionOptions s;
#if TERCET_HAS_LLVM
  if (compiled) s.backend = make_llvm_backend();
#endif
  s.jit_all = compiled;
  s.compile.threads = o.threads;
  s.stop = note_poll;
  auto out = std::make_unique<Session>(std::move(s));
  Outcome done = out->run(out->add_source("setup", fmt::format("let n = {}\nlet file = \"{}/f\"\n{}\n", o.n, folder, p.setup)));
  if (!done.ok()) return fmt::print("{}: setup: {}\n", p.name, render(done.diagnostics[0], out->sources())), nullptr;
  return out;
}

void measure(const Options& o, bool compiled, const test::StoppingProgram& p, const std::string& folder) {
  std::unique_ptr<Session> session = session_for(o, compiled, p, folder);
  if (!session) return;
  double whole = 0;
  for (int round = 0; round < 2; ++round) {   // the first one compiles
    ++run_number;
    longest_gap = 0;
    note_poll();
    const auto begin = Clock::now();
    Outcome done = session->rerun(session->add_source("run", p.run));
    note_poll();
    whole = ms_since(begin);
    if (!done.ok()) return fmt::print("{}: {}\n", p.name, render(done.diagnostics[0], session->sources()));
  }
  double latency = 0;
  int stopped = 0;
  for (int k = 0; k < o.moments; ++k) {
    session->clear_interrupt();
    Clock::time_point asked;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(whole * (k + 0.5) / o.moments));
      asked = Clock::now();
      session->interrupt();
    });
    Outcome done = session->rerun(session->add_source("run", p.run));
    const auto returned = Clock::now();
    other.join();
    if (done.ok()) continue;
    ++stopped;
    latency = std::max(latency, std::chrono::duration<double, std::milli>(returned - asked).count());
  }
  fmt::print("{:<28} {:<9} {:>9.1f} {:>9.2f} {:>9.2f} {:>4}\n", p.name, compiled ? "compiled" : "reference", whole, longest_gap.load(), latency, stopped);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--n")) o.n = std::atoll(argv[i + 1]);
    if (!std::strcmp(argv[i], "--only")) o.only = argv[i + 1];
    if (!std::strcmp(argv[i], "--moments")) o.moments = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--threads")) o.threads = std::atoi(argv[i + 1]);
  }
  limit_threads(o.threads);
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("stop_times.{}", getpid());
  std::filesystem::create_directory(folder);
  fmt::print("{:<28} {:<9} {:>9} {:>9} {:>9} {:>4}\n", "program", "", "whole", "gap", "stop", "of");
  for (const test::StoppingProgram& p : test::stopping_programs())
    if (std::string(p.name).find(o.only) != std::string::npos)
      for (bool compiled : {false, true})
        if (!compiled || test::has_compiler) measure(o, compiled, p, folder);
  std::filesystem::remove_all(folder);
}
