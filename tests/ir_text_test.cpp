// Functions as text: what is printed reads back as the same function.
#include <catch2/catch.hpp>
#include <limits>

#include "interpreter/engine/session.h"
#include "interpreter/ir/reader.h"
#include "tests/support.h"

namespace tercet {
namespace {

using test::ReferenceContext;
using test::same_elements;

/// What the function of one op on parameters of constant sizes prints.
FunctionPtr one_op(const OpDef& def, const Sample& sample) {
  Builder b(def.name);
  std::vector<ValueId> inputs;
  for (const Array& a : sample.operands) {
    std::vector<Dim> dims;
    for (int64_t s : a.shape) dims.emplace_back(s);
    inputs.push_back(b.param({a.dtype, dims}));
  }
  return b.finish(b.emit_many(def, inputs, sample.attrs));
}

bool is_dense(const Sample& sample) {
  return std::none_of(sample.operands.begin(), sample.operands.end(), [](const Array& a) { return a.ragged != nullptr; });
}

}  // namespace

TEST_CASE("every row's text reads back", "[ir][property]") {
  for (const OpDef* def : op_table()) {
    if (!def->samples) continue;
    DYNAMIC_SECTION(def->name) {
      for (const Sample& sample : def->samples()) {
        if (!is_dense(sample)) continue;
        FunctionPtr f = one_op(*def, sample);
        std::string text = print(*f);
        INFO(text);
        FunctionPtr g = read_function(text);
        REQUIRE(print(*g) == text);
        verify(*g);
        auto run = [&](const Function& function) {
          ReferenceContext context;
          return evaluate(function, context, sample.operands);
        };
        std::vector<Array> x = run(*f), y = run(*g);
        REQUIRE(x.size() == y.size());
        for (size_t i = 0; i < x.size(); ++i) REQUIRE(same_elements(x[i], y[i]));
      }
    }
  }
}

TEST_CASE("programs with bodies, sizes and checks read back", "[ir]") {
  Session session({});
  const char* definitions =
      "fn softmax_rows(x) { let e = exp(x - max(x, axis=1, keepdims=true))\ne / sum(e, axis=1, keepdims=true) }\n"
      "fn windows(x, w) = [x[i : i + w] for i in 0..len(x) - w + 1]\n"
      "fn loop(x) { var y = x\nvar i = 0\nwhile sum(y) < 100.0 { y = y * 2.0\ni += 1\nif i > 7 { break } }\n(y, i) }\n"
      "fn branch(x, i) { if x[0] > 2.0 { return x }\nprint(\"small\", i)\nx[i:] }\n"
      "fn masked(x) = sum(x[x > 1.5])\n"
      "fn drawn(k, n) { let (a, b) = split(k)\nif n > 2 { uniform(a, n) } else { normal(fold_in(b, n), n) } }\n"
      "fn nested(x) = (vmap (r => fold((c, v) => c * 0.5 + v, 0.0, r)))(x)\n";
  REQUIRE(session.run(session.add_source("program", definitions)).ok());
  for (auto [call, types] : {std::pair{"softmax_rows", "f32[n, m]"}, {"windows", "i32[n], i32"}, {"loop", "f32[n]"}, {"branch", "f32[n], i32"},
                             {"masked", "f64[n]"}, {"nested", "f32[n, m]"}, {"vmap[0, _] windows", "i32[b, n], i32"}, {"vmap loop", "f32[b, n]"},
                             {"vmap[0, _] branch", "f32[b, 3], i32"}, {"vmap nested", "f32[b, n, m]"}, {"drawn", "key, i32"}, {"vmap[0, _] drawn", "key[n], i32"}}) {
    INFO(call);
    std::string text;
    Outcome outcome = session.show_stage(call, types, "ir", &text);
    for (const Diagnostic& d : outcome.diagnostics) FAIL_CHECK(render(d, session.sources()));
    if (!outcome.ok()) continue;
    INFO(text);
    FunctionPtr f = read_function(text);
    verify(*f);
    CHECK(print(*f) == text);
  }
}

TEST_CASE("sizes of one name are told apart, numbers keep their bits", "[ir]") {
  Builder b("f");
  Dim n = Dim::symbol("n"), other = Dim::symbol("n", true);
  ValueId x = b.param({DType::F32, {n, other}});
  ValueId y = b.emit(*find_op("reshape"), {x}, {{"dims", std::vector<Dim>{n * other + 1 - 1, floordiv(other, 2) - floordiv(other, 2) + 1}}});
  Array c = Array::make(DType::F32, {5});
  for (int i = 0; i < 5; ++i) c.data<float>()[i] = std::array{-0.0f, 1e-45f, std::numeric_limits<float>::infinity(), 3.4028235e38f, 0.1f}[static_cast<size_t>(i)];
  FunctionPtr f = b.finish({y, b.emit(*find_op("constant"), {}, {{"value", c}})});
  std::string text = print(*f);
  CHECK(text.find("sizes n, n_2!") == 0);
  FunctionPtr g = read_function(text);
  CHECK(print(*g) == text);
  ReferenceContext context;
  CHECK(same_elements(evaluate(*g, context, {Array::zeros(DType::F32, {2, 3})})[1], c));
  CHECK_FALSE(g->type(g->params[0]).dims[0].not_one());
  CHECK(g->type(g->params[0]).dims[1].not_one());
}

TEST_CASE("text that is no function is an error with its line", "[ir]") {
  for (const char* text : {"", "f(", "f(%0: f32) {\n  return %1\n}\n", "f(%0: f33) {\n  return %0\n}\n", "f(%0: f32[n]) {\n  return %0\n}\n",
                           "f(%0: f32) {\n  %1: f32 = nothing(%0)\n  return %1\n}\n", "f(%0: f32) {\n  return %0\n} more"}) {
    INFO(text);
    CHECK_THROWS_AS(read_function(text), Failure);
  }
}

TEST_CASE("sizes beyond i64 wrap, and those nested without end are an error", "[ir]") {
  auto round_trip = [](const std::string& size) {
    FunctionPtr f = read_function("sizes n\nf(%0: f32[n]) {\n  %1: i64 = dim_value() {dim=<" + size + ">}\n  return %1\n}\n");
    return f->ops[0].attrs.get<Dim>("dim");
  };
  const int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  CHECK(round_trip("2*9008325154647834624*n").eval({}) == std::nullopt);
  CHECK(round_trip("9223372036854775807 + 1") == Dim(least));
  const Dim n = Dim::symbol("n");
  CHECK(Dim(most) * n + n == Dim(least) * n);
  CHECK((Dim(least) * Dim(2)).is(0));
  CHECK(floordiv(Dim(least), Dim(-1)) == Dim(least));
  CHECK(floordiv(Dim(least) * n, Dim(-1)) == Dim(least) * n);
  CHECK(mod(Dim(least), Dim(-1)).is(0));
  CHECK(size_quotient(-7, 2) == -4);
  CHECK(size_remainder(-7, 2) == 1);
  CHECK(size_quotient(most, 0) == 0);
  std::string deep(2'000'000, '(');
  CHECK_THROWS_AS(round_trip(deep), Failure);
}

TEST_CASE("sizes that multiply without end are an error", "[ir]") {
  Dim product(1), doubled = Dim::symbol("n"), shared = Dim::symbol("k");
  CHECK_THROWS_AS([&] { for (int i = 0; i < 40; ++i) product = product * (Dim::symbol("a") + Dim::symbol("b")); }(), Failure);
  CHECK_THROWS_AS([&] { for (int i = 0; i < 40; ++i) doubled = max(doubled, Dim::symbol("m")) + floordiv(doubled, Dim(3)); }(), Failure);
  for (int i = 0; i < 1000; ++i) shared = floordiv(shared + Dim(1), Dim(2));   // nested as deep as a program may nest it
  CHECK(shared.eval({{Dim::symbol("other").symbol_id(), 1}}) == std::nullopt);
}

TEST_CASE("no operation takes operands or attributes that are not there", "[ir]") {
  using Ints = std::vector<int64_t>;
  const Dim n = Dim::symbol("n");
  const std::vector<std::vector<Dim>> shapes{{}, {n}, {n, Dim(2)}, {n, Dim::ragged()}};
  std::vector<Attrs> attributes(1);
  for (int64_t k : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{7}, INT64_MAX}) {
    Attrs all;
    for (const char* name : {"axis", "batch", "carried", "groups", "lanes", "level", "split_axis"}) all.set(name, k);
    for (const char* name : {"perm", "lhs", "rhs", "steps", "joins"}) all.set(name, Ints{k, k});
    for (const char* name : {"dims", "sizes", "starts"}) all.set(name, std::vector<Dim>{n, Dim(2)});
    for (const char* name : {"size", "k", "n", "total", "length", "count"}) all.set(name, n);
    all.set("axes", Ints{k});
    all.set("defines", n);
    all.set("dtype", DType::F32);
    all.set("unknown", false);
    attributes.push_back(all);
    all.set("axes", k);
    attributes.push_back(all);
  }
  int made = 0;
  for (const OpDef* op : op_table())
    for (size_t count = 0; count <= 3; ++count)
      for (DType dtype : {DType::F32, DType::I64, DType::Bool, DType::Str})
        for (const std::vector<Dim>& shape : shapes)
          for (const Attrs& attrs : attributes) {
            Builder b("f");
            std::vector<ValueId> operands;
            for (size_t i = 0; i < count; ++i) operands.push_back(b.param({dtype, shape}));
            try {
              b.emit_many(*op, operands, attrs);
              ++made;
            } catch (const Failure&) {
            }
          }
  CHECK(made > 1000);
  CHECK_THROWS_AS(read_function("f() {\n  %0: i32[9] = constant() {value=i32(900000000000) [1]}\n  return\n}"), Failure);
}

}  // namespace tercet
