// Sessions: what is compiled when, what a failing statement leaves behind, limits, interrupts, order of effects.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "codegen/backend.h"
#include "interpreter/engine/session.h"

namespace tercet {
namespace {

class Program {
 public:
  explicit Program(bool compiled = true, int64_t memory = INT64_MAX) : session_([&] {
    SessionOptions o;
    if (compiled) o.backend = make_llvm_backend();
    o.compile.threads = 2;
    o.memory_bytes = memory;
    o.write = [this](std::string_view text) { printed += text; };
    return o;
  }()) {}

  /// The value of the source's last expression as text; a failing source fails the test.
  std::string eval(const std::string& text) {
    Outcome out = session_.run(session_.add_source("test", text));
    for (const Diagnostic& d : out.diagnostics) FAIL(render(d, session_.sources()));
    return out.value ? value_text(*out.value) : "";
  }
  /// The first error of a source that must fail.
  Diagnostic error(const std::string& text) {
    Outcome out = session_.run(session_.add_source("test", text));
    REQUIRE_FALSE(out.ok());
    return out.diagnostics[0];
  }
  Session& session() { return session_; }
  std::string printed;

 private:
  Session session_;
};

/// Milliseconds between the call of interrupt() and the end of a source that would never end.
double stop_time(Program& program, const std::string& text) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point asked;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));   // compiled by then
    asked = Clock::now();
    program.session().interrupt();
  });
  Outcome out = program.session().run(program.session().add_source("endless", text));
  Clock::time_point stopped = Clock::now();
  other.join();
  REQUIRE_FALSE(out.ok());
  CHECK(out.diagnostics[0].kind == Kind::Interrupt);
  return std::chrono::duration<double, std::milli>(stopped - asked).count();
}

}  // namespace

TEST_CASE("199 lengths, 1 among them, compile at most twice", "[session][jit]") {
  Program p;
  p.eval("fn f(x) = sum(x * 2.0) + max(x)\nlet g = jit f");
  for (int n = 1; n < 200; ++n) p.eval("g(ones((" + std::to_string(n) + ",)))");
  int count = std::stoi(p.eval("compile_count(g)"));
  CHECK(count >= 1);
  CHECK(count <= 2);
  CHECK(p.eval("g(arange(5) / 1)") == "24.0");
  CHECK(std::stoi(p.eval("compile_count(g)")) == count);
}

TEST_CASE("one batched program serves all sizes of a batch", "[session][jit]") {
  Program p;
  p.eval("fn f(x) = sum(x * x)\nlet g = jit vmap f");
  for (int n : {2, 3, 5, 9, 17}) p.eval("g(ones((" + std::to_string(n) + ", " + std::to_string(2 * n) + ")))");
  CHECK(p.eval("compile_count(g)") == "1");
}

TEST_CASE("a redefinition is seen by compiled functions that use it", "[session][jit]") {
  Program p;
  p.eval("fn g(x) = x + 1\nfn f(x) = g(x) * 10\nlet h = jit f");
  CHECK(p.eval("h(1)") == "20");
  p.eval("fn g(x) = x + 2");
  CHECK(p.eval("h(1)") == "30");
  CHECK(p.eval("(jit f)(1)") == "30");
  p.eval("fn g(x) = x + 1");
  CHECK(p.eval("h(1)") == "20");
}

TEST_CASE("a global is seen by compiled code as it is at the call", "[session][jit]") {
  Program p;
  p.eval("var scale = 2\nfn f(x) = x * scale\nlet h = jit f");
  CHECK(p.eval("h([1, 2])") == "[2, 4]");
  p.eval("scale = 5");
  CHECK(p.eval("h([1, 2])") == "[5, 10]");
}

TEST_CASE("a failing statement leaves the session as it was", "[session]") {
  for (bool compiled : {false, true}) {
    Program p(compiled);
    p.eval("var x = [1, 2, 3]\nlet y = 7");
    auto before = p.session().names();
    CHECK(p.error("x[5] = 1").kind == Kind::Index);
    CHECK(p.error("x = x + [1, 2]").kind == Kind::Shape);
    CHECK(p.error("let z = x[y]").kind == Kind::Index);
    CHECK(p.error("for i in 0..5 { x[i] = 9 }").kind == Kind::Index);
    CHECK(p.error("fn f(a) = a[4]\nlet w = (jit f)(x)").kind == Kind::Index);
    CHECK(p.error("let q = (").kind == Kind::Syntax);
    before.push_back("f");   // the statements before the failing one stand
    std::sort(before.begin(), before.end());
    CHECK(p.session().names() == before);
    CHECK(p.eval("x") == "[1, 2, 3]");
    CHECK(p.eval("y") == "7");
  }
}

TEST_CASE("more memory than the session may use is an error", "[session]") {
  for (bool compiled : {false, true}) {
    Program p(compiled, 1 << 20);
    CHECK(p.error("zeros((1000, 1000))").kind == Kind::Limit);
    CHECK(p.error("fn f(n) = sum(cumsum(zeros((n, n)), axis=0))\nf(2000)").kind == Kind::Limit);
    CHECK(p.error("(jit (n => cumsum(ones((n,)), axis=0)))(5000000)").kind == Kind::Limit);
    CHECK(p.eval("sum(ones((1000,)))") == "1000.0");   // and the session goes on
  }
  Program huge;
  CHECK(huge.error("zeros((1000000000, 1000000000, 1000000000))").kind == Kind::Limit);
}

TEST_CASE("an endless loop stops within 50 ms of an interrupt", "[session]") {
  SECTION("interpreted") {
    Program p(false);
    CHECK(stop_time(p, "var i = 0\nwhile true { i += 1 }") < 50);
  }
  SECTION("compiled") {
    Program p;
    CHECK(stop_time(p, "fn f(x) { var i = x\nwhile i >= x { i = i * 0 + x }\ni }\n(jit f)(1)") < 50);
  }
  SECTION("compiled, long steps") {
    Program p;
    CHECK(stop_time(p, "fn f(x) { var y = x\nwhile sum(y) > -1.0 { y = tanh(y) * 1.0001 }\ny }\n(jit f)(ones((2000000,)))") < 50);
  }
  SECTION("with nothing in it and nothing after it") {
    Program p;
    CHECK(stop_time(p, "while true { }") < 50);
  }
  SECTION("whose value nobody needs, compiled and in lanes") {
    Program p;
    CHECK(stop_time(p, "fn f(x) { if x > 0 { while true { } }; x }\n(jit vmap(f))([0, 1])") < 50);
  }
  SECTION("the session goes on") {
    Program p(false);
    stop_time(p, "var i = 0\nwhile true { i += 1 }");
    p.session().clear_interrupt();
    CHECK(p.eval("1 + 1") == "2");
  }
}

TEST_CASE("endless recursion is an error", "[session]") {
  for (bool compiled : {false, true}) {
    Program p(compiled);
    CHECK(p.error("fn f(n) = if n < 0 { 0 } else { 1 + f(n + 1) }\nf(0)").kind == Kind::Limit);
    CHECK(p.eval("fn g(n) = if n == 0 { 0 } else { 1 + g(n - 1) }\ng(500)") == "500");
  }
}

TEST_CASE("prints come lane by lane, whatever ran first", "[session][vmap]") {
  for (const char* how : {"", "jit "}) {
    Program p;
    p.eval("fn f(x) {\n  print(\"a\", x)\n  if x > 1 { print(\"big\", x) }\n  for i in 0..x { print(\"step\", x, i) }\n  x\n}");
    p.eval(std::string("(") + how + "vmap f)([2, 0, 1])");
    CHECK(p.printed == "a 2\nbig 2\nstep 2 0\nstep 2 1\na 0\na 1\nstep 1 0\n");
  }
}

TEST_CASE("an error under vmap is the first lane's, after what earlier lanes printed", "[session][vmap]") {
  for (const char* how : {"", "jit "}) {
    Program p;
    p.eval("fn f(x, i) {\n  print(\"lane\", i)\n  x[i]\n}");
    Diagnostic d = p.error(std::string("(") + how + "vmap[_, 0] f)([1, 2, 3], [0, 2, 7, 1, 9])");
    CHECK(d.kind == Kind::Index);
    CHECK(d.row == std::vector<int64_t>{2});
    CHECK(d.message.find("index 7 is out of range for size 3") != std::string::npos);
    CHECK(p.printed == "lane 0\nlane 2\nlane 7\n");
  }
}

TEST_CASE("nested vmap names the row of every axis", "[session][vmap]") {
  for (const char* how : {"", "jit "}) {
    Program p;
    p.eval("fn f(x, i) = x[i]");
    Diagnostic d = p.error(std::string("(") + how + "vmap[_, 0] (vmap[_, 0] f))([1, 2, 3], [[0, 1], [2, 0], [1, 5]])");
    CHECK(d.kind == Kind::Index);
    CHECK(d.row == std::vector<int64_t>{1, 2});   // innermost first
    // Shared inside: the first inner lane; shared outside: the first outer one.
    d = p.error(std::string("(") + how + "vmap[_, 0] (x => vmap[_, 0] (y => f([1, 2], x))([5, 6])))([1, 9])");
    CHECK(d.kind == Kind::Type);
  }
}

TEST_CASE("a check that all lanes share fails in the first lane that gets there", "[session][vmap]") {
  for (const char* how : {"", "jit "}) {
    Program p;
    p.eval("fn f(x, table, k) {\n  print(\"lane\", x)\n  if x > 2 { table[k] } else { 0 }\n}");
    Diagnostic d = p.error(std::string("(") + how + "vmap[0, _, _] f)([1, 5, 3], [10, 20], 4)");
    CHECK(d.row == std::vector<int64_t>{1});
    CHECK(p.printed == "lane 1\nlane 5\n");
    CHECK(p.eval(std::string("(") + how + "vmap[0, _, _] f)([1, 2, 0], [10, 20], 4)") == "[0, 0, 0]");   // nobody gets there
  }
}

TEST_CASE("a size that all lanes share is asked for by living lanes only", "[session][vmap]") {
  for (const char* how : {"", "jit "}) {
    Program p;
    p.eval("fn f(x, n) = if x > 2 { sum(ones((n,))) } else { 0.0 }");
    CHECK(p.eval(std::string("(") + how + "vmap[0, _] f)([1, 2], sum([-3]))") == "[0.0, 0.0]");
    CHECK(p.eval(std::string("(") + how + "vmap[0, _] f)([1, 4], sum([3]))") == "[0.0, 3.0]");
    CHECK(p.error(std::string("(") + how + "vmap[0, _] f)([1, 4], sum([-3]))").kind == Kind::Value);
  }
}

}  // namespace tercet
