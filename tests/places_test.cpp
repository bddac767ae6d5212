// Where an error is shown: at the same place of the program, whoever runs it.
#include <catch2/catch.hpp>

#include "tests/session_runner.h"

namespace tercet {

TEST_CASE("an error without a place of its own is shown at the innermost call, both ways", "[errors]") {
  struct { const char* source; const char* at; } programs[] = {
      {"let ks = split(key(0), 3)\nlet a = uniform(ks[1])\nprint((jit vmap uniform)(ks))\n", "(jit vmap uniform)(ks)"},
      {"let k = key(0)\nlet a = uniform(k)\nfn f(k) = uniform(k) + 1.0\nlet b = 2.0 * (jit f)(k)\n", "uniform(k)"},
      {"fn f(n) = if n == 0 { [1][n + 1] } else { f(n - 1) }\nlet g = jit (n => f(n) + 1)\nprint(1 + g(3))\n", "n + 1"},
  };
  for (const auto& p : programs) {
    INFO(p.source);
    for (bool jit_all : {false, true}) {
      test::Runner r(true, jit_all);
      const test::Ran ran = r.run(p.source);
      REQUIRE(ran.error);
      CHECK(std::string(p.source).substr(ran.error->span.begin - 0, ran.error->span.end - ran.error->span.begin) == p.at);
    }
  }
}

}  // namespace tercet
