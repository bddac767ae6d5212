// Devices of this machine and how they meet: collectives against their definitions, failures, time-outs, threads.
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "interpreter/engine/session.h"
#include "interpreter/runtime/device.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/reduce.h"
#include "tests/support.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

namespace tercet {
namespace {

using test::same_elements;
using test::show;
using Arrays = std::vector<Array>;
using Ranked = std::function<Array(Communicator&)>;

Arrays on_all(int n, const Ranked& work, double timeout = 60) {
  Arrays out(static_cast<size_t>(n));
  run_on_host_devices({n, 0, timeout}, [&](Communicator& c) { out[static_cast<size_t>(c.rank())] = work(c); });
  return out;
}

Array random_array(DType dtype, const Shape& shape, std::mt19937_64& random) {
  Array a = Array::make(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>)
      for (int64_t i = 0; i < a.count(); ++i)
        a.data<T>()[i] = Compute<T>::store(cast<typename Compute<T>::type>(std::uniform_real_distribution<double>(-100, 100)(random)));
  });
  return a;
}

/// Reduction over axis 0 of the stacked arrays, by the routine of the language's sum, prod, max, min.
Array reduced(ReduceKind kind, const Arrays& all) {
  Array out = Array::make(all[0].dtype, all[0].shape);
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>) {
      int64_t n = static_cast<int64_t>(all.size()), inner = out.count();
      std::vector<T> x;
      for (const Array& a : all) x.insert(x.end(), a.data<T>(), a.data<T>() + inner);
      auto run = [&]<ReduceKind K>() { reduce<ReducerFor<K, T>>(x.data(), 1, n, inner, out.data<T>()); };
      if (kind == ReduceKind::Sum) run.template operator()<ReduceKind::Sum>();
      if (kind == ReduceKind::Prod) run.template operator()<ReduceKind::Prod>();
      if (kind == ReduceKind::Max) run.template operator()<ReduceKind::Max>();
      if (kind == ReduceKind::Min) run.template operator()<ReduceKind::Min>();
    }
  });
  return out;
}

Array row(const Array& a, int64_t i) { return a.row(i); }

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}


}  // namespace

TEST_CASE("collectives are what they are defined to be, for random dtypes, sizes and numbers of devices", "[devices]") {
  std::mt19937_64 random(7);
  auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(random); };
  for (int round = 0; round < 150; ++round) {
    const int n = between(1, round % 10 == 0 ? 20 : 5);
    const auto ranks = static_cast<size_t>(n);
    const auto dtype = static_cast<DType>(between(1, static_cast<int>(DType::F64)));
    const Shape shape = between(0, 5) == 0 ? Shape{} : between(0, 3) ? Shape{between(0, 40)} : Shape{between(1, 300), between(1, 300)};
    Shape rows_shape = shape;
    rows_shape.insert(0, n);
    Arrays x, rows;
    for (int r = 0; r < n; ++r) x.push_back(random_array(dtype, shape, random)), rows.push_back(random_array(dtype, rows_shape, random));
    const auto kind = std::array{ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min}[static_cast<size_t>(between(0, 3))];
    auto mine = [](const Arrays& all, Communicator& c) { return all[static_cast<size_t>(c.rank())]; };
    const Meeting here{"test", {}};
    INFO("round " << round << ": " << n << " devices, " << show(x[0]));

    Arrays sums = on_all(n, [&](Communicator& c) { return c.all_reduce(here, kind, mine(x, c)); });
    for (const Array& s : sums) REQUIRE(same_elements(s, reduced(kind, x)));
    Arrays gathered = on_all(n, [&](Communicator& c) { return c.all_gather(here, mine(x, c)); });
    for (const Array& g : gathered)
      for (size_t r = 0; r < ranks; ++r) REQUIRE(same_elements(row(g, static_cast<int64_t>(r)), x[r]));
    Arrays scattered = on_all(n, [&](Communicator& c) { return c.reduce_scatter(here, kind, mine(rows, c)); });
    Arrays exchanged = on_all(n, [&](Communicator& c) { return c.all_to_all(here, mine(rows, c)); });
    for (size_t r = 0; r < ranks; ++r) {
      Arrays parts;
      for (const Array& of_rank : rows) parts.push_back(row(of_rank, static_cast<int64_t>(r)));
      REQUIRE(same_elements(scattered[r], reduced(kind, parts)));
      for (size_t q = 0; q < ranks; ++q) REQUIRE(same_elements(row(exchanged[r], static_cast<int64_t>(q)), parts[q]));
    }
    std::vector<std::pair<int64_t, int64_t>> pairs;   // a ring with a gap
    for (int r = 0; r + 1 < n; ++r) pairs.emplace_back(r, r + 1);
    Arrays moved = on_all(n, [&](Communicator& c) { return c.permute(here, mine(x, c), pairs); });
    REQUIRE(same_elements(moved[0], Array::zeros(dtype, shape)));
    for (size_t r = 1; r < ranks; ++r) REQUIRE(same_elements(moved[r], x[r - 1]));
  }
}

TEST_CASE("arrays of a collective may be overwritten as soon as it has given its result", "[devices]") {
  Arrays out = on_all(3, [&](Communicator& c) {
    Array x = Array::make(DType::I64, {50000});
    std::fill_n(x.data<int64_t>(), 50000, c.rank());
    for (int step = 0; step < 50; ++step) {
      Array sum = c.all_reduce({"psum", {}}, ReduceKind::Sum, x);
      x = std::move(x).owned();
      for (int64_t i = 0; i < 50000; ++i) x.data<int64_t>()[i] = sum.data<int64_t>()[i] % 1000 + c.rank();
    }
    return x;
  });
  for (int64_t r = 1; r < 3; ++r) REQUIRE(*out[static_cast<size_t>(r)].data<int64_t>() == *out[0].data<int64_t>() + r);
}

TEST_CASE("large results are one block for all devices, until one changes its own", "[devices]") {
  constexpr int64_t n = 70001;
  for (bool given_away : {false, true})
    for (int devices : {1, 2, 3, 4}) {
      std::vector<const void*> places(static_cast<size_t>(devices)), gathered_at(places.size());
      Arrays out = on_all(devices, [&](Communicator& c) {
        Array x = Array::make(DType::I32, {n});
        for (int64_t i = 0; i < n; ++i) x.data<int32_t>()[i] = static_cast<int32_t>(i % 100 + c.rank());
        Array kept = given_away ? Array() : x;
        Array sum = c.all_reduce({"psum", {}}, ReduceKind::Sum, std::move(x));
        Array all = c.all_gather({"all_gather", {}}, sum);
        places[static_cast<size_t>(c.rank())] = sum.raw();
        gathered_at[static_cast<size_t>(c.rank())] = all.raw();
        c.all_reduce({"psum", {}}, ReduceKind::Sum, Array::scalar(int32_t{1}));   // none goes on before all have looked
        if (c.rank() == 0) {
          sum = std::move(sum).owned();
          std::fill_n(sum.data<int32_t>(), n, -1);
        }
        c.all_reduce({"psum", {}}, ReduceKind::Sum, Array::scalar(int32_t{1}));
        for (int64_t i = 0; !given_away && i < n; ++i)
          if (kept.data<int32_t>()[i] != i % 100 + c.rank()) return Array();
        return c.rank() == 0 ? all : sum;
      });
      for (size_t r = 1; r < out.size(); ++r) {
        REQUIRE(places[r] == places[0]);
        REQUIRE(gathered_at[r] == gathered_at[0]);
        REQUIRE(same_elements(out[r], row(out[0], static_cast<int64_t>(r))));
      }
      for (int64_t i = 0; i < n; ++i) REQUIRE(row(out[0], devices - 1).data<int32_t>()[i] == devices * (i % 100) + devices * (devices - 1) / 2);
    }
}

TEST_CASE("a device has its share of the cores, on a thread of its own", "[devices]") {
  std::vector<std::thread::id> threads(5);
  std::vector<int> shares(5), available(5);
  run_on_host_devices({5, 12, 60}, [&](Communicator& c) {
    threads[static_cast<size_t>(c.rank())] = std::this_thread::get_id();
    shares[static_cast<size_t>(c.rank())] = current_device()->threads();
    available[static_cast<size_t>(c.rank())] = static_cast<int>(available_threads());
  });
  REQUIRE(available == shares);
  REQUIRE(shares == std::vector<int>{3, 3, 2, 2, 2});
  std::sort(threads.begin(), threads.end());
  REQUIRE(std::adjacent_find(threads.begin(), threads.end()) == threads.end());
  REQUIRE(current_device() == nullptr);
}

TEST_CASE("the first failing device is the one that is told of, and all stop", "[devices]") {
  for (int round = 0; round < 20; ++round) {
    std::string told = message_of([&] {
      run_on_host_devices({4, 0, 60}, [&](Communicator& c) {
        if (c.rank() == round % 2 + 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(round % 3));
          fail(Kind::Value, {}, "rank " + std::to_string(c.rank()));
        }
        if (c.rank() == 3) {
          if (round % 2) fail(Kind::Value, {}, "rank 3");
          for (;;) c.poll();
        }
        c.all_reduce({"psum", {}}, ReduceKind::Sum, Array::scalar(1.0f));
      });
    });
    REQUIRE(told == "rank " + std::to_string(round % 2 + 1));
  }
}

TEST_CASE("devices that do not come to a collective are told of, at once or in time", "[devices]") {
  const Meeting psum{"psum", {}}, pmax{"pmax", {}};
  Array one = Array::scalar(1.0f);
  REQUIRE(message_of([&] { on_all(3, [&](Communicator& c) { return c.rank() == 1 ? one : c.all_reduce(psum, ReduceKind::Sum, one); }); }) ==
          "device 0 waits in psum, and device 1 has ended without it");
  REQUIRE(message_of([&] { on_all(2, [&](Communicator& c) { return c.all_reduce(c.rank() ? pmax : psum, ReduceKind::Sum, one); }); }) ==
          "device 0 came to psum of f32, and device 1 to pmax of f32");
  REQUIRE(message_of([&] { on_all(2, [&](Communicator& c) { return c.all_gather(psum, Array::zeros(DType::I8, {c.rank() + 1})); }); }) ==
          "device 0 came to psum of i8[1], and device 1 to psum of i8[2]");
  auto begin = std::chrono::steady_clock::now();
  REQUIRE(message_of([&] {
            on_all(3, [&](Communicator& c) {
              while (c.rank() > 0) c.poll();
              return c.all_reduce(psum, ReduceKind::Sum, one);
            }, 0.2);
          }) == "device 0 waited 0.2 s in psum for devices 1, 2");
  REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("devices of several sessions at once do not meet each other", "[devices]") {
  auto run = [](int n, std::string* text) {
    SessionOptions options;
    options.write = [text](std::string_view t) { *text += t; };
    Session session(std::move(options));
    for (int i = 0; i < 20; ++i) {
      Outcome o = session.run(session.add_source("t", fmt::format("print(pmap(x => psum(x) + axis_index())(arange({})))", n)));
      if (!o.ok()) *text += o.diagnostics[0].message;
    }
  };
  std::string two, three;
  std::thread first([&] { run(2, &two); }), second([&] { run(3, &three); });
  first.join();
  second.join();
  std::string want_two, want_three;
  for (int i = 0; i < 20; ++i) want_two += "[1, 2]\n", want_three += "[3, 4, 5]\n";
  REQUIRE(two == want_two);
  REQUIRE(three == want_three);
}

TEST_CASE("memory of devices is their session's", "[devices]") {
  SessionOptions options;
  options.memory_bytes = 10 << 20;
  Session session(std::move(options));
  Outcome o = session.run(session.add_source("t", "pmap[devices=2](() => sum(zeros([2000000]) + axis_index()))()"));
  REQUIRE(o.diagnostics.size() == 1);
  REQUIRE(o.diagnostics[0].kind == Kind::Limit);
  o = session.run(session.add_source("t", "pmap[devices=2](() => sum(zeros([1000]) + axis_index()))()"));
  REQUIRE(o.ok());
}

TEST_CASE("an interrupt stops all devices, in a loop and in a collective", "[devices]") {
  for (const char* program : {"pmap(n => { var i = 0; while i >= 0 { i = (i + n) % 7 }; i })(arange(3))",
                              "pmap(n => { var i = n; while i > 0 { i = 1 + i % 7 }; psum(i) })(arange(3))"}) {
    Session session({});
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      session.interrupt();
    });
    auto begin = std::chrono::steady_clock::now();
    Outcome o = session.run(session.add_source("t", program));
    other.join();
    REQUIRE(o.diagnostics.size() == 1);
    REQUIRE(o.diagnostics[0].kind == Kind::Interrupt);
    REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  }
}

#if TERCET_HAS_LLVM
// ---- random programs: devices against lanes ----
namespace {

/// The text of a function of vectors x, y and a number s, all of one device. Statements draw on what stands before them.
class RandomDevices {
 public:
  RandomDevices(uint64_t seed, int devices) : random_(seed), n_(devices) {}
  std::string function() {
    names_ = {"x", "y"};
    std::string out = "fn f(x, y, s) {\n";
    for (int i = 0, count = between(2, 7); i < count; ++i) {
      std::string name = "v" + std::to_string(i);
      out += "  let " + name + " = " + statement() + "\n";
      names_.push_back(name);
    }
    return out + fmt::format("  ({}, {}, psum(sum({})))\n}}\n", any(), names_.back(), any());
  }

 private:
  int between(int a, int b) { return std::uniform_int_distribution<int>(a, b)(random_); }
  std::string any() { return names_[static_cast<size_t>(between(0, static_cast<int>(names_.size()) - 1))]; }
  std::string scalar() {
    switch (between(0, 4)) {
      case 0: return "s";
      case 1: return "f32(axis_index())";
      case 2: return fmt::format("sum({})", any());
      case 3: return fmt::format("pmax({}[0])", any());
      default: return "0.25";
    }
  }
  std::string statement() {
    switch (between(0, 15)) {
      case 0: return fmt::format("psum({})", any());
      case 1: return fmt::format("{} - pmean({})", any(), any());
      case 2: return fmt::format("maximum({}, pmin({}))", any(), any());
      case 3: return fmt::format("all_gather({})[{}] + {}", any(), between(0, n_ - 1), any());
      case 4: return fmt::format("ppermute({}, [[i, (i + {}) % {}] for i in 0..{}])", any(), between(0, n_), n_, n_);
      case 5: return fmt::format("psum_scatter(stack([{} * f32(i) for i in 0..{}]))", any(), n_);
      case 6: return fmt::format("sum(all_to_all(stack([{} + f32(i) for i in 0..{}])), axis=0)", any(), n_);
      case 7: return fmt::format("if psum(sum({})) > 0.0 {{ psum({}) }} else {{ {} * 2.0 }}", any(), any(), any());
      case 8: return fmt::format("if {} > 1.0 {{ {} }} else {{ {} }}", scalar(), any(), any());
      case 9: return fmt::format("vmap(e => e * {} + psum(e))({})", scalar(), any());
      case 10: return fmt::format("(jit (v => v + pmean(v)))({})", any());
      case 11: return fmt::format("{{ var a = {}; for i in 0..3 {{ a = a * 0.5 + psum(a) }}; a }}", any());
      case 12: return fmt::format("cumsum({}) / (1.0 + abs({}))", any(), any());
      case 13: return fmt::format("{}[argsort({})]", any(), any());
      case 14: return fmt::format("where({} > {}, {}, {})", any(), scalar(), any(), any());
      default: return fmt::format("{} + {}", any(), scalar());
    }
  }
  std::mt19937_64 random_;
  int n_;
  std::vector<std::string> names_;
};

Arrays leaves_of(const Outcome& o) {
  Arrays out;
  if (o.value) collect_leaves(*o.value, out);
  return out;
}

}  // namespace

TEST_CASE("random programs give the same over devices as over lanes, interpreted and compiled", "[devices][random]") {
  auto number = [](const char* name, int otherwise) { return std::getenv(name) ? std::atoi(std::getenv(name)) : otherwise; };
  const int programs = number("TERCET_PROGRAMS", 150), seed = number("TERCET_SEED", 1);
  std::shared_ptr<Backend> backend = make_llvm_backend();
  for (int i = seed; i < seed + programs; ++i) {
    std::mt19937_64 random(static_cast<uint64_t>(i) * 77);
    const int n = 1 + i % 4, m = 1 + static_cast<int>(random() % 9);
    SessionOptions options;
    options.backend = backend;
    options.device_timeout_seconds = 30;
    Session session(std::move(options));
    auto run = [&](const std::string& text) { return session.run(session.add_source("t", text)); };
    const std::string f = RandomDevices(static_cast<uint64_t>(i), n).function();
    Outcome o = run(fmt::format("let x = normal(key({0}), ({1}, {2}))\nlet y = normal(key({0} + 9), ({1}, {2}))\n", i, n, m) + f);
    INFO("seed " << i << ", " << n << " devices:\n" << f << (o.ok() ? "" : o.diagnostics[0].message));
    REQUIRE(o.ok());
    auto require_alike = [&](const Outcome& a, const Outcome& b, const char* what) {
      INFO(what << ": " << (a.ok() ? "" : a.diagnostics[0].message) << (b.ok() ? "" : b.diagnostics[0].message));
      REQUIRE(a.ok());
      REQUIRE(b.ok());
      Arrays p = leaves_of(a), q = leaves_of(b);
      REQUIRE(p.size() == q.size());
      for (size_t k = 0; k < p.size(); ++k) {
        INFO(show(p[k]) << " against " << show(q[k]));
        REQUIRE(same_elements(p[k], q[k]));
      }
    };
    const Outcome lanes = run("vmap[0, 0, _](f)(x, y, 1.5)"), devices = run("pmap[0, 0, _](f)(x, y, 1.5)");
    require_alike(devices, lanes, "pmap against vmap");
    if (i % 8 == 0) {
      require_alike(run("(pmap[0, 0, _] jit f)(x, y, 1.5)"), devices, "pmap of jit");
      require_alike(run("(jit pmap[0, 0, _] f)(x, y, 1.5)"), devices, "jit around pmap");
    }
  }
}
#endif

}  // namespace tercet
