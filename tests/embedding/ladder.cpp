// Every call of the interface with its n-th allocation failing, for n = 1, 2, 3, …: an error each time, nothing is left behind,
// and the engine goes on. (Compilation is not here: LLVM ends the process.) Prints "N passed, N failed".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <atomic>
#include <functional>
#include <iterator>
#include <string>
#include <tercet/tercet.h>

static std::atomic<long> left{-1}, live{0};
static bool out_of_memory() { long n = left.load(); return n >= 0 && left.fetch_sub(1) == 0; }
static void* take(std::size_t n) {
  if (left.load() >= 0 && out_of_memory()) throw std::bad_alloc();
  void* p = std::malloc(n ? n : 1);
  if (!p) throw std::bad_alloc();
  ++live;
  return p;
}
void* operator new(std::size_t n) { return take(n); }
void* operator new[](std::size_t n) { return take(n); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  if (left.load() >= 0 && out_of_memory()) return nullptr;
  void* p = std::malloc(n ? n : 1);
  live += p != nullptr;
  return p;
}
void* operator new[](std::size_t n, const std::nothrow_t& t) noexcept { return operator new(n, t); }
void operator delete(void* p) noexcept { if (p) --live, std::free(p); }
void operator delete[](void* p) noexcept { if (p) --live, std::free(p); }
void operator delete(void* p, std::size_t) noexcept { if (p) --live, std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { if (p) --live, std::free(p); }

int main() {
  tct_engine_options eo;
  tct_engine_options_init(&eo, sizeof eo);
  eo.interpret = 1;
  tct_engine* engine;
  tct_session* session;
  tct_engine_create(&eo, &engine, nullptr);
  tct_session_create(engine, nullptr, &session, nullptr);
  tct_value* x;
  tct_eval(session, TCT_STR("let xs = [1.0, 2.0, 3.0]\nfn f(x) = x * 2.0 + sum(xs)\nlet r = (a=xs, b=(1, \"zwei\"))"), TCT_STR("a"), nullptr, nullptr);
  tct_function *f, *g, *h;
  tct_function_get(session, TCT_STR("f"), &f, nullptr);
  tct_function_get(session, TCT_STR("x => { var s = 0.0; for v in vmap(e => if e > 1.0 { f(e) } else { 2.0 })(x) { s += v }; s }"), &g, nullptr);
  tct_function_get(session, TCT_STR("x => x[7]"), &h, nullptr);
  double numbers[] = {1, 2, 3};
  int64_t shape[] = {3};
  tct_array_copy(TCT_F64, 1, shape, numbers, &x, nullptr);
  tct_str names[] = {TCT_STR("a"), TCT_STR("b")}, texts[] = {TCT_STR("x"), TCT_STR("ein langer Text hier"), TCT_STR("")};
  tct_value* two[] = {x, x};
  struct Call { const char* name; std::function<tct_status(tct_error**)> call; };
  auto value = [&](auto make) { return [make](tct_error** e) { tct_value* v = nullptr; tct_status s = make(&v, e); tct_value_release(v); return s; }; };
  // What a session was told it keeps: each time a new one, whose making and end are not what is tested.
  auto anew = [&](auto call) {
    return [&engine, call](tct_error** e) {
      long armed = left.exchange(-1);
      tct_session* s = nullptr;
      tct_value* v = nullptr;
      tct_session_create(engine, nullptr, &s, nullptr);
      left = armed;
      tct_status status = call(s, &v, e);
      armed = left.exchange(-1);
      tct_value_release(v);
      tct_session_release(s);
      left = armed;
      return status;
    };
  };
  auto run = [&](const char* text) { return anew([text](tct_session* s, tct_value** v, tct_error** e) { return tct_eval(s, tct_str_of(text), TCT_STR("demo"), v, e); }); };
  int64_t length = 0;
  Call calls[] = {
    {"tct_engine_create", [&](tct_error** e) { tct_engine* o = nullptr; auto s = tct_engine_create(&eo, &o, e); tct_engine_release(o); return s; }},
    {"tct_session_create", [&](tct_error** e) { tct_session* o = nullptr; auto s = tct_session_create(engine, nullptr, &o, e); tct_session_release(o); return s; }},
    {"tct_array_copy", value([&](tct_value** v, tct_error** e) { return tct_array_copy(TCT_F64, 1, shape, numbers, v, e); })},
    {"tct_array_borrow", value([&](tct_value** v, tct_error** e) { return tct_array_borrow(TCT_F64, 1, shape, nullptr, numbers, nullptr, nullptr, v, e); })},
    {"tct_array_texts", value([&](tct_value** v, tct_error** e) { return tct_array_texts(1, shape, texts, v, e); })},
    {"tct_tuple", value([&](tct_value** v, tct_error** e) { return tct_tuple(two, 2, v, e); })},
    {"tct_record", value([&](tct_value** v, tct_error** e) { return tct_record(names, two, 2, v, e); })},
    {"tct_get", value([&](tct_value** v, tct_error** e) { return tct_get(session, TCT_STR("r"), v, e); })},
    {"tct_get of a name that is none", value([&](tct_value** v, tct_error** e) { return tct_get(session, TCT_STR("nothing"), v, e); })},
    {"tct_set", [&](tct_error** e) { return tct_set(session, TCT_STR("y"), x, e); }},
    {"tct_call", value([&](tct_value** v, tct_error** e) { return tct_call(f, &x, 1, v, e); })},
    {"tct_call with sizes never seen", value([&](tct_value** v, tct_error** e) {
       tct_value* a = nullptr;
       int64_t n[] = {1 + ++length % 600};
       static double zeros[601];
       if (tct_status s = tct_array_copy(TCT_F64, 1, n, zeros, &a, e)) return s;
       tct_status s = tct_call(g, &a, 1, v, e);
       tct_value_release(a);
       return s;
     })},
    {"tct_call that fails", value([&](tct_value** v, tct_error** e) { return tct_call(h, &x, 1, v, e); })},
    {"tct_eval", run("let q = [1, 2, 3]\n(sum(q) * 2, (a=q[1:], b=f\"{q}\"))")},
    {"tct_eval of a function", run("fn twice(x) = if x > 1 { x * 2 } else { for i in 0..2 { x }; x }\nvmap twice([1, 2])")},
    {"tct_eval of texts", run("let t = tokenize(lower([\"Some words of a longer text\", \"\", \"and more words\"]))\nlet v = vocab(t)\n(pad(encode(v, t)), join(t, \" \"), vmap(r => sort(r))(t), edit_distance(\"kitten\", \"sitting\"))")},
    {"tct_eval on devices", run("(pmap(x => psum(x) + x)([1, 2]), pmap(x => sum(all_gather(x)))([[1.0], [2.0]]))")},
    {"tct_eval of gradients", run("grad(x => sum(exp(x) * x[0]))([1.0, 2.0])")},
    {"tct_eval that fails", run("[1, 2][5]")},
    {"tct_eval of no program", run("let x = (1 + \nfn ) 3 } ]")},
    {"tct_check", anew([](tct_session* s, tct_value**, tct_error** e) { return tct_check(s, TCT_STR("fn f(x: f32[n]) = x @ x\nnix"), TCT_STR("demo"), nullptr, e); })},
    {"tct_function_get", anew([](tct_session* s, tct_value**, tct_error** e) { tct_function* o = nullptr; auto status = tct_function_get(s, TCT_STR("x => x * 2"), &o, e); tct_function_release(o); return status; })},
    {"tct_define", anew([](tct_session* s, tct_value**, tct_error** e) { return tct_define(s, TCT_STR("host"), TCT_STR("(f64, f32[n]) -> f32[n]"), [](void*, tct_value* const*, size_t, tct_value**, tct_error**) -> tct_status { return TCT_ERR_HOST; }, nullptr, nullptr, e); })},
    {"tct_help", anew([](tct_session* s, tct_value** v, tct_error** e) { return tct_help(s, TCT_STR("softmax"), v, e); })},
    {"tct_complete", anew([](tct_session* s, tct_value** v, tct_error** e) { return tct_complete(s, TCT_STR("s"), v, e); })},
    {"tct_show", anew([](tct_session* s, tct_value** v, tct_error** e) { return tct_show(s, TCT_STR("x => x * 2"), TCT_STR("f32[n]"), TCT_STR("ir"), v, e); })},
    {"tct_show of a tree", anew([](tct_session* s, tct_value** v, tct_error** e) { return tct_show(s, TCT_STR("f(1)"), TCT_STR(""), TCT_STR("ast"), v, e); })},
    {"tct_to_dlpack", [&](tct_error** e) { DLManagedTensorVersioned* t = nullptr; auto s = tct_to_dlpack(x, &t, e); if (s == TCT_OK) { tct_value* v = nullptr; s = tct_from_dlpack(t, &v, e); tct_value_release(v); } return s; }},
  };
  int failed = 0;
  for (Call& c : calls) {
    tct_error* error = nullptr;
    tct_status good = c.call(&error);
    tct_error_release(error);
    long n = 0, kept = 0;
    for (; n < 40000; ++n) {
      for (tct_error** place : {&error, static_cast<tct_error**>(nullptr)}) {
        error = nullptr;
        c.call(nullptr);                        // what is remembered from call to call is there
        long before = live;
        left = n;
        tct_status s = c.call(place);
        bool done = left.load() >= 0;
        left = -1;
        tct_error_release(place ? error : nullptr);
        if (done && s == good) goto next;
        kept = std::max(kept, live - before);
        if (s != TCT_ERR_MEMORY && s != good) ++failed, std::printf("FAIL %s, allocation %ld: status %d\n", c.name, n + 1, s);
      }
    }
  next:
    if (n == 40000) ++failed, std::printf("FAIL %s does not end\n", c.name);
    long before = live;                         // a whole ladder leaves nothing behind
    for (long i = 0; i < n; ++i) left = i, c.call(nullptr), left = -1;
    c.call(nullptr);
    long again = live;
    for (long i = 0; i < n; ++i) left = i, c.call(nullptr), left = -1;
    c.call(nullptr);
    bool remembers = std::string(c.name).find("never seen") != std::string::npos;   // the forms of its arguments
    if (!remembers && live - again > 0) ++failed, std::printf("FAIL %s leaves %ld blocks behind\n", c.name, live - again);
    (void)before, (void)kept;
  }
  for (tct_function* function : {f, g, h}) tct_function_release(function);   // nothing is left for a leak detector
  tct_value_release(x);
  tct_session_release(session);
  tct_engine_release(engine);
  std::printf("%d passed, %d failed\n", static_cast<int>(std::size(calls)) - (failed > 0), failed);
  return failed > 0;
}
