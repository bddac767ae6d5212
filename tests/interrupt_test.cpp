// Work stops soon after it is asked to, and leaves nothing behind: native operations alone, and whole programs, by counted
// polls. tests/tools/stop_times.cpp measures how soon.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "interpreter/engine/evaluate.h"
#include "interpreter/engine/session.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/files.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/vocab.h"
#include "tests/stopping_programs.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

using namespace tercet;

namespace {

/// A poll that fails from its nth call on, and remembers when it first did.
struct Stopper {
  explicit Stopper(int after) : left(after) {}
  void ask() {
    if (left.fetch_sub(1) > 0) return;
    if (!failed.exchange(true)) at = std::chrono::steady_clock::now();
    fail(Kind::Interrupt, {}, "interrupted");
  }
  std::atomic<int> left;
  std::atomic<bool> failed{false};
  std::chrono::steady_clock::time_point at;
};

/// Milliseconds from the failing poll to the return; -1 when the work ended unhindered.
template <class F> double milliseconds_to_stop(F work) {
  Stopper stopper(2);
  Poll poll = [&] { stopper.ask(); };
  PollScope scope(&poll);
  try {
    work();
  } catch (const Failure& failure) {
    CHECK(failure.diagnostics().front().kind == Kind::Interrupt);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - stopper.at).count();
  }
  return -1;
}

Array many_texts() {
  static std::string text = "Some Words, of a text that is repeated OFTEN enough to take a while.";
  std::vector<std::string_view> list(200'000, text);
  return Array::strings(list);
}

}  // namespace

TEST_CASE("text operations stop when asked", "[interrupt]") {
  Array texts = many_texts(), tokens = tokenize(texts, "words");
  auto vocab = Vocab::build(tokens, {});
  Array ids = encode(*vocab, tokens), others = tokenize(texts, "words"), one_text = join(texts, " ");
  int64_t used = current_budget()->used();
  auto stops = [&](auto work) {
    double ms = milliseconds_to_stop(work);
    CHECK(ms >= 0);
    CHECK(ms < 50);
    CHECK(current_budget()->used() == used);
  };
  stops([&] { lower(texts); });
  stops([&] { replace(texts, "Words", "w"); });
  stops([&] { text_lengths(texts); });
  stops([&] { matches(texts, "a.*e"); });
  stops([&] { tokenize(texts, "words"); });
  stops([&] { tokenize(texts, R"(\w+)"); });
  stops([&] { tokenize(one_text, "words"); });
  stops([&] { tokenize(one_text, "chars"); });
  stops([&] { code_points(texts); });
  stops([&] { join(tokens, " "); });
  stops([&] { Vocab::build(tokens, {}); });
  stops([&] { encode(*vocab, others); });   // not those it was built from, whose numbers it has
  stops([&] { decode(*vocab, ids); });
  stops([&] { pad_rows(ids, -1, Array::scalar(0)); });
}

// ---- whole programs ----
namespace {

/// A session that counts its polls, and stops at the one of number `at`.
struct Counted {
  Counted(const test::StoppingProgram& p, int64_t n, bool compiled, const std::string& folder) {
    SessionOptions s;
#if TERCET_HAS_LLVM
    static std::shared_ptr<Backend> backend = make_llvm_backend();
    if (compiled) s.backend = backend;
#endif
    s.jit_all = compiled;
    s.stop = [this] { return polls.fetch_add(1) + 1 >= at; };
    session = std::make_unique<Session>(std::move(s));
    Outcome done = session->run(session->add_source("setup", fmt::format("let n = {}\nlet file = \"{}/f\"\n{}\n", n, folder, p.setup)));
    INFO((done.ok() ? "" : render(done.diagnostics[0], session->sources())));
    REQUIRE(done.ok());
  }
  Outcome run(const char* text, int64_t stop_at = INT64_MAX) {
    polls = 0;
    at = stop_at;
    Outcome done = session->rerun(session->add_source("run", text));
    at = INT64_MAX;
    return done;
  }
  std::atomic<int64_t> polls{0}, at{INT64_MAX};
  std::unique_ptr<Session> session;
};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)   // which take minutes for it
TEST_CASE("the reference evaluator polls in proportion to its work", "[interrupt]") {
  const test::TemporaryFolder folder;
  constexpr int64_t small = 1 << 12, large = 1 << 20;
  for (const test::StoppingProgram& p : test::stopping_programs()) {
    if (!p.work) continue;
    INFO(p.name);
    int64_t polls[2];
    for (int k : {0, 1}) {
      Counted c(p, k ? large : small, false, folder.path());
      Outcome done = c.run(p.run);
      INFO((done.ok() ? "" : render(done.diagnostics[0], c.session->sources())));
      REQUIRE(done.ok());
      polls[k] = c.polls;
    }
    CHECK(polls[1] - polls[0] >= 3);
  }
}
#endif

TEST_CASE("a program that is stopped at any poll leaves nothing behind", "[interrupt]") {
  const test::TemporaryFolder folder;
  for (const test::StoppingProgram& p : test::stopping_programs())
    for (bool compiled : {false, true}) {
      if (compiled && !test::has_compiler) continue;
      INFO(p.name << (compiled ? ", compiled" : ""));
      Counted c(p, 1 << 14, compiled, folder.path());
      Outcome whole = c.run(p.run);
      INFO((whole.ok() ? "" : render(whole.diagnostics[0], c.session->sources())));
      REQUIRE(whole.ok());
      const int64_t polls = c.polls;
      std::string text = whole.value ? value_text(*whole.value) : "";
      whole.value.reset();
      const int64_t used = c.session->memory_used();
      for (int64_t at : {int64_t{1}, polls / 3, polls * 2 / 3}) {
        if (at < 1) continue;
        Outcome stopped = c.run(p.run, at);
        INFO("poll " << at << " of " << polls);
        REQUIRE(stopped.diagnostics.size() == 1);
        CHECK(stopped.diagnostics[0].kind == Kind::Interrupt);
        CHECK(c.session->memory_used() == used);
      }
      Outcome again = c.run(p.run);
      REQUIRE(again.ok());
      CHECK((again.value ? value_text(*again.value) : "") == text);
    }
}

#if TERCET_HAS_LLVM
TEST_CASE("compiled kernels poll when there is much to do, and a call that compiles stops too", "[interrupt]") {
  const test::TemporaryFolder folder;
  for (const char* name : {"chain", "erfinv", "sum of rows", "sum of columns", "softmax", "put, add", "gather", "cumsum", "matmul", "sort"})
    for (const test::StoppingProgram& p : test::stopping_programs()) {
      if (std::string(p.name) != name) continue;
      INFO(name);
      Counted c(p, 1 << 22, true, folder.path());
      const int64_t compiling = (c.run(p.run), c.polls), before = compiling;
      c.run(p.run);
      CHECK(c.polls >= 6);
      CHECK(before >= 6);
    }
}
#endif

#if TERCET_HAS_LLVM
namespace {

/// x + x * x + …, of that many operations.
FunctionPtr long_chain(int operations) {
  Builder b("chain");
  ValueId x = b.param({DType::F32, {Dim::symbol("n")}}), v = x;
  for (int i = 0; i < operations; ++i) v = b.emit(i % 2 ? mul_op : add_op, {v, x});
  return b.finish({v});
}

/// Results of a compiled function, and how long after a poll said stop the compilation gave in; -1: it was not asked to.
double milliseconds_to_stop_compiling(int operations) {
  std::atomic<int64_t> polls{0};
  std::atomic<bool> stop{false};
  Poll ask = [&] {
    ++polls;
    if (stop) fail(Kind::Interrupt, {}, "interrupted");
  };
  PollScope scope(&ask);
  FunctionPtr f = long_chain(operations);
  std::chrono::steady_clock::time_point at;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    at = std::chrono::steady_clock::now();
    stop = true;
  });
  double out = -1;
  try {
    make_llvm_backend()->compile(f, {});
  } catch (const Failure&) {
    out = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - at).count();
  }
  other.join();
  return out;
}

}  // namespace

TEST_CASE("compiling a large function stops; a larger one runs on the interpreter", "[interrupt]") {
  CHECK(milliseconds_to_stop_compiling(4000) < 2000);   // 5 ms where nothing else runs
  std::shared_ptr<Backend> backend = make_llvm_backend();
  const Array x = Array::vector<float>(std::vector<float>{0.5f, -1.25f, 2.0f});
  for (int operations : {1000, 60000}) {
    FunctionPtr f = long_chain(operations);
    std::shared_ptr<const Executable> code = backend->compile(f, {});
    const bool too_large = code->explain({&x, 1}).find("too large to be compiled: it runs on the interpreter") != std::string::npos;
    CHECK(too_large == (operations == 60000));
    test::ReferenceContext context, reference;
    CHECK(test::same_elements(code->run(context, {x})[0], evaluate(*f, reference, {x})[0]));
  }
}
#endif

TEST_CASE("an interrupt by another thread, and a deadline, stop programs", "[interrupt]") {
  for (const char* text : {"var i = 0\nwhile i >= 0 { i = (i + 1) % 7 }", "fn f(x) = f(x + 1)\nvmap(x => { var y = x; while y >= 0.0 { y = abs(sin(y)) }; y })(ones(1000000))",
                           "sort(uniform(key(0), (30000000,)))[0] + sort(uniform(key(1), (30000000,)))[0]"}) {
    INFO(text);
    Session session({});
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      session.interrupt();
    });
    auto begin = std::chrono::steady_clock::now();
    Outcome o = session.run(session.add_source("t", text));
    other.join();
    REQUIRE(o.diagnostics.size() == 1);
    CHECK(o.diagnostics[0].kind == Kind::Interrupt);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));   // 0.1 s, and the machine may be loaded
    session.clear_interrupt();
    session.set_limits(INT64_MAX, 50, 1000);
    o = session.run(session.add_source("t", text));
    REQUIRE(o.diagnostics.size() == 1);
    CHECK(o.diagnostics[0].bound == Bound::Deadline);
  }
}
