// Loops as one piece of machine code: which are, that they stop when asked, show how far they are, and take better code while
// they run. What they compute is compared in tests/cases/jit/loops_as_code.tct and by random programs.
#include <catch2/catch.hpp>

#include <map>
#include <random>

#include "codegen/backend.h"
#include "codegen/plan/moves.h"
#include "codegen/plan/plan.h"
#include "interpreter/engine/session.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/progress.h"
#include "tests/session_runner.h"
#include "tests/support.h"

namespace tercet {
namespace {

using test::ReferenceContext;

const OpDef& row(const char* name) { return *find_op(name); }

/// while i < n { x = f(x, i); i += 1 } over x of these sizes.
FunctionPtr counting(std::vector<Dim> dims, const OpDef& f) {
  const Type number{DType::I32, {}}, array{DType::I32, dims};
  auto params = [&](Builder& b) { return std::vector<ValueId>{b.param(number), b.param(array), b.param(number)}; };
  Builder condition("condition");
  std::vector<ValueId> c = params(condition);
  FunctionPtr test = condition.finish({condition.emit(row("lt"), {c[0], c[2]})});
  Builder step("step");
  std::vector<ValueId> s = params(step);
  ValueId one = step.emit(constant_op, {}, {{"value", scalar_of_int(DType::I32, 1)}});
  ValueId spread = dims.empty() ? s[0] : step.emit(broadcast_op, {s[0]}, {{"dims", dims}, {"axes", std::vector<int64_t>{}}});
  FunctionPtr body = step.finish({step.emit(row("add"), {s[0], one}), step.emit(f, {s[1], spread})});
  Builder b("counting");
  std::vector<ValueId> p = params(b);
  return b.finish({b.emit_many(while_op, p, {{"carried", int64_t{2}}}, {}, {test, body})[1]});
}

/// What `explain` says of the loop of a program.
bool is_one_piece(const std::string& explained) { return explained.find("in one piece of machine code") != std::string::npos; }

std::string explain(const std::string& source) {
  test::Runner r(true, false);
  test::Ran ran = r.run(source);
  INFO((ran.error ? ran.error->message : ""));
  REQUIRE(!ran.error);
  return ran.printed;
}

}  // namespace

TEST_CASE("loops of kernels, branches and loops are one piece of code", "[loops]") {
  const Dim n = Dim::symbol("n");
  for (const std::vector<Dim>& dims : {std::vector<Dim>{}, {Dim(3)}, {n}, {n, Dim(4)}}) {
    codegen::ProgramSet set = codegen::plan(counting(dims, row("bit_xor")));
    REQUIRE(set.loops.size() == 1);
    CHECK(codegen::always_fits(*set.loops[0]) == dims.empty());
  }
  CHECK(is_one_piece(explain("fn f(n) { var s = 0\n for i in 0..n { if i % 3 == 0 { s += i } else { var j = i\n while j > 0 { j = j // 2\n s ^= j } } }\n s }\nprint(explain(f, 10))")));
  CHECK(is_one_piece(explain("print(explain(x => scan((c, e) => (c * 0.5 + e, c), 0.0, x), [1.0, 2.0]))")));
  // What prints, or works on whole arrays, is not.
  auto reason = [](const std::string& explained) {
    CHECK_FALSE(is_one_piece(explained));
    const size_t at = explained.find("step by step, since ");
    return at == std::string::npos ? explained : explained.substr(at + 20, explained.find('\n', at) - at - 20);
  };
  CHECK(reason(explain("fn f(n) { var s = 0\n for i in 0..n { s += i\n print(s) }\n s }\nprint(explain(f, 10))")) == "`print` acts outside");
  CHECK(reason(explain("fn f(x) { var s = x\n for i in 0..3 { s = sort(s) - f32(i) }\n s }\nprint(explain(f, [3.0, 1.0]))")) == "`sort` works on whole arrays");
  CHECK(reason(explain("fn f(x) { var s = 0.0\n for i in 1..4 { s += sum(x[:i]) }\n s }\nprint(explain(f, [3.0, 1.0, 2.0, 5.0]))")) == "a size is known only step by step");
}

TEST_CASE("a loop as one piece gives what its evaluation gives, in both tiers", "[loops]") {
  std::unique_ptr<Backend> backend = make_llvm_backend();
  for (const char* op : {"add", "bit_xor", "mul"})
    for (const std::vector<Dim>& dims : {std::vector<Dim>{}, {Dim(3)}, {Dim::symbol("n")}})
      for (Optimize optimize : {Optimize::Never, Optimize::Always}) {
        const FunctionPtr f = counting(dims, row(op));
        Array x = Array::make(DType::I32, dims.empty() ? Shape{} : Shape{3});
        for (int64_t i = 0; i < x.count(); ++i) x.data<int32_t>()[i] = static_cast<int32_t>(3 + i);
        const std::vector<Array> arguments{scalar_of_int(DType::I32, 0), x, scalar_of_int(DType::I32, 1000)};
        ReferenceContext one, other;
        const Array wanted = evaluate(*f, one, arguments)[0], got = backend->compile(f, {1, 0, 0, false, optimize})->run(other, arguments)[0];
        CHECK(test::same_elements(got, wanted));
        CHECK(x.data<int32_t>()[0] == 3);   // what was given stays
      }
}

namespace {

/// Fails at the poll of number `at`.
class Stopping : public ReferenceContext {
 public:
  explicit Stopping(int at) : left_(at) {}
  void poll() override {
    if (--left_ < 0) fail(Kind::Interrupt, {}, "interrupted");
  }

 private:
  int left_;
};

/// A lane that never ends where e is above 20.
const char* tables = "fn f(x: i32[n], e: i32) { var t = zeros([30], i32)\n var k = 0\n"
                     " while k < e { t[k % 30] += x[k % n]\n k += if k == 20 { 0 } else { 1 } }\n t }\n";

/// for i in 0..2 { an endless loop } as one piece: it never comes back to the outer loop.
const char* endless_inside = "fn f(n: i32) { var s = 0\n for i in 0..2 { var j = 0\n while j < n { j = j * 2 } \n s += j }\n s }\n";

}  // namespace

TEST_CASE("a loop as one piece is stopped inside an inner loop", "[loops][interrupt]") {
  std::atomic<int> polls{0};
  SessionOptions options;
  options.backend = make_llvm_backend();
  options.stop = [&] { return ++polls > 100; };
  Session session(std::move(options));
  Outcome out = session.run(session.add_source("test", std::string(endless_inside) + "jit(f)(10)\n"));
  REQUIRE(!out.ok());
  CHECK(out.diagnostics[0].kind == Kind::Interrupt);
}

TEST_CASE("lanes of a loop that writes elements are the steps of one piece; other loops take steps together", "[loops]") {
  auto batch = [](const std::string& step, const std::string& start) {
    return explain("fn f(x: i32[n]) { var t = " + start + "\n for i in 0..n { " + step + " }\n t }\nprint(explain(vmap f, reshape(arange(6), (3, 2))))");
  };
  auto by_lane = [](const std::string& explained) { return explained.find("lanes side by side") != std::string::npos; };
  CHECK(by_lane(batch("t[x[i]] += 1", "zeros([30], i32)")));
  CHECK(by_lane(batch("if x[i] > 1 { t[i, 0] = x[i] } else { t[0, i] = t[i, i] }", "zeros([30, 30], i32)")));
  CHECK_FALSE(by_lane(batch("t = t * 3 + x[i]", "0")));                         // numbers fill vectors
  CHECK_FALSE(by_lane(batch("t[x[i] % 3] += 1", "zeros([3], i32)")));           // and so do a few
  CHECK_FALSE(by_lane(batch("t[i] = sum(t)", "zeros([30], i32)")));             // a whole array each step
  CHECK_FALSE(by_lane(batch("t[i] = 1\n print(i)", "zeros([30], i32)")));
}

TEST_CASE("lanes on several threads are stopped", "[loops][interrupt]") {
  std::atomic<bool> stop{false};
  std::atomic<int> polls{0};
  SessionOptions options;
  options.backend = make_llvm_backend();
  options.stop = [&] { return stop && ++polls > 100; };
  Session session(std::move(options));
  const std::string call = "jit(vmap f)(reshape(arange(4000), (1000, 4)), full([1000], ";
  Outcome out = session.run(session.add_source("test", std::string(tables) + call + "20))[999]\n"));
  INFO((out.ok() ? "" : out.diagnostics[0].message));
  REQUIRE(out.ok());
  stop = true;
  out = session.run(session.add_source("test", call + "21))\n"));
  REQUIRE(!out.ok());
  CHECK(out.diagnostics[0].kind == Kind::Interrupt);
}

TEST_CASE("a loop as one piece is stopped between its steps, and tells how many are done", "[loops][interrupt]") {
  struct Listener : ProgressListener {
    int64_t done = 0, told = 0;
    void advanced(const LoopProgress& outer, const LoopProgress*) override {
      CHECK(outer.done >= done);
      done = outer.done, ++told;
    }
    void ended() override {}
  } listener;
  std::unique_ptr<Backend> backend = make_llvm_backend();
  std::shared_ptr<const Executable> code = backend->compile(counting({}, row("bit_xor")), {1});
  const std::vector<Array> arguments{scalar_of_int(DType::I32, 0), scalar_of_int(DType::I32, 7), scalar_of_int(DType::I32, 2'000'000)};
  {
    ProgressScope scope(&listener);
    ReferenceContext context;
    code->run(context, arguments);
  }
  CHECK(listener.done == 2'000'000);
  CHECK(listener.told > 5);
  Stopping context(6);
  CHECK_THROWS_AS(code->run(context, arguments), Failure);
}

TEST_CASE("a loop as one piece goes on with better code", "[loops][tiers]") {
  std::unique_ptr<Backend> backend = make_llvm_backend();
  std::shared_ptr<const Executable> code = backend->compile(counting({}, row("bit_xor")), {1});
  ReferenceContext context;
  const std::vector<Array> arguments{scalar_of_int(DType::I32, 0), scalar_of_int(DType::I32, 7), scalar_of_int(DType::I32, INT32_MAX)};
  const Array got = code->run(context, arguments)[0];
  // x ^ 0 ^ 1 ^ ... ^ m is x ^ (m, 1, m + 1 or 0, for m % 4 = 0, 1, 2 or 3); m = 2^31 - 2 here.
  CHECK(got.as_int() == (7 ^ INT32_MAX));
  CHECK(code->explain(arguments).find(", optimised;") != std::string::npos);
}

TEST_CASE("arrays that change places at once end where they should, and what is shared is not written to", "[loops]") {
  std::mt19937 random(1);
  int done = 0, exchanges = 0;
  for (int round = 0; round < 20'000; ++round) {
    // Places 0 .. carried - 1 get arrays; those from `carried` to `own` - 1 have memory of the loop, others are captured.
    const int carried = 1 + static_cast<int>(random() % 4), own = carried + static_cast<int>(random() % 3), all = own + static_cast<int>(random() % 2);
    std::vector<codegen::Arrival> arrivals;
    for (int k = 0; k < carried; ++k) {
      const auto from = static_cast<int32_t>(random() % static_cast<unsigned>(all));
      arrivals.push_back({k, from, from < own});
    }
    std::vector<int> memory(static_cast<size_t>(all));   // which block each place has; block b holds array b at first
    std::map<int, int> holds;
    for (int b = 0; b < all; ++b) memory[static_cast<size_t>(b)] = holds[b] = b;
    auto moves = codegen::ordered_moves(arrivals);
    if (!moves) continue;
    ++done;
    for (const auto& m : *moves) {
      int &to = memory[static_cast<size_t>(m.to)], &from = memory[static_cast<size_t>(m.from)];
      REQUIRE(to < own);   // never a captured block
      if (m.swap) std::swap(to, from), ++exchanges;
      else holds[to] = holds[from];
      REQUIRE((!m.swap || m.from < own));
    }
    for (const codegen::Arrival& a : arrivals) REQUIRE(holds[memory[static_cast<size_t>(a.to)]] == a.from);
    for (int captured = own; captured < all; ++captured) REQUIRE(holds[captured] == captured);
  }
  CHECK(done > 15'000);
  CHECK(exchanges > 5'000);
}

}  // namespace tercet
