// Calls of compiled functions that were elaborated before: what makes a session elaborate them again (elaborate/jit_memo.cpp).
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/session_runner.h"

namespace tercet {
namespace {

class Prompt {
 public:
  explicit Prompt(bool compiled) : runner_(compiled, false) {}
  void define(const std::string& text) {
    const test::Ran ran = runner_.run(text);
    INFO(text << (ran.error ? ": " + ran.error->message : std::string()));
    REQUIRE(!ran.error);
  }
  /// Three times: elaborated, and as it is remembered.
  void expect(const std::string& expression, const std::string& printed) {
    for (int i = 0; i < 3; ++i) {
      const test::Ran ran = runner_.run("print(" + expression + ")");
      INFO(expression << (ran.error ? ": " + ran.error->message : std::string()));
      CHECK(!ran.error);
      CHECK(ran.printed == printed + "\n");
    }
  }
  void expect_error(const std::string& expression, Kind kind) {
    for (int i = 0; i < 2; ++i) {
      const test::Ran ran = runner_.run(expression);
      INFO(expression);
      REQUIRE(ran.error);
      CHECK(ran.error->kind == kind);
    }
  }

 private:
  test::Runner runner_;
};

void check_all(bool compiled) {
  Prompt p(compiled);
  // what the body reads is bound anew
  p.define("let offset = 1.0\nfn scale(x) = x * 2.0\nlet f = jit (x => scale(x) + offset)");
  p.expect("f([1.0])", "[3.0]");
  p.define("fn scale(x) = x * 3.0");
  p.expect("f([1.0])", "[4.0]");
  p.define("let offset = 10.0");
  p.expect("f([1.0])", "[13.0]");
  p.define("let offset = [10, 20]");
  p.expect("f([1.0])", "[13.0, 23.0]");
  p.define("let scale = sqrt");
  p.expect("f([4.0])", "[12.0, 22.0]");
  p.define("var count = 1\nlet counted = jit (x => x + count)");
  p.expect("counted(1)", "2");
  p.define("count = count + 5");
  p.expect("counted(1)", "7");
  // the arguments' types, sizes and structure
  p.expect("counted(1.5), counted([1, 2]), counted([1, 2, 3]), counted(u8(1))", "7.5 [7, 8] [7, 8, 9] 7");
  p.define("let add = jit ((x, y) => x + y)\nlet first = jit (t => t.a)");
  p.expect("add(ones(2), ones(2)), add(ones(2), ones(1)), add(ones(1), ones(2))", "[2.0, 2.0] [2.0, 2.0] [2.0, 2.0]");
  p.expect_error("add(ones(2), ones(3))", Kind::Shape);
  p.expect("first((a=1, b=2)), first((b=1, a=2)), first((a=(1, 2),))", "1 2 (1, 2)");
  p.expect("add(y=1, x=2), add(1, y=3)", "3 4");
  p.define("let digits = 0.1\nlet plus = jit ((x, y) => x + y)\nlet with_digits = jit (x => x + digits)");
  p.expect("plus(0.1, f64(0)), plus(0.1, f32(0)) == f32(0.1), plus(f64(0), f32(0.5)), with_digits(f64(0))", "0.1 true 0.5 0.1");
  p.expect("dtype(plus([], f64([1.0])[0:0])), plus([], zeros(0))", "f64 []");
  // what decides an axis
  p.define("let total = jit ((x, axis) => sum(x, axis=axis))");
  p.expect("total(ones((2, 3)), 0), total(ones((2, 3)), 1)", "[2.0, 2.0, 2.0] [3.0, 3.0]");
  // a library's name that the program takes
  p.define("let shares = jit (x => softmax(x))");
  p.expect("shares([1.0, 1.0])", "[0.5, 0.5]");
  p.define("fn softmax(x) = x");
  p.expect("shares([1.0, 1.0])", "[1.0, 1.0]");
  // a name that is missing, and then is there
  p.define("let late = jit (x => x + missing)");
  p.expect_error("late(1)", Kind::Name);
  p.define("let missing = 4");
  p.expect("late(1)", "5");
  // functions as arguments and captured values
  p.define("let apply_to = jit ((g, x) => g(x))\nfn times(a) = jit (x => x * a)");
  p.expect("apply_to(sqrt, 4.0), apply_to(exp, 0.0), times(2)(3), times(5)(3)", "2.0 1.0 6 15");
  for (int i = 0; i < 400; ++i) p.expect(fmt::format("apply_to(x => x + {}, 1)", i), fmt::format("{}", i + 1));   // trees come and go
  // gradients, lanes around and inside, and a statement with several calls
  p.define("fn loss(w, x) = sum((x * w) ** 2)\nlet step = jit ((w, x) => w - grad(loss)(w, x) * 0.25)\nvar w = [1.0, 2.0]\nlet x = [1.0, 1.0]");
  for (const char* expected : {"[0.5, 1.0]", "[0.25, 0.5]", "[0.125, 0.25]"}) {
    p.define("w = step(w, x)");
    p.expect("w", expected);
  }
  p.expect("vmap(step)([[1.0], [2.0]], [[1.0], [1.0]]), step([1.0], [1.0])", "[[0.5],\n [1.0]] [0.5]");
  p.expect("compile_count(step) > 0", compiled ? "true" : "false");
}

TEST_CASE("a call that was elaborated before gives what it would give now", "[session]") {
  check_all(true);
  check_all(false);
}

}  // namespace
}  // namespace tercet
