// The embedding interface from outside: built against the installed tree by tests/embedding.py. Prints the checks that
// fail, and at the end "N passed, N failed".
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tercet/tercet.hpp>
#include <thread>

using namespace tercet;
using Clock = std::chrono::steady_clock;

static int passed = 0, failed = 0;
static void check(bool ok, const char* what, int line) {
  (ok ? passed : failed)++;
  if (!ok) std::printf("FAIL tests/embedding/check.cpp:%d: %s\n", line, what);
}
#define CHECK(x) check(static_cast<bool>(x), #x, __LINE__)
// A view of a temporary does not compile: these keep the value for as long as they look.
template <class T, class... I> static T at(const Value& v, I... i) {
  if constexpr (sizeof...(I) == 1) return v.view<T>()[static_cast<size_t>((i, ...))];
  else return v.view<T>()(i...);
}
template <class T> static const T* place(const Value& v) { return v.view<T>().data(); }
template <class T> static size_t size(const Value& v) { return v.view<T>().size(); }
template <class F> static tct_status status_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.status();
  }
  return TCT_OK;
}
static double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// ---- values and arrays ----
static void values() {
  Engine engine;
  Session s(engine);
  CHECK(!s.eval("let x = 3"));
  CHECK(s.get("x").scalar<int32_t>() == 3);
  CHECK(s.get("x").type() == "i32");
  Value r = s.eval("(w=[1.5, 2.5], t=(1, \"zwei\"))");
  CHECK(r.kind() == TCT_RECORD && r.size() == 2 && at<float>(r["w"], 1) == 2.5f);
  CHECK(r["t"][1].texts() == std::vector<std::string>{"zwei"});
  CHECK(r.text() == "(w=[1.5, 2.5], t=(1, \"zwei\"))");
  CHECK(tct_value_field_name(r.get(), 0).size == 1 && tct_value_field_name(r.get(), 9).size == 0);
  CHECK(status_of([&] { (void)r["q"]; }) == TCT_ERR_NAME);
  CHECK(status_of([&] { (void)r[5]; }) == TCT_ERR_USAGE);
  CHECK(status_of([&] { (void)s.get("nothing"); }) == TCT_ERR_NAME);
  CHECK(s.eval("none").kind() == TCT_NONE && s.eval("x => x").kind() == TCT_FUNCTION && s.eval("0..3").kind() == TCT_RANGE);
  s.set("t", tuple({1.5, Value(true), record({{"a", 7}})}));
  CHECK(s.eval("t[2].a + 1").scalar<int32_t>() == 8);
  s.set("words", engine.texts({"ein", "Wort, das l\u00e4nger ist als zw\u00f6lf", ""}));
  CHECK(s.eval("len(words[1])").scalar<int64_t>() == 30);
  CHECK(status_of([&] { engine.texts({"\xff"}); }) == TCT_ERR_VALUE);
  Value rows = s.eval("words |> tokenize");
  const int64_t* offsets = nullptr;
  size_t count = 0;
  CHECK(tct_array_offsets(rows.get(), 0, &offsets, &count, nullptr) == TCT_OK && count == 3 && offsets[3] == static_cast<int64_t>(rows.texts().size()));
  CHECK(rows.type() == "str[3, *]");
  CHECK(status_of([&] { (void)at<float>(s.get("x"), 0); }) == TCT_ERR_USAGE);
  CHECK(status_of([&] { (void)s.eval("[1, 2]").scalar<int32_t>(); }) == TCT_ERR_USAGE);
}

/// The end of a page behind which nothing may be read.
struct Guarded {
  explicit Guarded(size_t bytes) {
    page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size = (bytes + page - 1) / page * page;
    begin = static_cast<char*>(mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(begin + size, page, PROT_NONE);
    data = begin + size - bytes;
  }
  ~Guarded() { munmap(begin, size + page); }
  size_t page, size;
  char *begin, *data;
};

static void borrowed() {
  Engine engine;
  Session s(engine);
  auto same = s.function("x => x");
  std::vector<float> v(1000);
  std::iota(v.begin(), v.end(), 0.f);
  const float* data = v.data();
  Value x = engine.array(std::move(v), {10, 100});
  CHECK(place<float>(x) == data);
  CHECK(place<float>(same(x)) == data);
  Value y = s.function("jit (x => x + 1.0)")(x);
  CHECK(at<float>(x, 7) == 7.f && at<float>(y, 7) == 8.f && at<float>(y, 9, 99) == 1000.f);
  s.set("x", x);
  CHECK(place<float>(s.eval("x")) == data);
  s.eval("x = x * 2.0");                        // a global of its own from here on
  CHECK(at<float>(x, 7) == 7.f && at<float>(s.get("x"), 7) == 14.f);

  int drops = 0;
  auto drop = [](void* p) { ++*static_cast<int*>(p); };
  double numbers[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3}, by_column[] = {1, 2}, odd[] = {-1, 3};
  tct_value* out = nullptr;
  CHECK(tct_array_borrow(TCT_F64, 2, shape, by_column, numbers, &drops, drop, &out, nullptr) == TCT_OK);
  CHECK(drops == 1);                            // copied, as it is not row-major
  Value columns(out);
  CHECK(at<double>(columns, 0, 1) == 3 && at<double>(columns, 1, 0) == 2);
  CHECK(tct_array_borrow(TCT_F64, 2, odd, nullptr, numbers, &drops, drop, &out, nullptr) == TCT_ERR_USAGE && drops == 2);
  CHECK(tct_array_borrow(99, 2, shape, nullptr, numbers, &drops, drop, &out, nullptr) == TCT_ERR_USAGE && drops == 3);
  int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  CHECK(tct_array_borrow(TCT_F64, 2, huge, nullptr, numbers, &drops, drop, &out, nullptr) == TCT_ERR_LIMIT && drops == 4);
  {
    CHECK(tct_array_borrow(TCT_F64, 2, shape, nullptr, numbers, &drops, drop, &out, nullptr) == TCT_OK);
    Value held(out);
    Value part = s.function("x => x[1]")(held);
    held = Value();
    CHECK(at<double>(part, 0) == 4);
  }
  CHECK(drops == 5);

  // Kernels read nothing behind an array, whatever its length.
  for (int simd : {256, 512}) {
    Engine narrow({.simd_bits = simd});
    Session t(narrow);
    auto f = t.function("jit (x => (sum(x), max(x), cumsum(x)[len(x) - 1], sum(sort(x)), mean(x * 2.0 + exp(x - x))))");
    auto g = t.function("jit (m => (sum(m, axis=0), sum(m, axis=1), transpose(m) @ m, softmax(m)))");
    for (int n : {1, 3, 15, 16, 17, 31, 33, 64, 1000, 1024}) {
      Guarded memory(static_cast<size_t>(n) * 4);
      auto* p = reinterpret_cast<float*>(memory.data);
      for (int i = 0; i < n; ++i) p[i] = 1;
      Value a = engine.borrow(std::span<const float>(p, static_cast<size_t>(n)), {n}, nullptr);
      Value sums = f(a);
      CHECK(sums[0].scalar<float>() == static_cast<float>(n) && sums[4].scalar<float>() == 3.f);
      Value b = engine.borrow(std::span<const float>(p, static_cast<size_t>(n)), {n, 1}, nullptr);
      CHECK(at<float>(g(b)[0], 0) == static_cast<float>(n));
    }
  }
}

// ---- DLPack, by a structure of our own ----
struct Tensor {
  struct { uint32_t major, minor; } version;
  void* context;
  void (*deleter)(Tensor*);
  uint64_t flags;
  void* data;
  struct { int32_t type, id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

static void dlpack() {
  Engine engine;
  Value x = engine.array<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  DLManagedTensorVersioned* raw = nullptr;
  CHECK(tct_to_dlpack(x.get(), &raw, nullptr) == TCT_OK);
  auto* t = reinterpret_cast<Tensor*>(raw);
  CHECK(t->version.major == 1 && t->ndim == 2 && t->shape[1] == 3 && t->strides[0] == 3 && t->dtype.code == 0 && t->dtype.bits == 32 && t->flags == 1);
  CHECK(t->data == place<int32_t>(x));
  tct_value* back = nullptr;
  CHECK(tct_from_dlpack(raw, &back, nullptr) == TCT_OK);
  Value y(back);
  CHECK(place<int32_t>(y) == place<int32_t>(x));
  x = Value();
  CHECK(at<int32_t>(y, 5) == 6);

  static int deleted = 0;
  static float numbers[] = {0, 1, 2, 3, 4, 5};
  static int64_t shape[] = {3}, every_second[] = {2};
  auto tensor = [&](uint32_t major, int64_t* strides) {
    return new Tensor{{major, 0}, nullptr, [](Tensor* p) { ++deleted, delete p; }, 0, numbers, {1, 0}, 1, {2, 32, 1}, shape, strides, 4};
  };
  auto take = [&](Tensor* p) { return tct_from_dlpack(reinterpret_cast<DLManagedTensorVersioned*>(p), &back, nullptr); };
  CHECK(take(tensor(2, nullptr)) == TCT_ERR_USAGE && deleted == 1);
  CHECK(take(tensor(1, every_second)) == TCT_OK && deleted == 2);
  CHECK(at<float>(Value(back), 2) == 5.f);
  CHECK(take(tensor(1, nullptr)) == TCT_OK && deleted == 2);
  { Value z(back); CHECK(at<float>(z, 0) == 1.f && place<float>(z) == numbers + 1); }
  CHECK(deleted == 3);
  Session s(engine);
  CHECK(tct_to_dlpack(s.eval("\"text\"").get(), &raw, nullptr) == TCT_ERR_USAGE);
}

// ---- programs, errors, limits ----
static void programs() {
  Engine engine;
  std::string printed;
  Session s(engine, {}, [&](std::string_view text) { printed += text; });
  s.eval("print(\"hello\")\nprint([1, 2])");
  CHECK(printed == "hello\n[1, 2]\n");
  auto r = s.try_eval("let y = 1\n[1, 2, 3][y + 6]", "demo");
  CHECK(!r && r.error().status() == TCT_ERR_INDEX && r.error().code() == "index");
  CHECK(r.error().message() == "index 7 is out of range for size 3");
  CHECK(r.error().render().find("--> demo:2:11") != std::string_view::npos);
  CHECK(r.error().json().find("\"line\": 2, \"column\": 11") != std::string_view::npos);
  CHECK(s.get("y").scalar<int32_t>() == 1);     // what stood before had its effect
  std::pair<const char*, tct_status> all[] = {{"1 +", TCT_ERR_SYNTAX}, {"nix", TCT_ERR_NAME}, {"1 + \"a\"", TCT_ERR_TYPE}, {"[1, 2] + [1, 2, 3]", TCT_ERR_SHAPE},
      {"jit (x => vocab(x))([\"a\"])", TCT_ERR_COMPILE}, {"jit (c => (if c > 0 { sin } else { cos })(1.0))(1)", TCT_ERR_UNSUPPORTED}, {"import \"/etc/x.tct\"", TCT_ERR_DENIED}, {"assert(1 > 2, \"no\")", TCT_ERR_ASSERT}, {"5 // 0", TCT_ERR_ARITHMETIC},
      {"[1u8] + 300", TCT_ERR_VALUE}, {"let k = key(0)\nuniform(k, ()) + uniform(k, ())", TCT_ERR_KEY}, {"read_text(\"/etc/hostname\")", TCT_ERR_DENIED}, {"write_text(\"/tmp/x\", \"\")", TCT_ERR_DENIED}, {"load_npy(\"x.npy\")", TCT_ERR_DENIED}, {"load_vocab(\"v\")", TCT_ERR_DENIED},
      {"pmap(x => if x > 1 { psum(x) } else { x })([1, 2])", TCT_ERR_DEVICE}, {"fn f(n) = if n < 0 { 0 } else { f(n + 1) }\nf(1)", TCT_ERR_LIMIT}};
  for (auto& [text, status] : all) {
    auto failure = s.try_eval(text);
    if (failure || failure.error().status() != status) std::printf("%s gave %d\n", text, failure ? 0 : failure.error().status());
    CHECK(!failure && failure.error().status() == status);
  }
  CHECK(s.check("let z = (1 +").incomplete);
  CHECK(s.check("let z = nix").error->status() == TCT_ERR_NAME);
  CHECK(!s.check("let z = 1").error);
  Session files(engine, {.files = true});
  auto missing = files.try_eval("read_text(\"/no/such/file\")");
  CHECK(!missing && missing.error().status() == TCT_ERR_IO);

  tct_error* error = nullptr;                   // misuse is an error, not a crash
  CHECK(tct_eval(nullptr, TCT_STR("1"), TCT_STR(""), nullptr, &error) == TCT_ERR_USAGE);
  CHECK(tct_error_message(error).size > 0);
  tct_error_release(error);
  CHECK(tct_call(nullptr, nullptr, 0, nullptr, nullptr) == TCT_ERR_USAGE);
  tct_value_release(nullptr);
  tct_session_release(nullptr);
  tct_engine_release(nullptr);
  tct_session_options unset{};
  tct_session* session = nullptr;
  CHECK(tct_session_create(engine.get(), &unset, &session, nullptr) == TCT_ERR_USAGE);
  CHECK(tct_abi_version() == TCT_ABI_VERSION && std::string(tct_version()) == "0.1.0");
}

static void limits() {
  Engine engine;
  Session small(engine, {.memory_bytes = 1 << 20});
  CHECK(status_of([&] { small.eval("zeros([1000000])"); }) == TCT_ERR_MEMORY);
  CHECK(small.eval("sum(zeros([1000]))").scalar<float>() == 0.f);
  int64_t before = small.memory();
  { Value kept = small.eval("ones([50000])"); CHECK(small.memory() >= before + 200000); }
  CHECK(small.memory() <= before + 1000);
  auto too_much = small.function("n => sum(zeros(n) + arange(n))");
  CHECK(status_of([&] { too_much(10'000'000); }) == TCT_ERR_MEMORY);
  CHECK(too_much(4).scalar<float>() == 6.f);

  for (const char* endless : {"var i = 0\nwhile i >= 0 { i = (i + 1) % 7 }", "let f = jit (n => { var i = n; while i >= 0 { i = (i + 1) % 7 }; i })\nf(0)",
                              "let x = ones([3000, 3000])\nvar y = x\nwhile true { y = y @ x }", "pmap(n => { var i = n; while i >= 0 { i = (i + 1) % 7 }; i })([0, 1])",
                              "var s = 0.0\nwhile true { s = sum(sort(normal(key(1), (300000,)))) }"}) {
    Session timed(engine, {.deadline_ms = 200});
    auto begin = Clock::now();
    auto r = timed.try_eval(endless);
    double took = seconds_since(begin);
    CHECK(!r && r.error().status() == TCT_ERR_DEADLINE);
    CHECK(took > 0.15 && took < 5);
    Session session(engine);
    std::atomic<bool> asked{false};
    Clock::time_point at;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      at = Clock::now();
      asked = true;
      session.interrupt();
    });
    auto stopped = session.try_eval(endless);
    double late = seconds_since(at);
    other.join();
    CHECK(asked && !stopped && stopped.error().status() == TCT_ERR_INTERRUPTED);
    CHECK(late < 2);
    CHECK(session.eval("1 + 1").scalar<int32_t>() == 2);   // the session goes on
  }
  Session shallow(engine, {.call_depth = 50});
  shallow.eval("fn down(n) = if n <= 0 { 0 } else { 1 + down(n - 1) }");
  CHECK(shallow.eval("down(20)").scalar<int32_t>() == 20);
  CHECK(status_of([&] { shallow.eval("down(100)"); }) == TCT_ERR_LIMIT);
}

// ---- what prompts, editors and measurements ask for ----
static void tools() {
  Engine engine;
  std::string printed;
  int64_t steps = 0, ends = 0;
  std::atomic<bool> stop{false};
  Session s(engine, SessionOptions{.write = [&](std::string_view text) { printed += text; }, .stop = [&] { return stop.load(); },
                                   .progress = [&](const tct_progress* loop, const tct_progress*) { loop ? (steps = loop->done) : ++ends; },
                                   .arguments = {"one", "zwei"}});
  CHECK(s.eval("arguments()").texts() == (std::vector<std::string>{"one", "zwei"}));
  CHECK(is_incomplete("f(1,") && is_incomplete("fn f() {") && !is_incomplete("f(1)") && !is_incomplete(")"));
  s.eval("## Scales.\nfn scale(x, by=2) = x * by\nlet pair = ([1, 2], (a=1.5, b=\"t\"))");
  CHECK(*s.try_help("scale") == "fn scale(x, by=2)\nScales.");
  CHECK(s.try_help("sum")->find("sum(x") == 0 && s.try_help("softmax")->find("fn softmax(") == 0);
  CHECK(*s.try_help("pair") == "(i32[2], (a: f32, b: str))");
  auto nothing = s.try_help("nothing_so_named");
  CHECK(!nothing && nothing.error().status() == TCT_ERR_NAME && nothing.error().message() == "nothing is named nothing_so_named");
  CHECK(s.complete("scal") == std::vector<std::string>{"scale"});
  CHECK(s.complete("brea") == std::vector<std::string>{"break"} && s.complete("nothing_so_named").empty());
  CHECK(s.get("pair").full_type() == "(i32[2], (a: f32, b: str))" && s.get("pair").type() == "tuple");
  CHECK(s.eval("[1, 2]").echo() == "i32[2] [1, 2]" && s.eval("\"a\"").echo() == "str \"a\"" && s.get("scale").echo() == "fn scale(x, by=2)");
  CHECK(s.try_show("scale", "f32[n], f32", "ir")->find("mul") != std::string::npos);
  CHECK(s.try_show("scale", "f32[n], f32", "asm")->find("ret") != std::string::npos);
  CHECK(!s.try_show("1 + 2 * x", "", "ast")->empty());
  CHECK(s.try_show("scale([1, 2])", "", "statement")->find("mul") != std::string::npos);
  CHECK(!s.try_show("scale", "f32[n], f32", "no such stage") && !s.try_show("nix", "", "ir"));
  CHECK(s.try_show("1 +", "", "ast").error().status() == TCT_ERR_SYNTAX);

  s.eval("let k = key(3)");
  for (int i = 0; i < 2; ++i) CHECK(static_cast<bool>(s.try_measure("uniform(k)")));
  CHECK(static_cast<bool>(s.try_eval("uniform(k)")) && !s.try_eval("uniform(k)"));

  s.eval("var n = 0\nfor i in 0..5 { n += i }");
  CHECK(steps == 5 && ends > 0);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  auto stopped = s.try_eval("while n >= 0 { n = (n + 1) % 7 }");
  other.join();
  CHECK(!stopped && stopped.error().status() == TCT_ERR_INTERRUPTED);
  stop = false;
  CHECK(s.eval("1 + 1").scalar<int32_t>() == 2);

  std::string folder = "/tmp/tercet_check." + std::to_string(getpid());
  {
    Engine keeping({.cache = folder});
    Session t(keeping);
    t.eval("(jit (x => x * 3.25 + 1.0))(ones(5))");
  }
  auto info = Engine::cache_info(folder);
  CHECK(info && info->programs == 1 && info->bytes > 0 && info->most_bytes > info->bytes);
  CHECK(*Engine::clear_cache(folder) == 1 && Engine::cache_info(folder)->programs == 0);
  CHECK(Engine::cache_info("").error().status() == TCT_ERR_USAGE);
  std::filesystem::remove_all(folder);
}

// ---- functions ----
static void functions() {
  Engine engine;
  Session s(engine);
  s.eval("let by = 10\nfn scale(x) = x * by");
  auto plain = s.function("scale"), compiled = s.function("jit vmap scale");
  s.eval("let by = 1000");                      // the snapshots do not see it
  CHECK(plain(3).scalar<int32_t>() == 30);
  CHECK(at<int32_t>(compiled(engine.array<int32_t>({1, 2})), 1) == 20);
  CHECK(at<int32_t>(compiled(engine.array<int32_t>({5})), 0) == 50);
  CHECK(at<int32_t>(compiled(engine.array<int32_t>({1, 2, 3})), 2) == 30);
  CHECK(at<int32_t>(s.function("(x, k) => sum(x, axis=k)")(s.eval("[[1, 2], [3, 4]]"), int32_t{0}), 1) == 6);
  CHECK(at<int32_t>(s.function("(x, k) => sum(x, axis=k)")(s.eval("[[1, 2], [3, 4]]"), int32_t{1}), 1) == 7);
  auto axis = s.function("jit ((x, k) => sum(x, axis=k))");
  Value m = s.eval("[[1, 2], [3, 4]]");
  CHECK(at<int32_t>(axis(m, int32_t{0}), 1) == 6 && at<int32_t>(axis(m, int32_t{1}), 1) == 7 && at<int32_t>(axis(m, int32_t{0}), 1) == 6);
  auto sized = s.function("jit (n => zeros(n))");
  CHECK(size<float>(sized(3)) == 3 && size<float>(sized(5)) == 5);
  auto tree = s.function("p => (sum=p.a + p.b[0], all=p)");
  Value t = tree(record({{"a", 1.5}, {"b", tuple({2.5, true})}}));
  CHECK(t["sum"].scalar<double>() == 4.0 && t["all"]["b"][1].scalar<bool>());
  CHECK(s.function("(f, x) => f(f(x))")(s.eval("x => x * 3"), 2).scalar<int32_t>() == 18);
  CHECK(s.function("() => 7")().scalar<int32_t>() == 7);
  CHECK(status_of([&] { (void)s.function("3"); }) == TCT_ERR_TYPE);
  auto bad = s.function("jit (i => [5, 6][i])").try_call(int32_t{4});
  CHECK(!bad && bad.error().status() == TCT_ERR_INDEX && bad.error().render().find("[i]") != std::string_view::npos);
  CHECK(at<float>(s.function("jit pmap[_, 0]((k, v) => psum(v) * k)")(2.0f, engine.array<float>({1, 2, 3})), 1) == 12.f);

  std::optional<Function> kept;
  { Session gone(engine); gone.eval("fn half(x) = x / 2.0"); kept = gone.function("jit half"); }
  CHECK((*kept)(5.0).scalar<double>() == 2.5);

  // Many threads, one function; and two engines at once.
  auto poly = s.function("jit (x => sum(x * x + 2.0 * x))");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([&, id] {
      Engine own;
      Session mine(own);
      auto twice = mine.function("jit (x => x * 2.0)");
      for (int i = 1; i < 200; ++i) {
        Value x = engine.array(std::vector<float>(static_cast<size_t>(i), static_cast<float>(id)));
        float want = static_cast<float>(i) * static_cast<float>(id * id + 2 * id);
        wrong += poly(x).scalar<float>() != want;
        wrong += twice(static_cast<double>(i)).scalar<double>() != 2.0 * i;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

struct Marker : std::runtime_error { using runtime_error::runtime_error; };

static void host_functions() {
  Engine engine;
  Session s(engine);
  int calls = 0;
  s.define("damp", "(f64, f64) -> f64", [&](const Value& x, const Value& k) -> Value { return ++calls, x.scalar<double>() / (1 + k.scalar<double>()); });
  CHECK(s.eval("damp(3.0, 0.5)").scalar<double>() == 2.0 && calls == 1);
  CHECK(at<double>(s.eval("vmap[0, _](damp)(f64([1, 2, 4]), 1.0)"), 2) == 2.0 && calls == 4);
  CHECK(s.function("jit (x => damp(x, 0.0) + 1.0)")(41.0).scalar<double>() == 42.0);
  s.define("turn", "(f32[n]) -> f32[n]", [&](const Value& x) -> Value {
    auto v = x.view<float>();
    std::vector<float> out(v.begin(), v.end());
    std::reverse(out.begin(), out.end());
    return engine.array(std::move(out));
  });
  CHECK(at<float>(s.eval("turn([1.0, 2.0, 3.0]) + [10.0, 0.0, 0.0]"), 0) == 13.f);
  CHECK(status_of([&] { s.eval("turn([1, 2])"); }) == TCT_ERR_TYPE);
  CHECK(status_of([&] { s.eval("turn(1.0, 2.0)"); }) == TCT_ERR_TYPE);
  s.define("lie", "(f64) -> f64", [&](const Value&) -> Value { return 1; });
  CHECK(status_of([&] { s.eval("lie(1.0)"); }) == TCT_ERR_TYPE);
  s.define("exact", "(i64) -> i64", [](const Value& x) -> Value { return x.scalar<int64_t>() + 1; });
  CHECK(s.eval("exact(9007199254740993)").scalar<int64_t>() == 9007199254740994);
  s.define("burst", "(f64) -> f64", [](const Value&) -> Value { throw Marker("out of steam"); });
  bool same = false;
  try {
    s.eval("burst(1.0)");
  } catch (const Marker& m) {
    same = std::string(m.what()) == "out of steam";
  }
  CHECK(same);
  auto r = s.try_eval("burst(1.0)");
  CHECK(!r && r.error().status() == TCT_ERR_HOST && r.error().message() == "`burst` of the host failed: out of steam");
  CHECK(r.error().render().find("burst(1.0)") != std::string_view::npos);
  auto inner = s.function("jit (x => x * 2.0)");   // a host function that calls a function
  s.define("twice", "(f64) -> f64", [inner](const Value& x) -> Value { return inner(x); });
  CHECK(s.eval("twice(4.0)").scalar<double>() == 8.0);
  for (const char* wrong : {"(f64 -> f64", "f64 -> f64", "(x99) -> f64", "(f64) -> f64[n]", "(f64[*]) -> f64", ""})
    CHECK(status_of([&] { s.define("bad", wrong, [](const Value& x) -> Value { return x; }); }) != TCT_OK);
  auto held = std::make_shared<int>(5);
  std::weak_ptr<int> watch = held;
  {
    Session t(engine);
    t.define("five", "() -> i64", [held]() -> Value { return static_cast<int64_t>(*held); });
    held.reset();
    CHECK(t.eval("five()").scalar<int64_t>() == 5 && !watch.expired());
  }
  CHECK(watch.expired());
}

/// Only a figure: how long a call of a compiled function on a scalar takes.
static void cost() {
  Engine engine({.threads = 1});
  Session s(engine);
  auto f = s.function("jit (x => x * 2.0 + 1.0)");
  Value x = 1.5;
  for (int i = 0; i < 1000; ++i) f(x);
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    auto begin = Clock::now();
    for (int i = 0; i < 5000; ++i) f(x);
    best = std::min(best, seconds_since(begin) / 5000);
  }
  std::printf("a compiled function of a scalar: %.0f ns a call\n", best * 1e9);
  CHECK(best < 1e-3);
}

int main() {
  values();
  borrowed();
  dlpack();
  programs();
  limits();
  tools();
  functions();
  host_functions();
  cost();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
