// Runs every test. The closing line is "N passed, N failed", counted in test cases.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdio>

namespace {

struct Totals : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    auto& cases = stats.totals.testCases;
    std::printf("%zu passed, %zu failed\n", static_cast<size_t>(cases.passed + cases.failedButOk),
                static_cast<size_t>(cases.failed));
    std::fflush(stdout);
  }
};
CATCH_REGISTER_LISTENER(Totals)

}  // namespace

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
