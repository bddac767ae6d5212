// What explain says of arrays that go to memory: the reason, in each of its kinds, and of copies.
#include <catch2/catch.hpp>

#include "tests/session_runner.h"

#if TERCET_HAS_LLVM

namespace tercet {
namespace {

std::string explained(const std::string& text) {
  test::Runner runner(true, false);
  test::Ran ran = runner.run(text);
  INFO((ran.error ? ran.error->message : std::string()));
  REQUIRE(!ran.error);
  return ran.printed;
}

void check_says(const std::string& text, const std::string& part) {
  const std::string got = explained(text);
  INFO(got);
  CHECK(got.find(part) != std::string::npos);
}

TEST_CASE("explain says why an array is stored", "[explain]") {
  const std::string x = "let x = ones((300, 300))\n";
  check_says(x + "print(explain(x => { let y = exp(x); y + transpose(y) }, x))", "it is used more than once, in different loops or orders, and takes about");
  check_says(x + "print(explain((x, y) => exp(x)[:, none] + y, ones(300), x))", "each element is read many times, and takes about");
  check_says(x + "print(explain(x => exp(x) @ x, x))", "`dot` works on whole arrays");
  check_says(x + "print(explain(x => x - mean(x, axis=1, keepdims=true), x))", "a reduction ends before it is read");
  check_says(x + "print(explain(x => reshape(transpose(exp(x)), -1) * 2.0, x))", "a reshape merges its axes");
  check_says(x + "print(explain(x => { var y = exp(x); while sum(y) > 1.0 { y = y / 2.0 }; y }, x))", "`while` runs its body on arrays in memory");
  std::string longest = "x";
  for (int i = 0; i < 30; ++i) longest = "sin(" + longest + " * 1.5)";
  check_says(x + "print(explain(x => transpose(" + longest + ") * 2.0, x))", "the expression would have more than 300 operations");
}

TEST_CASE("cheap values that are used twice are not stored", "[explain]") {
  const std::string got = explained("print(explain(x => { let y = x + 1.0; y * transpose(y) }, ones((300, 300))))");
  INFO(got);
  CHECK(got.find("stored for") == std::string::npos);
  CHECK(got.find("copies: none\n") != std::string::npos);
  CHECK(got.find("(1 times)") != std::string::npos);   // what must be moved is
}

TEST_CASE("explain counts copies", "[explain]") {
  check_says("print(explain((x, i) => { var y = x; y[i] = 1.0; y + x }, ones(1000), 3))", "copies: 1 of 4000 B\n");
  check_says("print(explain((x, i) => { var y = x; y[i] = 1.0; y }, ones(1000), 3))", "copies: none, 1 more where something else holds an array that is changed\n");
}

}  // namespace
}  // namespace tercet

#endif
