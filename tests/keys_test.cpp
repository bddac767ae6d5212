// Random keys: the generator's published vectors, the ledger of uses, and what failing statements leave of it.
#include <catch2/catch.hpp>
#include <thread>

#include "codegen/backend.h"
#include "interpreter/engine/session.h"
#include "interpreter/runtime/keys.h"
#include "interpreter/runtime/threefry.h"

namespace tercet {
namespace {

Array some_keys(int64_t n) {
  Array words = Array::make(DType::U64, {n});
  for (int64_t i = 0; i < n; ++i) words.data<uint64_t>()[i] = static_cast<uint64_t>(i);
  return fresh_keys(words);
}
const KeyBits& key_at(const Array& keys, int64_t i) { return keys.data<KeyBits>()[i]; }

constexpr Span here{1, 10, 20}, there{1, 30, 40};

/// A session whose statements run interpreted or compiled.
class Program {
 public:
  explicit Program(bool compiled) : session_([&] {
    SessionOptions o;
    o.backend = make_llvm_backend();
    o.jit_all = compiled;
    return o;
  }()) {}
  Outcome run(const std::string& text) { return session_.run(session_.add_source("test", text)); }
  Outcome rerun(const std::string& text) { return session_.rerun(session_.add_source("test", text)); }
  Session& session() { return session_; }

 private:
  Session session_;
};

Kind kind_of(const Outcome& out) {
  REQUIRE_FALSE(out.ok());
  return out.diagnostics[0].kind;
}

}  // namespace

TEST_CASE("threefry gives the vectors of its authors", "[keys]") {
  CHECK(joined(threefry(uint64_t{0}, uint64_t{0})) == 0x6b20015999ba4efe);
  CHECK(joined(threefry(~uint64_t{0}, ~uint64_t{0})) == 0x1cb996fcbb002be7);
  CHECK(joined(threefry(uint64_t{0x13198a2e03707344}, uint64_t{0x243f6a8885a308d3})) == 0xc4923a9c483df7a0);
  CHECK(unit_interval(uint32_t{0}) == 0.0f);
  CHECK(unit_interval(~uint32_t{0}) == 0x1.fffffcp-1f);
  CHECK(unit_interval(~uint64_t{0}) == 0x1.ffffffffffffep-1);
  CHECK(unit_interval(static_cast<uint16_t>(0xffff)) == 0x1.ff8p-1f);
  CHECK(unit_interval(static_cast<uint8_t>(0xff)) == 0x1.fcp-1f);
}

TEST_CASE("a key is used once, and its copies with it", "[keys]") {
  KeyLedger ledger;
  Array keys = some_keys(3), copy = Array(keys).owned(), row = keys.row(1);
  CHECK_FALSE(ledger.use(key_at(keys, 1), ledger.used(KeyUse::Drawn, here)));
  for (const KeyBits& k : {key_at(copy, 1), key_at(row, 0)}) {
    auto conflict = ledger.use(k, ledger.used(KeyUse::Split, there));
    REQUIRE(conflict);
    CHECK(conflict->before == KeyUse::Drawn);
    CHECK(conflict->where == here);
  }
  CHECK_FALSE(ledger.use(key_at(keys, 0), ledger.used(KeyUse::Split, there)));
  CHECK_FALSE(ledger.use(key_at(keys, 2), ledger.used(KeyUse::Folded, here)));
  CHECK_FALSE(ledger.use(key_at(copy, 2), ledger.used(KeyUse::Folded, there)));   // as often as one likes
  CHECK(ledger.use(key_at(keys, 2), ledger.used(KeyUse::Drawn, here)));
  CHECK(ledger.use(key_at(keys, 0), ledger.used(KeyUse::Folded, here)));
}

TEST_CASE("what an attempt used is fresh again when it fails", "[keys]") {
  KeyLedger ledger;
  Array keys = some_keys(3);
  auto draw = [&](int64_t i) { return !ledger.use(key_at(keys, i), ledger.used(KeyUse::Drawn, here)); };
  {
    KeyAttempt statement(ledger);
    CHECK(draw(0));
    {
      KeyAttempt inner(ledger);
      CHECK(draw(1));
      CHECK_FALSE(draw(0));
    }
    CHECK(draw(1));          // the inner attempt did not happen
    CHECK_FALSE(draw(0));    // the outer one goes on
    {
      KeyAttempt inner(ledger);
      CHECK(draw(2));
      inner.keep();
    }
    CHECK_FALSE(draw(2));
  }
  for (int64_t i : {0, 1, 2}) CHECK(draw(i));
  ledger.keep();
  {
    KeyAttempt failing(ledger);
    CHECK_FALSE(draw(0));
  }
  CHECK_FALSE(draw(0));      // what was kept stays used
}

TEST_CASE("uses that nobody kept end with their ledger", "[keys]") {
  Array keys = some_keys(2);
  {
    KeyLedger ledger;
    CHECK_FALSE(ledger.use(key_at(keys, 0), ledger.used(KeyUse::Drawn, here)));
    ledger.keep();
    CHECK_FALSE(ledger.use(key_at(keys, 1), ledger.used(KeyUse::Drawn, here)));
  }
  KeyLedger other;
  CHECK(other.use(key_at(keys, 0), other.used(KeyUse::Drawn, here)));
  CHECK_FALSE(other.use(key_at(keys, 1), other.used(KeyUse::Drawn, here)));
}

TEST_CASE("lanes one after another may use together what each uses once", "[keys]") {
  KeyLedger ledger;
  Array keys = some_keys(1);
  auto draw = [&](std::vector<int64_t> lane) { return !ledger.use_in_lane(key_at(keys, 0), ledger.used(KeyUse::Drawn, here), lane); };
  CHECK(draw({0}));
  CHECK(draw({1}));
  CHECK_FALSE(draw({1}));
  CHECK(draw({3}));
  ledger.end_lanes();
  CHECK_FALSE(draw({4}));    // other lanes
}

TEST_CASE("of two threads one uses the key", "[keys]") {
  Array keys = some_keys(2000);
  std::atomic<int> won{0};
  auto draw_all = [&] {
    KeyLedger ledger;
    for (int64_t i = 0; i < 2000; ++i) won += !ledger.use(key_at(keys, i), ledger.used(KeyUse::Drawn, here));
    ledger.keep();
  };
  std::thread a(draw_all), b(draw_all);
  a.join();
  b.join();
  CHECK(won == 2000);
}

TEST_CASE("a failing statement has used no key", "[keys][session]") {
  for (bool compiled : {false, true}) {
    Program p(compiled);
    REQUIRE(p.run("let k = key(0)\nlet ks = split(key(1), 3)\nlet x = [1, 2]\nfn f(k, i) = uniform(k) + f32([1, 2][i])\nlet g = jit f").ok());
    CHECK(kind_of(p.run("uniform(k) + f32(x[len(x)])")) == Kind::Index);
    CHECK(kind_of(p.run("f(k, 7)")) == Kind::Index);
    CHECK(kind_of(p.run("g(k, 7)")) == Kind::Index);
    CHECK(kind_of(p.run("vmap(f)(ks, [0, 1, 2])")) == Kind::Index);
    CHECK(kind_of(p.run("let y = split(k)\nassert(false)")) == Kind::Assert);   // the first statement stands
    CHECK(kind_of(p.run("g(k, 0)")) == Kind::Key);
    CHECK(p.run("vmap(f)(ks, [0, 1, 0])").ok());
    CHECK(kind_of(p.run("g(ks[2], 7)")) == Kind::Key);
    CHECK(kind_of(p.run("(jit vmap f)(ks, [0, 1, 0])")) == Kind::Key);
  }
}

TEST_CASE("measuring uses no key", "[keys][session]") {
  Program p(false);
  REQUIRE(p.run("let k = key(0)\nlet used = key(1)\nlet a = uniform(used)").ok());
  for (int i = 0; i < 3; ++i) CHECK(p.rerun("uniform(k) + uniform(used)").ok());
  CHECK(kind_of(p.rerun("uniform(k) + uniform(k)")) == Kind::Key);
  CHECK(p.run("uniform(k)").ok());
  CHECK(kind_of(p.run("uniform(used)")) == Kind::Key);
}

TEST_CASE("the error names both places", "[keys][session]") {
  for (bool compiled : {false, true}) {
    Program p(compiled);
    Outcome out = p.run("let k = key(0)\nlet a = uniform(k)\nlet b = normal(k)");
    CHECK(kind_of(out) == Kind::Key);
    const Diagnostic& d = out.diagnostics[0];
    CHECK(p.session().sources().find(d.span)->place(d.span.begin).line == 3);
    REQUIRE(d.notes.size() == 1);
    CHECK(p.session().sources().find(d.notes[0].span)->place(d.notes[0].span.begin).line == 2);
  }
}

TEST_CASE("many keys made and used in one statement take no more memory than they live", "[keys][session]") {
  for (bool compiled : {false, true}) {
    SessionOptions small;
    small.memory_bytes = 4 << 20;
    small.backend = make_llvm_backend();
    small.jit_all = compiled;
    Session session(small);
    Outcome out = session.run(session.add_source("test", "var k = key(0)\nvar t = 0.0\nfor i in 0..40000 { let (a, b) = split(k)\nk = a\nt += uniform(b) }\nt > 19000.0"));
    REQUIRE(out.ok());
    CHECK(out.value->leaf()->as_int() == 1);
  }
}

}  // namespace tercet
