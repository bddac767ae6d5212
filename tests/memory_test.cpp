// What happens when the system has no more memory for this process.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "codegen/backend.h"
#include "tests/session_runner.h"

namespace tercet {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)   // they map much more than they use
/// For its scope this process gets at most so many bytes beyond what it has.
class OnlyMore {
 public:
  explicit OnlyMore(size_t bytes) {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = pages * 4096 + bytes;
    REQUIRE(setrlimit(RLIMIT_AS, &now) == 0);
  }
  ~OnlyMore() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_CASE("what cannot be compiled for lack of memory runs on the interpreter", "[memory]") {
  test::Runner session(true, false);
  const std::string run = "(jit (x => cumsum(x * 2.0) + sum(x)))([1.0, 2.0])";
  std::string explained;
  {
    OnlyMore limit(20 << 20);
    test::Ran ran = session.run("let f = jit (x => cumsum(x * 3.0) + sum(x))\nlet e = explain(f, [1.0])\nprint(e.contains(\"it runs on the interpreter\"), f([1.0, 2.0]))");
    explained = ran.error ? ran.error->message : ran.printed;
  }
  REQUIRE(explained == "true [6.0, 12.0]\n");
  REQUIRE(value_text(*session.run(run).value) == "[5.0, 9.0]");
  REQUIRE(session.run("print(explain(x => cumsum(x * 4.0) + sum(x), [1.0]).contains(\"it runs on the interpreter\"))").printed == "false\n");
}

TEST_CASE("an array for which there is no memory is an error, and the session goes on", "[memory]") {
  test::Runner session(true, false);
  std::optional<Diagnostic> error;
  {
    OnlyMore limit(200 << 20);
    error = session.run("let x = zeros(100_000_000)\nsum(x + 1.0)").error;
  }
  REQUIRE(error);
  REQUIRE(error->kind == Kind::Limit);
  REQUIRE(value_text(*session.run("sum(zeros(10) + 1.0)").value) == "10.0");
}
#endif

}  // namespace
}  // namespace tercet
