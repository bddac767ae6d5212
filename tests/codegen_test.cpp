// Compiled code against the reference: every row's samples and composed programs must give the same bits at both vector
// widths and on one and two threads.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "codegen/backend.h"
#include "interpreter/engine/evaluate.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

/// Evaluates by reference, keeps what is printed, throws what is reported.
class TestContext final : public EvalContext {
 public:
  std::string printed;
  std::vector<Array> run_body(const Function& body, std::vector<Array> arguments) override {
    return evaluate(body, *this, std::move(arguments));
  }
  std::vector<Array> call(const Op& op, std::vector<Array> arguments) override {
    TestContext own;
    std::vector<Array> out = evaluate(*op.bodies[0], own, std::move(arguments));
    printed += own.printed;
    return out;
  }
  void report(Diagnostic d, LaneIndex lane) override {
    for (int64_t i : lane) d.row.push_back(i);
    throw Failure(std::move(d));
  }
  void print(std::string text, LaneIndex) override { printed += text + "\n"; }
  void begin_region() override {}
  void end_region() override {}
  void push_lane(int64_t) override {}
  void pop_lane() override {}
  void poll() override {}
};

/// Equal bits, but that all NaNs are one value.
bool same_elements(const Array& a, const Array& b) {
  if (a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  return visit_dtype(a.dtype, [&]<class T>() -> bool {
    for (int64_t i = 0, n = a.count(); i < n; ++i) {
      const T &x = a.data<T>()[i], &y = b.data<T>()[i];
      if constexpr (std::is_same_v<T, StringRef>) {
        if (x.view() != y.view()) return false;
      } else if constexpr (std::is_same_v<T, KeyBits>) {
        if (x.high != y.high || x.low != y.low) return false;
      } else {
        auto p = Compute<T>::load(x), q = Compute<T>::load(y);
        if (std::memcmp(&x, &y, sizeof(T)) != 0 && !(is_nan(p) && is_nan(q))) return false;
      }
    }
    return true;
  });
}

std::string show(const Array& a) {
  std::string out = std::string(name_of(a.dtype)) + to_string(a.shape);
  if (a.dtype <= DType::F64)
    for (int64_t i = 0; i < std::min<int64_t>(a.count(), 40); ++i) {
      Array flat = a.reshaped({a.count()}).row(i);
      out += is_float(a.dtype) ? fmt::format(" {}", flat.as_double()) : fmt::format(" {}", flat.as_int());
    }
  return out;
}

std::vector<CompileOptions> all_options() { return {{1, 512}, {2, 512}, {1, 256}, {2, 256}}; }

Backend& backend() {
  static std::unique_ptr<Backend> b = make_llvm_backend();
  return *b;
}

/// Runs f both ways on copies of the arguments; returns the reference's results.
std::vector<Array> check(const FunctionPtr& f, const std::vector<Array>& arguments) {
  auto copies = [&] {
    std::vector<Array> out;
    for (Array a : arguments) out.push_back(std::move(a).owned());
    return out;
  };
  TestContext reference;
  std::vector<Array> expected = evaluate(*f, reference, copies());
  for (const CompileOptions& options : all_options()) {
    std::shared_ptr<const Executable> code = backend().compile(f, options);
    TestContext context;
    std::vector<Array> results = code->run(context, copies());
    REQUIRE(results.size() == expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      bool same = same_elements(results[i], expected[i]);
      if (!same) {
        UNSCOPED_INFO("program:\n" << print(*f) << "result " << i << " at " << options.simd_bits << " bits, " << options.threads
                                   << " threads\ncompiled:  " << show(results[i]) << "\nreference: " << show(expected[i])
                                   << "\n" << code->dump("kernels"));
        for (const Array& a : arguments) UNSCOPED_INFO("argument " << show(a));
      }
      REQUIRE(same);
    }
    REQUIRE(context.printed == reference.printed);
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

/// The function of one op whose operands are parameters. Attributes keep constant sizes where they must agree with them.
FunctionPtr one_op(const OpDef& def, const Sample& sample, bool symbols) {
  Builder b(def.name);
  std::map<int64_t, Dim> known;
  std::vector<ValueId> inputs;
  for (const Array& a : sample.operands) {
    Dims dims = symbols ? symbolic(a.shape, known) : Dims{};
    if (!symbols) for (int64_t s : a.shape) dims.emplace_back(s);
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
  for (const OpDef* def : op_table()) {
    if (!def->samples) continue;
    DYNAMIC_SECTION(def->name) {
      for (const Sample& sample : def->samples()) {
        check(one_op(*def, sample, false), sample.operands);
        if (!names_sizes(sample) && !sample.operands.empty()) check(one_op(*def, sample, true), sample.operands);
      }
    }
  }
}

}  // namespace tercet
