// Code that is compiled quickly, and optimised when it has run for a while: when that happens, and that nothing else changes.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "codegen/backend.h"
#include "interpreter/ops/rows.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace tercet {
namespace {

using test::ReferenceContext;
using test::same_elements;

bool is_optimized(const Executable& code, const Array& x) {
  const std::string text = code.explain({&x, 1});
  const bool yes = text.find(", optimised;") != std::string::npos;
  CHECK(yes != (text.find(", not optimised yet;") != std::string::npos));
  return yes;
}

/// sum(exp(x) / x + x)
FunctionPtr program() {
  Builder b("program");
  ValueId x = b.param({DType::F32, {Dim::symbol("n")}});
  ValueId y = b.emit(*find_op("add"), {b.emit(*find_op("div"), {b.emit(*find_op("exp"), {x}), x}), x});
  return b.finish({y, b.emit(*find_op("sum"), {y}, {{"axes", std::vector<int64_t>{0}}})});
}

Array numbers(int64_t n) {
  Array a = Array::make(DType::F32, {n});
  for (int64_t i = 0; i < n; ++i) a.data<float>()[i] = static_cast<float>(i % 977) / 64 + 0.5f;
  return a;
}

std::vector<Array> run(const Executable& code, const Array& x) {
  ReferenceContext context;
  return code.run(context, {x});
}

void check_same(const std::vector<Array>& a, const std::vector<Array>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(same_elements(a[i], b[i]));
}

/// Runs until it is optimised; every run gives the same.
void run_until_optimized(const Executable& code, const Array& x) {
  const std::vector<Array> first = run(code, x);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!is_optimized(code, x)) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    check_same(run(code, x), first);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  check_same(run(code, x), first);
}

}  // namespace

TEST_CASE("compiled code is optimised when it has run for a while, and not before", "[tiers]") {
  std::unique_ptr<Backend> backend = make_llvm_backend();
  const Array x = numbers(20'000);
  for (int simd : {256, 512}) {
    std::shared_ptr<const Executable> code = backend->compile(program(), {2, simd});
    CHECK_FALSE(is_optimized(*code, x));
    for (int i = 0; i < 3; ++i) run(*code, numbers(10));
    CHECK_FALSE(is_optimized(*code, x));
    run_until_optimized(*code, x);
    check_same(run(*code, x), run(*backend->compile(program(), {2, simd, 0, false, Optimize::Always}), x));
  }
}

TEST_CASE("a run so long that optimising pays waits for it", "[tiers]") {
  std::unique_ptr<Backend> backend = make_llvm_backend();
  const Array x = numbers(30'000'000);
  std::shared_ptr<const Executable> code = backend->compile(program(), {1, 256}), never = backend->compile(program(), {1, 256, 0, false, Optimize::Never});
  check_same(run(*code, x), run(*never, x));
  CHECK(is_optimized(*code, x));
  CHECK_FALSE(is_optimized(*never, x));
  CHECK(is_optimized(*backend->compile(program(), {1, 256, 0, false, Optimize::Always}), x));
}

TEST_CASE("optimised code is what a later run finds on disk", "[tiers]") {
  test::TemporaryFolder folder;
  const Array x = numbers(100'000);
  {
    std::unique_ptr<Backend> backend = make_llvm_backend(folder.path());
    run_until_optimized(*backend->compile(program(), {}), x);
    CHECK(cache_info(folder.path()).entries == 2);   // of each tier
  }
  std::unique_ptr<Backend> backend = make_llvm_backend(folder.path());
  std::shared_ptr<const Executable> code = backend->compile(program(), {});
  CHECK(is_optimized(*code, x));
  CHECK(code->explain({&x, 1}).find("code found in the cache on disk") != std::string::npos);
}

TEST_CASE("what nobody needs any more, and back ends that end, leave the background in order", "[tiers]") {
  const Array x = numbers(100'000);
  std::shared_ptr<const Executable> kept;
  std::vector<Array> expected;
  for (int round = 0; round < 3; ++round) {
    std::unique_ptr<Backend> backend = make_llvm_backend();
    for (int i = 0; i < 20; ++i) {
      kept = backend->compile(program(), {});   // the one before goes, at work or waiting
      for (int k = 0; k < 30; ++k) expected = run(*kept, x);
    }
  }
  check_same(run(*kept, x), expected);
  run_until_optimized(*kept, x);
  make_llvm_backend().reset();   // waits for what is left, so that the process may end
}

TEST_CASE("many threads run code while it is optimised", "[tiers]") {
  std::unique_ptr<Backend> backend = make_llvm_backend();
  const Array x = numbers(50'000);
  std::shared_ptr<const Executable> code = backend->compile(program(), {1});
  const std::vector<Array> expected = run(*code, x);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 60; ++i) {
        const std::vector<Array> got = run(*code, x);
        for (size_t r = 0; r < got.size(); ++r) wrong += !same_elements(got[r], expected[r]);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

}  // namespace tercet
