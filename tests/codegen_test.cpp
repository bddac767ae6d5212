// Compiled code against the reference: every row's samples and composed programs must give the same bits at both vector
// widths and on one and two threads.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "codegen/backend.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace tercet {
namespace {

using test::ReferenceContext;
using test::same_elements;
using test::show;
using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

std::vector<CompileOptions> all_options() {
  return {{1, 512, 0, false, Optimize::Always}, {2, 512, 16, false, Optimize::Never}, {1, 256, 200, false, Optimize::Always}, {2, 256, 0, false, Optimize::Never}};
}

Backend& backend() {
  // Code is found in the cache where the width of vectors is the only thing that counts, and across the tests.
  static const test::TemporaryFolder cache;
  static std::unique_ptr<Backend> b = make_llvm_backend(cache.path());
  return *b;
}

/// Runs f both ways on copies of the arguments; returns the reference's results.
std::vector<Array> check(const FunctionPtr& f, const std::vector<Array>& arguments,
                         const std::vector<CompileOptions>& all = all_options()) {
  auto copies = [&] {
    std::vector<Array> out;
    for (Array a : arguments) out.push_back(std::move(a).owned());
    return out;
  };
  std::string printed;
  std::vector<Array> expected = [&] {
    ReferenceContext reference;
    std::vector<Array> out = evaluate(*f, reference, copies());
    printed = reference.printed;
    return out;
  }();
  for (const CompileOptions& options : all) {
    std::shared_ptr<const Executable> code = backend().compile(f, options);
    ReferenceContext context;
    std::vector<Array> results = code->run(context, copies());
    REQUIRE(results.size() == expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      bool same = same_elements(results[i], expected[i]);
      if (!same) {
        UNSCOPED_INFO("program:\n"
                      << print(*f) << "result " << i << " at " << options.simd_bits << " bits, " << options.threads
                      << " threads\ncompiled:  " << show(results[i]) << "\nreference: " << show(expected[i]) << "\n"
                      << code->dump("kernels"));
        for (const Array& a : arguments) UNSCOPED_INFO("argument " << show(a));
      }
      REQUIRE(same);
    }
    REQUIRE(context.printed == printed);
  }
  return expected;
}

/// Gives every size of a parameter a symbol; equal sizes share one.
Dims symbolic(const Shape& shape, std::map<int64_t, Dim>& symbols) {
  Dims dims;
  for (int64_t s : shape) {
    auto [at, fresh] = symbols.try_emplace(s);
    if (fresh) at->second = Dim::symbol(fmt::format("n{}", s));
    dims.push_back(at->second);
  }
  return dims;
}

/// The function of one op whose operands are parameters. Attributes keep constant sizes where they must agree with
/// them.
FunctionPtr one_op(const OpDef& def, const Sample& sample, bool symbols) {
  Builder b(def.name);
  std::map<int64_t, Dim> known;
  std::vector<ValueId> inputs;
  for (const Array& a : sample.operands) {
    Dims dims = symbols ? symbolic(a.shape, known) : Dims{};
    if (!symbols)
      for (int64_t s : a.shape) dims.emplace_back(s);
    inputs.push_back(b.param({a.dtype, dims}));
  }
  return b.finish(b.emit_many(def, inputs, sample.attrs));
}

/// Rows whose attributes name no sizes may be tried with symbols.
bool names_sizes(const Sample& sample) {
  bool any = false;
  for (auto& [name, attr] : sample.attrs.items()) for_each_dim(attr, [&](const Dim&) { any = true; });
  return any;
}

}  // namespace

TEST_CASE("compiled code equals the reference on every row's samples", "[codegen][rows]") {
  const std::vector<CompileOptions> widths{{1, 512, 0, false, Optimize::Never}, {2, 256, 0, false, Optimize::Always}};
  for (const OpDef* def : op_table()) {
    if (!def->samples) continue;
    DYNAMIC_SECTION(def->name) {
      int turn = 0;
      for (const Sample& sample : def->samples()) {
        // Of rows that take any size, every second sample is compiled for sizes known when run.
        bool symbols = !names_sizes(sample) && !sample.operands.empty() && turn++ % 2 == 0;
        check(one_op(*def, sample, symbols), sample.operands, widths);
      }
    }
  }
}

namespace {

/// Writes programs as op("name", operands).
struct Program : Builder {
  Program() : Builder("program") {}
  ValueId op(const char* name, std::vector<ValueId> in, Attrs attrs = {}) {
    return emit(*find_op(name), std::move(in), std::move(attrs));
  }
  std::vector<ValueId> ops(const char* name, std::vector<ValueId> in, Attrs attrs = {},
                           std::vector<FunctionPtr> bodies = {}) {
    return emit_many(*find_op(name), std::move(in), std::move(attrs), {}, std::move(bodies));
  }
  template <class T>
  ValueId number(T v) {
    return op("constant", {}, {{"value", Array::scalar(v)}});
  }
  ValueId spread(ValueId v, const Dims& dims, Ints axes) {
    return op("broadcast", {v}, {{"dims", dims}, {"axes", std::move(axes)}});
  }
};

Array numbers(DType dtype, const Shape& shape, int seed = 1) {
  Array a = Array::make(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>)
      for (int64_t i = 0; i < a.count(); ++i) {
        int64_t r = (i * 7919 + seed * 104729) % 2003;
        a.data<T>()[i] = Compute<T>::store(cast<typename Compute<T>::type>(
            is_float(dtype) ? static_cast<double>(r) / 250.0 - 4.0 : static_cast<double>(r % 101 - 50)));
      }
  });
  return a;
}

}  // namespace

TEST_CASE("a softmax over symbolic sizes, at sizes around the vector width", "[codegen]") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{3, 15}, Shape{17, 16}, Shape{5, 33}, Shape{0, 4}, Shape{40, 5000}, Shape{2, 70000}}) {
    Program b;
    Dims dims{Dim::symbol("n"), Dim::symbol("m")};
    ValueId x = b.param({DType::F32, dims});
    ValueId top = b.op("max", {x}, {{"axes", Ints{1}}});
    ValueId e = b.op("exp", {b.op("sub", {x, b.spread(top, dims, {0})})});
    ValueId s = b.op("sum", {e}, {{"axes", Ints{1}}});
    check(b.finish({b.op("div", {e, b.spread(s, dims, {0})})}), {numbers(DType::F32, shape)});
  }
}

TEST_CASE("large reductions run in blocks, columns and rows with the same bits", "[codegen]") {
  for (const char* kind : {"sum", "prod", "max", "argmin"})
    for (DType dtype : {DType::F32, DType::F16, DType::I32}) {
      for (auto [shape, axes] : {std::pair{Shape{300001}, Ints{0}},
                                 {Shape{3, 100003}, {1}},
                                 {Shape{20001, 21}, {0}},
                                 {Shape{2, 5001, 3}, {1}},
                                 {Shape{7, 33, 401}, {0, 2}},
                                 {Shape{7, 33, 401}, {1, 2}},
                                 {Shape{700, 300}, {0, 1}}}) {
        Program b;
        Dims dims;
        for (size_t k = 0; k < shape.size(); ++k) dims.push_back(Dim::symbol("n"));
        ValueId x = b.param({dtype, dims});
        ValueId y = b.op("add", {x, x});
        check(b.finish({b.op(kind, {y}, {{"axes", axes}})}), {numbers(dtype, shape)}, {{1, 512}, {2, 512, 0, false, Optimize::Always}, {2, 256, 0, false, Optimize::Never}});
      }
    }
}

TEST_CASE("reductions of what does not lie in order", "[codegen]") {
  Program b;
  Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  Dims dims{n, m};
  ValueId x = b.param({DType::F32, {m, n}}), row = b.param({DType::F32, {m}});
  ValueId t = b.op("transpose", {x}, {{"perm", Ints{1, 0}}});
  ValueId y = b.op("mul", {t, b.spread(row, dims, {1})});
  std::vector<ValueId> out;
  for (const Ints& axes : {Ints{0, 1}, Ints{0}, Ints{1}}) out.push_back(b.op("sum", {y}, {{"axes", axes}}));
  check(b.finish(out), {numbers(DType::F32, {70, 90}), numbers(DType::F32, {70}, 2)});
}

TEST_CASE("sizes of 1 repeat by value", "[codegen]") {
  for (int64_t rows : {1, 9})
    for (int64_t columns : {1, 37}) {
      Program b;
      Dim n = Dim::symbol("n"), m = Dim::symbol("m"), p = Dim::symbol("p"), q = Dim::symbol("q");
      Dims dims{broadcast(n, p), broadcast(m, q)};
      ValueId x = b.param({DType::F32, {n, m}}), y = b.param({DType::F32, {p, q}});
      ValueId z = b.op("mul", {b.spread(x, dims, {0, 1}), b.spread(y, dims, {0, 1})});
      check(b.finish({z, b.op("sum", {z}, {{"axes", Ints{1}}})}),
            {numbers(DType::F32, {rows, columns}), numbers(DType::F32, {9, 37}, 3)});
    }
}

TEST_CASE("views, windows and gathers are read through", "[codegen]") {
  Program b;
  Dim n = Dim::symbol("n"), m = Dim::symbol("m"), k = Dim::symbol("k");
  ValueId x = b.param({DType::F32, {n, m}}), index = b.param({DType::I32, {k}}), start = b.param({DType::I64, {}});
  ValueId twice = b.op("add", {x, x});
  ValueId rows = b.op("gather", {twice, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}});
  ValueId columns = b.op("gather", {twice, index}, {{"axes", Ints{1}}, {"batch", int64_t{0}}});
  ValueId cut = b.op("window", {rows, start}, {{"axis", int64_t{1}}, {"size", m - 3}, {"batch", int64_t{0}}});
  ValueId flipped =
      b.op("slice", {cut}, {{"starts", Dims{0, m - 4}}, {"sizes", Dims{k, m - 3}}, {"steps", Ints{1, -1}}});
  ValueId flat = b.op("reshape", {flipped}, {{"dims", Dims{k * (m - 3)}}});
  ValueId counted =
      b.op("mul", {flat, b.op("iota", {}, {{"dims", Dims{k * (m - 3)}}, {"axis", int64_t{0}}, {"dtype", DType::F32}})});
  Array at = Array::make(DType::I32, {21});
  for (int32_t i = 0; i < 21; ++i) at.data<int32_t>()[i] = i * 5 % 19;
  check(b.finish({counted, b.op("sum", {columns}, {{"axes", Ints{0}}}), b.op("neg", {flipped})}),
        {numbers(DType::F32, {19, 23}), at, Array::scalar<int64_t>(2)});
}

TEST_CASE("control flow runs compiled bodies", "[codegen]") {
  Dim n = Dim::symbol("n");
  Program condition;
  ValueId i = condition.param({DType::I64, {}});
  condition.param({DType::F32, {n}});
  ValueId limit = condition.param({DType::I64, {}});
  FunctionPtr before = condition.finish({condition.op("lt", {i, limit})});
  Program step;
  ValueId j = step.param({DType::I64, {}}), x = step.param({DType::F32, {n}});
  step.param({DType::I64, {}});
  FunctionPtr body =
      step.finish({step.op("add", {j, step.number<int64_t>(1)}), step.op("tanh", {step.op("add", {x, x})})});
  Program scan_body;
  ValueId at = scan_body.param({DType::I64, {}}), total = scan_body.param({DType::F32, {}}),
          v = scan_body.param({DType::F32, {n}});
  ValueId sum = scan_body.op("add", {total, scan_body.op("sum", {v}, {{"axes", Ints{0}}})});
  FunctionPtr scanned = scan_body.finish(
      {sum, scan_body.op("mul", {v, scan_body.spread(scan_body.op("cast", {at}, {{"dtype", DType::F32}}), {n}, {})})});
  Program yes, no;
  ValueId a = yes.param({DType::F32, {n}}), c = no.param({DType::F32, {n}});
  FunctionPtr if_so = yes.finish({yes.op("neg", {a})}), if_not = no.finish({no.op("exp", {c})});

  Program b;
  Dim m = Dim::symbol("m");
  ValueId start = b.param({DType::F32, {n}}), all = b.param({DType::F32, {m, n}});
  std::vector<ValueId> looped =
      b.ops("while", {b.number<int64_t>(0), start, b.number<int64_t>(5)}, {{"carried", int64_t{2}}}, {before, body});
  std::vector<ValueId> sums = b.ops("scan", {b.number(0.5f), all},
                                    {{"length", m}, {"carried", int64_t{1}}, {"consumed", int64_t{1}}}, {scanned});
  ValueId big = b.op("gt", {sums[0], b.number(0.f)});
  std::vector<ValueId> chosen = b.ops("cond", {big, looped[1]}, {}, {if_so, if_not});
  check(b.finish({looped[0], looped[1], sums[0], sums[1], chosen[0]}),
        {numbers(DType::F32, {35}), numbers(DType::F32, {6, 35}, 2)});
}

TEST_CASE("kernels over the same rows run block by block", "[codegen]") {
  Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  Program b;   // normalised rows, twice over, with a per-column factor, and what the rows were like
  ValueId x = b.param({DType::F32, {n, m}}), factor = b.param({DType::F32, {m}});
  auto across = [&](ValueId row) { return b.op("broadcast", {row}, {{"axes", Ints{0}}, {"dims", Dims{n, m}}}); };
  auto normalised = [&](ValueId v) {
    ValueId e = b.op("exp", {b.op("sub", {v, across(b.op("max", {v}, {{"axes", Ints{1}}}))})});
    return std::pair(b.op("div", {e, across(b.op("sum", {e}, {{"axes", Ints{1}}}))}), e);
  };
  auto [once, e] = normalised(x);
  ValueId scaled = b.op("mul", {once, b.op("broadcast", {factor}, {{"axes", Ints{1}}, {"dims", Dims{n, m}}})});
  auto [twice, unused] = normalised(scaled);
  (void)unused;
  FunctionPtr f = b.finish({twice, e, b.op("argmax", {once}, {{"axes", Ints{1}}})});
  CHECK(backend().compile(f, {1, 512})->dump("kernels").find("band of the next") != std::string::npos);
  for (Shape shape : {Shape{1, 1}, Shape{7, 1}, Shape{3, 130}, Shape{129, 33}, Shape{40, 5000}, Shape{600, 517}, Shape{0, 4}, Shape{4, 0}})
    check(f, {numbers(DType::F32, shape), numbers(DType::F32, {shape[1]})});
}

TEST_CASE("reductions of a few elements are unrolled", "[codegen]") {
  Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  for (int64_t size : {1, 2, 3, 9, 15, 16, 17})
    for (const char* kind : {"sum", "max", "argmin", "prod"})
      for (DType dtype : {DType::F32, DType::BF16, DType::I64, DType::F64}) {
        Program b;   // sums of windows, and over an axis in the middle
        ValueId x = b.param({dtype, {n, m}}), y = b.param({dtype, {n, Dim(size), m}});
        Dim count = m - Dim(size - 1);
        ValueId i = b.op("iota", {}, {{"axis", int64_t{0}}, {"dims", Dims{count, Dim(size)}}, {"dtype", DType::I64}});
        ValueId j = b.op("iota", {}, {{"axis", int64_t{1}}, {"dims", Dims{count, Dim(size)}}, {"dtype", DType::I64}});
        ValueId windows = b.op("gather", {x, b.op("add", {i, j})}, {{"axes", Ints{1}}, {"batch", int64_t{0}}});
        ValueId weights = b.spread(b.op("sign", {b.param({dtype, {Dim(size)}})}), {n, Dim(size), m}, {1});   // a single value an element
        FunctionPtr f = b.finish({b.op(kind, {windows}, {{"axes", Ints{1}}}), b.op(kind, {b.op("mul", {y, weights})}, {{"axes", Ints{1}}})});
        if (size == 9) CHECK(backend().compile(f, {1, 512})->dump("kernels").find("small_reduce") != std::string::npos);
        for (int64_t width : {size, size + 40}) check(f, {numbers(dtype, {3, width}), numbers(dtype, {3, size, width}), numbers(dtype, {size})}, {{1, 512, 0, false, Optimize::Always}, {2, 256, 0, false, Optimize::Never}});
      }
}

TEST_CASE("results with a short last axis are stored by rows", "[codegen]") {
  Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  for (int64_t size : {2, 3, 5, 8, 9})
    for (DType dtype : {DType::F32, DType::U8, DType::F64, DType::F16, DType::Bool}) {
      Program b;   // x + w for every element of w, and a choice among them
      ValueId x = b.param({dtype, {n, m}}), w = b.param({dtype, {Dim(size)}});
      Dims dims{n, m, Dim(size)};
      ValueId wide = b.spread(x, dims, {0, 1}), weights = b.spread(w, dims, {2});
      ValueId less = b.op("lt", {wide, weights});
      ValueId chosen = b.op("select", {less, wide, weights});
      FunctionPtr f = b.finish({chosen, less});
      bool expected = size <= 8;
      CHECK((backend().compile(f, {1, 512})->dump("kernels").find("interleaved") != std::string::npos) == expected);
      for (Shape shape : {Shape{1, 1}, Shape{3, 15}, Shape{2, 16}, Shape{5, 50}, Shape{300, 77}}) check(f, {numbers(dtype, shape), numbers(dtype, {size}, 2)});
    }
}

TEST_CASE("short rows read at a place that each lane knows", "[codegen]") {
  Dim n = Dim::symbol("n"), m = Dim::symbol("m"), k = Dim::symbol("k");
  Program b;   // x[i, j, start[i] + e] for e < 2, in whole vectors and the rest
  ValueId x = b.param({DType::F32, {n, m, k}}), start = b.param({DType::I64, {n}});
  Dims dims{n, m, Dim(2)};
  auto counter = [&](int64_t axis) { return b.op("iota", {}, {{"axis", axis}, {"dims", dims}, {"dtype", DType::I64}}); };
  ValueId place = b.op("add", {b.spread(start, dims, {0}), counter(2)});
  FunctionPtr f = b.finish({b.op("gather", {x, counter(0), counter(1), place}, {{"axes", Ints{0, 1, 2}}, {"batch", int64_t{0}}})});
  CHECK(backend().compile(f, {1, 512})->dump("kernels").find("interleaved") != std::string::npos);
  Array starts = Array::make(DType::I64, {3});
  for (int64_t i = 0; i < 3; ++i) starts.data<int64_t>()[i] = (i * 5) % 7;
  for (int64_t width : {15, 16, 20, 37}) check(f, {numbers(DType::F32, {3, width, 9}), starts});
}

TEST_CASE("a block does not read what another block overwrites", "[codegen]") {
  Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  Program b;   // the second kernel reads x upside down, so nothing may be written to its memory before
  ValueId x = b.param({DType::F64, {n, m}});
  ValueId sums = b.op("sum", {x}, {{"axes", Ints{1}}});
  ValueId row = b.op("broadcast", {sums}, {{"axes", Ints{0}}, {"dims", Dims{n, m}}});
  ValueId down = b.op("slice", {x}, {{"starts", Dims{n - Dim(1), Dim(0)}}, {"sizes", Dims{n, m}}, {"steps", Ints{-1, 1}}});
  ValueId y = b.op("sub", {down, row});
  ValueId z = b.op("mul", {b.op("max", {y}, {{"axes", Ints{1}}}), sums});
  FunctionPtr f = b.finish({y, z});
  for (Shape shape : {Shape{5, 9}, Shape{200, 700}}) check(f, {numbers(DType::F64, shape)});
}

TEST_CASE("a failed check is told as the reference tells it, and nothing prints twice", "[codegen]") {
  Program b;
  Dim n = Dim::symbol("n"), k = Dim::symbol("k");
  ValueId x = b.param({DType::F32, {n}}), index = b.param({DType::I32, {k}});
  b.ops("print", {x}, {{"text", std::string("x is \1")}});
  b.ops("check_index", {index}, {{"size", n}, {"axis", int64_t{0}}, {"lanes", int64_t{1}}});
  ValueId y = b.op("gather", {x, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}});
  b.ops("print", {y}, {{"text", std::string("y is \1")}});
  FunctionPtr f = b.finish({y});
  Array good = Array::make(DType::I32, {20}), bad = Array::make(DType::I32, {20});
  for (int32_t i = 0; i < 20; ++i) good.data<int32_t>()[i] = i % 3, bad.data<int32_t>()[i] = i == 17 ? 9 : 0;
  check(f, {numbers(DType::F32, {3}), good});
  for (const CompileOptions& options : all_options()) {
    ReferenceContext context;
    try {
      backend().compile(f, options)->run(context, {numbers(DType::F32, {3}), bad});
      FAIL("nothing was thrown");
    } catch (Failure& failure) {
      CHECK(failure.first().kind == Kind::Index);
      CHECK(failure.first().row == std::vector<int64_t>{17});
    }
    CHECK(std::count(context.printed.begin(), context.printed.end(), '\n') == 1);
  }
}

TEST_CASE("checks guard the reads behind them, in whatever kernel these end up", "[codegen]") {
  Dim n = Dim::symbol("n"), m = Dim::symbol("m"), k = Dim::symbol("k");
  auto fails = [&](const FunctionPtr& f, const std::vector<Array>& arguments) {
    for (const CompileOptions& options : all_options()) {
      ReferenceContext context;
      CHECK_THROWS_AS(backend().compile(f, options)->run(context, arguments), Failure);
    }
  };
  {
    Program b;  // y has fewer elements than x, and is read in the loop over x
    ValueId x = b.param({DType::F32, {n}}), y = b.param({DType::F32, {m}});
    ValueId z = b.op("exp", {x});
    b.ops("check_dims", {},
          {{"left", n}, {"right", m}, {"relation", std::string("equal")}, {"message", std::string("sizes differ")}});
    ValueId same = b.op("slice", {y}, {{"starts", Dims{0}}, {"sizes", Dims{n}}, {"steps", Ints{1}}});
    FunctionPtr f = b.finish({z, b.op("add", {x, same})});
    check(f, {numbers(DType::F32, {40}), numbers(DType::F32, {40})});
    fails(f, {numbers(DType::F32, {4000000}), numbers(DType::F32, {1})});
  }
  {
    Program b;
    ValueId x = b.param({DType::F32, {n, m}}), start = b.param({DType::I64, {}}), like = b.param({DType::F32, {k}});
    b.ops("check_window", {start}, {{"size", k}, {"length", n}});
    FunctionPtr f =
        b.finish({b.op("window", {x, start}, {{"axis", int64_t{0}}, {"size", k}, {"batch", int64_t{0}}}), like});
    check(f, {numbers(DType::F32, {20, 3}), Array::scalar<int64_t>(2), numbers(DType::F32, {18})});
    fails(f, {numbers(DType::F32, {2, 1000}), Array::scalar<int64_t>(0), numbers(DType::F32, {100000})});
  }
  {
    Program b;  // nothing to read in any of the rows
    ValueId x = b.param({DType::F32, {n, m}}), index = b.param({DType::I32, {k}});
    b.ops("check_index", {index}, {{"size", m}, {"axis", int64_t{1}}, {"lanes", int64_t{1}}});
    FunctionPtr f = b.finish({b.op("gather", {x, index}, {{"axes", Ints{1}}, {"batch", int64_t{0}}})});
    fails(f, {numbers(DType::F32, {9, 0}), numbers(DType::I32, {5})});
  }
}

TEST_CASE("an argument that is used elsewhere is left as it was", "[codegen]") {
  Program b;
  Dim n = Dim::symbol("n");
  ValueId x = b.param({DType::F32, {n}});
  auto code = backend().compile(b.finish({b.op("add", {x, x})}), {1, 0});
  Array mine = numbers(DType::F32, {50}), before = Array(mine).owned();
  ReferenceContext context;
  std::vector<Array> out = code->run(context, {mine});
  CHECK(same_elements(mine, before));
  const float* memory = out[0].data<float>();
  std::vector<Array> given;
  given.push_back(std::move(out[0]));
  CHECK(code->run(context, std::move(given))[0].data<float>() == memory);  // the only owner gave it away
}

TEST_CASE("kernels stop soon after they are asked to", "[codegen]") {
  class Stopping final : public ReferenceContext {
   public:
    int left = 3;
    void poll() override {
      if (--left < 0) fail(Kind::Interrupt, {}, "interrupted");
    }
  };
  Program b;
  Dim n = Dim::symbol("n");
  ValueId x = b.param({DType::F32, {n}});
  ValueId y = b.op("tanh", {b.op("add", {b.op("exp", {x}), x})});
  FunctionPtr f = b.finish({y, b.op("sum", {b.op("sin", {y})}, {{"axes", Ints{0}}})});
  Array large = numbers(DType::F32, {3000000});
  for (const CompileOptions& options : all_options()) {
    auto code = backend().compile(f, options);
    Stopping context;
    CHECK_THROWS_AS(code->run(context, {large}), Failure);
    CHECK(context.left == -1);  // asked no more once it had said so
    context.left = 1 << 20;
    code->run(context, {large});
    CHECK((1 << 20) - context.left > 10);  // asked every now and then
  }
}

TEST_CASE("a fused kernel is vector code of the width asked for, without calls", "[codegen]") {
  Program b;
  Dim n = Dim::symbol("n");
  ValueId x = b.param({DType::F32, {n}});
  FunctionPtr f = b.finish({b.op("tanh", {b.op("add", {b.op("exp", {x}), x})})});
  std::string narrow = backend().compile(f, {1, 256})->dump("asm");
  CHECK(narrow.find("ymm") != std::string::npos);
  CHECK(narrow.find("zmm") == std::string::npos);
  CHECK(narrow.find("call") == std::string::npos);
  auto wide = backend().compile(f, {1, 512});
  std::string text = wide->dump("asm");
  CHECK(text.find("call") == std::string::npos);
  if (__builtin_cpu_supports("avx512f")) CHECK(text.find("zmm") != std::string::npos);
  CHECK(wide->dump("kernels").find("kernel 1") == std::string::npos);  // one kernel
  CHECK(wide->dump("llvm").find("<16 x float>") != std::string::npos);
}

}  // namespace tercet
