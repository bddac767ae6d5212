// Loops of the evaluator that go on as compiled code: which do and when, and that nothing but the time tells.
#include <catch2/catch.hpp>

#include <thread>

#include "codegen/backend.h"
#include "interpreter/engine/callable.h"
#include "interpreter/engine/session.h"
#include "tests/support.h"

namespace tercet {
namespace {

/// Counts the loops that are compiled.
class CountingBackend final : public Backend {
 public:
  std::shared_ptr<const Executable> compile(FunctionPtr function, const CompileOptions& options) override { return llvm_->compile(std::move(function), options); }
  std::shared_ptr<const Executable> compile_loop(FunctionPtr function, const CompileOptions& options) override {
    std::shared_ptr<const Executable> out = llvm_->compile_loop(std::move(function), options);
    loops += out != nullptr;
    ++asked;
    return out;
  }
  std::atomic<int> loops = 0, asked = 0;

 private:
  std::shared_ptr<Backend> llvm_ = make_llvm_backend();
};

struct Ran {
  std::string text;   // what it printed, then its error
  int loops, asked;
};

Ran run(const std::string& source, CompileLoops when, int stop_at_poll = -1) {
  auto backend = std::make_shared<CountingBackend>();
  Ran out{};
  std::atomic<int> polls{0};
  SessionOptions options;
  options.backend = backend;
  options.compile_loops = when;
  options.write = [&](std::string_view text) { out.text += text; };
  if (stop_at_poll > 0) options.stop = [&] { return ++polls > stop_at_poll; };
  Session session(std::move(options));
  Outcome outcome = session.run(session.add_source("test", source));
  if (!outcome.ok()) out.text += render(outcome.diagnostics[0], session.sources());
  out.loops = backend->loops, out.asked = backend->asked;
  return out;
}

const std::string lcs = R"(
fn lcs(a: i32[n], b: i32[m]) {
  var row = zeros([m + 1], i32)
  for i in 0..n {
    var diagonal = 0
    for j in 0..m {
      let above = row[j + 1]
      row[j + 1] = if a[i] == b[j] { diagonal + 1 } else { maximum(above, row[j]) }
      diagonal = above
    }
  }
  row[m]
}
)";

}  // namespace

TEST_CASE("the evaluator's loops are compiled when they have run for a while", "[loops]") {
  for (CompileLoops when : {CompileLoops::Auto, CompileLoops::Always, CompileLoops::Never}) {
    const Ran brief = run(lcs + "print(lcs([1, 2, 3, 2], [2, 3, 1, 2]))", when);
    CHECK(brief.text == "3\n");
    CHECK(brief.loops == (when == CompileLoops::Always));
    const Ran large = run(lcs + "print(lcs(arange(300) % 7, arange(200) % 5))", when);
    CHECK(large.text == "200\n");
    CHECK(large.loops == (when != CompileLoops::Never));
  }
}

TEST_CASE("a while that nobody knows the length of is compiled while it runs", "[loops]") {
  const std::string source = "var x = u64(3)\nvar k = 0\nwhile k < 20000 or x % u64(2) == u64(0) { x = x * u64(6364136223846793005) + u64(1)\nk += 1 }\nprint(x, k)";
  const Ran without = run(source, CompileLoops::Never), with = run(source, CompileLoops::Auto);
  CHECK(with.text == without.text);
  CHECK(without.loops == 0);
  CHECK(with.loops == 1);
}

TEST_CASE("an inner loop is compiled when it was met often", "[loops]") {
  const std::string source = "var s = 0\nfor i in 0..3000 { var t = 0\nfor j in 0..20 { t += i * j % 7 }\nif i % 1000 == 0 { print(t) }\ns += t }\nprint(s)";
  const Ran without = run(source, CompileLoops::Never), with = run(source, CompileLoops::Auto);
  CHECK(with.text == without.text);
  CHECK(with.loops == 1);   // not the outer one, which prints
}

TEST_CASE("a failure in a loop that was compiled is told as the evaluator tells it", "[loops]") {
  for (const char* body : {"s += x[i % 2 + i // 60000]", "assert(i < 70000, f\"at {i}\")\ns += 1", "s += 100 // (60000 - i)"}) {
    const std::string source = fmt::format("fn f(x) {{\n  var s = 0\n  for i in 0..100000 {{\n    {}\n  }}\n  s\n}}\nprint(f([1, 2]))", body);
    INFO(source);
    const Ran without = run(source, CompileLoops::Never), with = run(source, CompileLoops::Auto);
    CHECK(without.text.find("error[") != std::string::npos);
    CHECK(with.text == without.text);
  }
}

TEST_CASE("a loop that was compiled stops when asked, and one that cannot be is asked about once", "[loops][interrupt]") {
  const Ran stopped = run("var i = 0\nwhile i >= 0 { i = (i + 1) % 1000 }", CompileLoops::Always, 50);
  CHECK(stopped.loops == 1);
  CHECK(stopped.text.find("interrupt") != std::string::npos);
  const Ran sorted = run("var x = [3.0, 1.0, 2.0]\nfor i in 0..30000 { x = sort(x * -1.0) }\nprint(x)", CompileLoops::Auto);
  CHECK(sorted.text == "[1.0, 2.0, 3.0]\n");
  CHECK(sorted.loops == 0);
  CHECK(sorted.asked == 1);
}

TEST_CASE("calls of a function of a host count its loops together, on several threads too", "[loops][threads]") {
  auto backend = std::make_shared<CountingBackend>();
  SessionOptions options;
  options.backend = backend;
  Session session(std::move(options));
  const SourceFile& source = session.add_source("test", "fn f(x: i32[n]) { var s = 0\n for v in x { s = s * 3 + v }\n s }\nf\n");
  const Outcome defined = session.run(source);
  REQUIRE(defined.ok());
  Callable f(session, *defined.value);
  Array x = Array::make(DType::I32, {50});
  uint32_t wanted = 0;
  for (int32_t i = 0; i < 50; ++i) x.data<int32_t>()[i] = i * i, wanted = wanted * 3 + static_cast<uint32_t>(i * i);
  std::atomic<int> wrong{0};
  auto calls = [&](int count) {
    const Value argument(x);
    for (int i = 0; i < count; ++i) wrong += f.call({&argument, 1}).leaf()->as_int() != static_cast<int32_t>(wanted);
  };
  calls(20);
  CHECK(backend->loops == 0);
  std::thread other([&] { calls(1500); });
  calls(1500);
  other.join();
  CHECK(wrong == 0);
  CHECK(backend->loops == 1);
}

}  // namespace tercet
