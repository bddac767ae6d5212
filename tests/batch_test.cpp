// vmap of control flow, updates and effects means a loop over the lanes: values, prints, the first error; interpreted and
// compiled. (Rows one by one: property_test; programs at random: random_test.)
#include <catch2/catch.hpp>

#include "tests/random/equal.h"
#include "tests/session_runner.h"

namespace tercet {
namespace {

using test::Ran;
using test::Runner;

/// A function of x and y, and what stands for x in the lanes; y is shared.
struct Case {
  const char* what;
  const char* function;
  const char* lanes;
  const char* shared;
};

const Case cases[] = {
    {"branches that disagree", "fn f(x, y) = if x > 2 { x * 10 } else { y - x }", "[1, 3, 2, 5]", "7"},
    {"branches whose sizes are found equal", "fn f(x, y) = if x > 2 { y[0:2] } else { [x, x] }", "[1, 3, 2, 5]", "[7, 8, 9]"},
    {"a branch inside a branch", "fn f(x, y) = if x > 2 { if x > 4 { 1 } else { y } } else if x == 1 { 2 } else { x }", "[1, 3, 2, 5, 0]", "7"},
    {"loops that end at different times", "fn f(x, y) { var i = 0\nvar s = y\nwhile i < x { s = s * 2 + i\ni += 1 }\ns }", "[0, 3, 1, 7]", "1"},
    {"a loop inside a loop", "fn f(x, y) { var s = y\nfor i in 0..x { var k = i\nwhile k > 0 { s += k\nk -= 2 } }\ns }", "[0, 3, 1, 6]", "1"},
    {"break and continue", "fn f(x, y) { var s = 0\nfor i in 0..10 { if i == x { break }\nif i % 2 == 1 { continue }\ns += i * y }\ns }", "[0, 3, 9, 20]", "3"},
    {"return from a loop", "fn f(x, y) { for i in 0..10 { if i * i > x { return i + y } }\n-1 }", "[0, 3, 9, 200]", "100"},
    {"return of an array", "fn f(x, y) { if x > 2 { return y }\nvar z = y * 2\nz[0] = x\nz }", "[0, 3, 1]", "[5, 6]"},
    {"an accumulated array", "fn f(x, y) { var s = y\nfor i in 0..3 { s[i] += x * i }\ns }", "[0, 3, 1]", "[5, 6, 7]"},
    {"update at an index of the lane", "fn f(x, y) { var s = y\ns[x] = 100\ns[x - 1] += 1\ns }", "[0, 3, 1]", "[5, 6, 7, 8]"},
    {"update at repeated indices", "fn f(x, y) { var s = y\ns[[x, x, 0]] += [1, 2, 3]\ns[[0, x, x]] = [9, 8, 7]\ns }", "[0, 3, 1]", "[5, 6, 7, 8]"},
    {"a window of the lane", "fn f(x, y) { var s = y\ns[x : x + 2] = [1, 2]\ns[x : x + 2] * 10 }", "[0, 2, 1]", "[5, 6, 7, 8]"},
    {"u8 indices, more lanes than a byte counts", "fn f(x, y) = y[x % 4u8]", "u8(arange(300))", "[5, 6, 7, 8]"},
    {"scan, fold, map", "fn f(x, y) { let (c, ys) = scan((c, v) => (c + v * x, c), 0, y)\nc + sum(ys) + fold((c, v) => c * x - v, 1, y) + sum(map(v => v * x, y)) }",
     "[2, 3, 1]", "[5, 6, 7, 8]"},
    {"vmap inside, one side shared", "fn f(x, y) = (vmap[0, _] ((a, b) => sum(a * b)))([x, x + 1], y)", "[2, 3, 1]", "[5, 6]"},
    {"a function of a function", "fn twice(g, v) = g(g(v))\nfn f(x, y) = twice(v => v * x + y, 1)", "[2, 3, 1]", "5"},
    {"recursion", "fn f(x, y) = if x <= 0 { y } else { x + f(x - 1, y) }", "[2, 5, 0]", "5"},
    {"prints of living lanes", "fn f(x, y) { print(\"at\", x)\nif x > 2 { print(\"big\", x, y) }\nfor i in 0..x { print(x, i) }\nx }", "[1, 3, 0, 2]", "7"},
    {"nothing is printed twice", "fn f(x, y) { var i = 0\nwhile i < x { if i == 1 { print(\"one\", x) }\ni += 1 }\ni }", "[1, 3, 0, 2]", "7"},
    {"an index out of range in one lane", "fn f(x, y) { print(\"at\", x)\ny[x] }", "[1, 0, 7, 9]", "[1, 2, 3]"},
    {"out of range where nobody is", "fn f(x, y) = if x < 3 { y[x] } else { -1 }", "[1, 0, 7, 9]", "[1, 2, 3]"},
    {"out of range in a shared index", "fn f(x, y) { print(\"at\", x)\nif x > 1 { [1, 2][y] } else { 0 } }", "[1, 0, 7, 9]", "5"},
    {"division by zero in a dead lane", "fn f(x, y) = if x != 0 { y // x } else { 0 }", "[1, 0, 7, 9]", "5"},
    {"division by zero after two iterations", "fn f(x, y) { var s = y\nfor i in 0..3 { s = s + 10 // (x - i) }\ns }", "[7, 5, 2, 0]", "5"},
    {"assert in a loop", "fn f(x, y) { var i = 0\nwhile i < 5 { assert(i != x, \"met\")\nprint(x, i)\ni += 1 }\ni }", "[9, 3, 1]", "5"},
    {"an error in an earlier lane but later in the program", "fn f(x, y) { if x == 2 { print(y[9]) }\nif x == 1 { print(y[8]) }\nx }", "[0, 1, 2]", "[1, 2]"},
    {"tuples and records in loops", "fn f(x, y) { var s = (a=0, b=(y, x))\nfor i in 0..x { s = (a=s.a + i, b=(s.b[0] * 2, s.b[1] + 1)) }\ns.a + s.b[0] + s.b[1] }",
     "[2, 0, 3]", "5"},
    {"keys of the lane", "fn f(x, y) { let (a, b) = split(clone(x))\n(uniform(a, 3), randint(b, 2, 0, y), permutation(fold_in(clone(x), y), 5), normal(clone(x), (2, 2))) }",
     "split(key(0), 4)", "9"},
    {"keys in loops that end at different times", "fn f(x, y) { var k = key(x)\nvar s = 0.0\nwhile s < y { let (next, now) = split(k)\nk = next\ns += uniform(now) }\n(s, k) }", "[0, 3, 1, 7]", "2.5"},
    {"a key drawn from twice in one lane", "fn f(x, y) { let k = key(x)\nlet a = uniform(k)\nif x == 7 { print(\"again\")\nuniform(k) } else { a + y } }", "[1, 3, 7, 2]", "5"},
    {"a key drawn from twice in a loop of one lane", "fn f(x, y) { let k = key(x)\nvar s = 0.0\nfor i in 0..x { print(x, i)\ns += uniform(k) }\ns }", "[1, 0, 2, 3]", "5"},
    {"a key split after it was folded", "fn f(x, y) { let a = fold_in(y, x)\nlet b = fold_in(y, x + 1)\nif x > 2 { print(split(y)) }\nuniform(a) + uniform(b) }", "[1, 0, 3, 2]", "key(5)"},
    {"no lanes", "fn f(x, y) { var i = 0\nwhile i < x { i += y[i] }\nprint(i)\ni }", "i32(zeros((0,)))", "[1, 2]"},
    {"reductions and sorting", "fn f(x, y) = sum(sort(y * x)) + argmax(y * x) * 100 + cumsum(y)[x]", "[2, -3, 1]", "[3, 1, 2]"},
};

/// What a loop over the lanes gives.
Ran looped(Runner& runner, int64_t lanes) {
  Ran all;
  std::vector<Value> values;
  for (int64_t i = 0; i < lanes; ++i) {
    Ran one = runner.run("f(xs[" + std::to_string(i) + "], y)");
    all.printed += one.printed;
    if (one.error) {
      one.error->row.push_back(i);
      all.error = one.error;
      return all;
    }
    values.push_back(*one.value);
  }
  if (lanes) all.value = random_programs::stacked(values);
  return all;
}

}  // namespace

TEST_CASE("vmap means a loop over the lanes", "[batch][vmap]") {
  for (const Case& c : cases)
    DYNAMIC_SECTION(c.what) {
      for (const char* how : {"interpreted", "jit", "jit-all"}) {
        INFO(how << "\n" << c.function);
        Runner runner(std::string(how) != "interpreted", std::string(how) == "jit-all");
        Ran ready = runner.run(std::string(c.function) + "\nlet xs = " + c.lanes + "\nlet y = " + c.shared + "\nlen(xs)");
        if (ready.error) FAIL(ready.error->message);
        Ran expected = looped(runner, ready.value->leaf()->as_int());
        Ran got = runner.run(std::string(how) == "jit" ? "(jit vmap[0, _] f)(xs, y)" : "(vmap[0, _] f)(xs, y)");
        if (got.error) INFO(got.error->message);
        CHECK(got.printed == expected.printed);
        REQUIRE(got.error.has_value() == expected.error.has_value());
        if (got.error) {
          CHECK(got.error->kind == expected.error->kind);
          CHECK(got.error->message == expected.error->message);
          CHECK(got.error->row == expected.error->row);
        } else if (expected.value) {
          INFO("got " << value_text(*got.value) << ", expected " << value_text(*expected.value));
          CHECK(random_programs::same_value(*got.value, *expected.value));
        } else {
          CHECK(got.value->leaf()->shape[0] == 0);
        }
      }
    }
}

}  // namespace tercet
