// Times of compiled code: compile time, nanoseconds per element. Usage: codegen_bench [threads] [simd bits]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <string>

#include "codegen/backend.h"
#include "interpreter/ops/rows.h"
#include "tests/support.h"

using namespace tercet;
using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Array filled(DType dtype, const Shape& shape) {
  Array a = Array::make(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>)
      for (int64_t i = 0; i < a.count(); ++i)
        a.data<T>()[i] = Compute<T>::store(static_cast<typename Compute<T>::type>(
            is_float(dtype) ? std::sin(static_cast<double>(i)) : static_cast<double>(i * 7919 % 1000)));
  });
  return a;
}

CompileOptions options;
std::string only, stage;

void bench(const std::string& name, const FunctionPtr& f, std::vector<Array> arguments) {
  if (!only.empty() && name.find(only) == std::string::npos) return;
  auto backend = make_llvm_backend();
  double t0 = now();
  auto code = backend->compile(f, options);
  double first = now() - t0;
  double warm = 1e9;  // processor time: others may be using the machine
  for (int i = 0; i < 5; ++i) {
    std::clock_t c0 = std::clock();
    backend->compile(f, options);
    warm = std::min(warm, static_cast<double>(std::clock() - c0) / CLOCKS_PER_SEC);
  }
  if (!stage.empty()) fmt::print("{}\n", code->dump(stage));
  test::ReferenceContext context;
  double best = 1e9, start = now();
  int runs = 0;
  while (runs < 5 || (now() - start < 0.3 && runs < 10000)) {
    t0 = now();
    auto out = code->run(context, arguments);
    best = std::min(best, now() - t0);
    ++runs;
  }
  double elements = static_cast<double>(arguments.empty() ? 1 : arguments[0].count());
  fmt::print("{:32} compile first {:7.2f} ms, warm {:7.2f} ms; run {:10.2f} us, {:7.3f} ns/element\n", name,
             first * 1e3, warm * 1e3, best * 1e6, best * 1e9 / elements);
}

/// What programs write as `name(operands)`.
struct B : Builder {
  explicit B(const char* name) : Builder(name) {}
  ValueId op(const char* name, std::vector<ValueId> in, Attrs attrs = {}) {
    return emit(*find_op(name), std::move(in), std::move(attrs));
  }
  ValueId number(float v) { return op("constant", {}, {{"value", Array::scalar(v)}}); }
  ValueId spread(ValueId v, const Dims& dims, Ints axes) {
    return op("broadcast", {v}, {{"dims", dims}, {"axes", std::move(axes)}});
  }
};

}  // namespace

int main(int argc, char** argv) {
  options.threads = argc > 1 ? std::stoi(argv[1]) : 1;
  options.simd_bits = argc > 2 ? std::stoi(argv[2]) : 0;
  if (argc > 3) only = argv[3];
  if (argc > 4) stage = argv[4];
  Dim n = Dim::symbol("n"), m = Dim::symbol("m"), k = Dim::symbol("k");
  {
    B b("tiny");
    ValueId x = b.param({DType::F32, {}});
    bench("scalar x*x+1", b.finish({b.op("add", {b.op("mul", {x, x}), b.number(1)})}), {Array::scalar(3.f)});
  }
  {
    B b("add");
    ValueId x = b.param({DType::F32, {n}}), y = b.param({DType::F32, {n}});
    auto f = b.finish({b.op("add", {x, y})});
    bench("add 1000", f, {filled(DType::F32, {1000}), filled(DType::F32, {1000})});
    bench("add 1e6", f, {filled(DType::F32, {1000000}), filled(DType::F32, {1000000})});
  }
  {
    B b("chain");
    ValueId x = b.param({DType::F32, {n}});
    bench("exp+tanh chain 1e6", b.finish({b.op("tanh", {b.op("add", {b.op("exp", {x}), x})})}),
          {filled(DType::F32, {1000000})});
  }
  for (auto shape : {Shape{1000, 1000}, Shape{100000, 10}, Shape{10, 100000}}) {
    B b("softmax");
    Dims dims{n, m};
    ValueId x = b.param({DType::F32, dims});
    ValueId top = b.op("max", {x}, {{"axes", Ints{1}}});
    ValueId e = b.op("exp", {b.op("sub", {x, b.spread(top, dims, {0})})});
    ValueId s = b.op("sum", {e}, {{"axes", Ints{1}}});
    bench("softmax " + to_string(shape), b.finish({b.op("div", {e, b.spread(s, dims, {0})})}),
          {filled(DType::F32, shape)});
  }
  for (auto shape : {Shape{1000, 1000}, Shape{1000000, 4}, Shape{4, 1000000}}) {
    for (int64_t axis : {0, 1}) {
      B b("sum");
      ValueId x = b.param({DType::F32, {n, m}});
      bench(fmt::format("sum axis {} of {}", axis, to_string(shape)),
            b.finish({b.op("sum", {x}, {{"axes", Ints{axis}}})}), {filled(DType::F32, shape)});
    }
  }
  {
    B b("sum");
    ValueId x = b.param({DType::F32, {n}});
    bench("sum of squares 1e6", b.finish({b.op("sum", {b.op("mul", {x, x})}, {{"axes", Ints{0}}})}),
          {filled(DType::F32, {1000000})});
  }
  {
    B b("argmax");
    ValueId x = b.param({DType::F32, {n, m}});
    bench("argmax axis 1", b.finish({b.op("argmax", {x}, {{"axes", Ints{1}}})}), {filled(DType::F32, {1000, 1000})});
  }
  {
    B b("transpose");
    ValueId x = b.param({DType::F32, {n, m}});
    bench("transpose 1000x1000", b.finish({b.op("transpose", {x}, {{"perm", Ints{1, 0}}})}),
          {filled(DType::F32, {1000, 1000})});
  }
  {
    B b("gather");
    ValueId x = b.param({DType::F32, {n}}), i = b.param({DType::I32, {m}});
    bench("gather 1e6 of 1000", b.finish({b.op("gather", {x, i}, {{"axes", Ints{0}}, {"batch", int64_t{0}}})}),
          {filled(DType::F32, {1000}), filled(DType::I32, {1000000})});
  }
  {
    B b("rows");
    ValueId x = b.param({DType::F32, {n, k}}), i = b.param({DType::I32, {m}});
    bench("gather rows 10000x100", b.finish({b.op("gather", {x, i}, {{"axes", Ints{0}}, {"batch", int64_t{0}}})}),
          {filled(DType::F32, {1000, 100}), filled(DType::I32, {10000})});
  }
  {
    B b("bincount");
    ValueId z = b.param({DType::I32, {n, k}}), v = b.param({DType::I32, {n, m}}), i = b.param({DType::I32, {n, m}});
    bench("bincount per row 1000x1000",
          b.finish(
              {b.op("scatter", {z, v, i}, {{"axes", Ints{1}}, {"batch", int64_t{1}}, {"mode", std::string("add")}})}),
          {Array::zeros(DType::I32, {1000, 1000}), filled(DType::I32, {1000, 1000}), filled(DType::I32, {1000, 1000})});
  }
  {
    B b("halves");
    ValueId x = b.param({DType::F16, {n}});
    bench("f16 x*x+x 1e6", b.finish({b.op("add", {b.op("mul", {x, x}), x})}), {filled(DType::F16, {1000000})});
  }
  {
    B b("division");
    ValueId x = b.param({DType::I32, {n}}), y = b.param({DType::I32, {n}});
    Array ones = filled(DType::I32, {1000000});
    bench("i32 floor_div 1e6", b.finish({b.op("floor_div", {x, y})}), {filled(DType::I32, {1000000}), ones});
  }
}
