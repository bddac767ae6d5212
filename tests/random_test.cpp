// Random programs: interpreter, compiled code and loops over lanes agree bit for bit (tests/random). More of them:
// tercet_random --seconds N --seed S.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "tests/random/check.h"
#include "tests/random/gradients.h"

namespace tercet::random_programs {
namespace {

void run_for(double seconds, uint64_t seed) {
  static std::shared_ptr<Backend> backend = make_llvm_backend();
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  Counts counts;
  for (; std::chrono::duration<double>(Clock::now() - begin).count() < seconds; ++seed) {
    Module module = generate(seed, 8);
    Checker checker(backend, {.threads = seed / 2 % 2 ? 2 : 1, .simd_bits = seed % 2 ? 256 : 512, .block_bytes = seed / 4 % 2 ? 16 : 0, .optimize = seed / 3 % 2 ? Optimize::Always : Optimize::Auto});
    auto difference = checker.check(module, seed % 8 == 0, counts);
    if (!difference) continue;
    Module small = shrink(module, *difference, checker, 20);
    Counts ignored;
    auto again = checker.check(small, difference->needs_jit_all(), ignored);
    std::string text = small.text();
    for (const Case& c : small.cases) text += c.call() + "\n";
    FAIL_CHECK("seed " << seed << ", `" << difference->comparison << "`:\n" << text << (again ? again->text : difference->text));
    break;
  }
  std::cout << counts.programs << " random programs in " << counts.modules << " modules, " << counts.failed_alike << " of them ended in the same error, "
            << counts.lanes_compared << " compared with a loop over lanes, " << counts.rejected << " more did not elaborate" << std::endl;
  CHECK(counts.rejected * 10 < counts.programs + 10);   // the generator writes programs that mean something
}

/// TERCET_RANDOM_SECONDS, else a few.
double seconds_or(double usual) {
  const char* given = std::getenv("TERCET_RANDOM_SECONDS");
  return given ? std::atof(given) : usual;
}

}  // namespace

TEST_CASE("random programs give one answer, whichever way they run", "[random]") { run_for(seconds_or(20), 1000000); }

// A failure names its seed, with which tercet_random finds it again.
TEST_CASE("random programs that were never run before give one answer", "[random]") {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  run_for(seconds_or(5), static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()) * 1000);
}

TEST_CASE("gradients of random programs equal differences, whichever way they run", "[random][derivative]") {
  static std::shared_ptr<Backend> backend = make_llvm_backend();
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  GradientCounts counts;
  for (uint64_t seed = 1; std::chrono::duration<double>(Clock::now() - begin).count() < seconds_or(20) / 2; ++seed) {
    auto difference = check_gradient(seed, backend, {.threads = seed / 2 % 2 ? 2 : 1, .simd_bits = seed % 2 ? 256 : 512, .optimize = seed / 3 % 2 ? Optimize::Always : Optimize::Auto}, counts);
    if (difference) FAIL_CHECK("seed " << seed << ":\n" << *difference);
    if (difference) break;
  }
  std::cout << counts.programs << " gradients of random programs, " << counts.other_bits << " of them with other last bits when compiled, " << counts.not_smooth << " more had a kink" << std::endl;
  CHECK(counts.other_bits * 100 <= counts.programs);
  CHECK(counts.not_smooth < counts.programs + 10);
}

}  // namespace tercet::random_programs
