// Times one library's matrix products, for bench/libraries.py. Usage: bench_libraries KIND [FILE]
//
// KIND is tercet (our product, linked in) or says how the shared library FILE is called, which is opened when the program runs, so
// that nothing is needed to build it: cblas (OpenBLAS, BLIS, MKL), cblas64 (the OpenBLAS in NumPy's packages), onednn (version 3:
// the matmul primitive, made before anything is timed), xsmm (version 1: small products and batches of them by its JIT kernels, side by
// side; larger ones it leaves to BLAS). Commands on standard input, an answer in JSON each on standard output:
//   products      [{"name", "dtype", "batch", "m", "k", "n", "fits"}, …]; fits: the library has it
//   run I NS      {"ns": x, "cpu": z, "sum": y}: product I over and over for some NS nanoseconds: the fastest run, the processor time of a
//                 run on average, in nanoseconds, and the sum of the elements
#include <dlfcn.h>
#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/contract.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::bench {
namespace {

struct Product {
  const char* name;
  DType dtype;
  ContractSizes s;   // a_transposed, b_transposed: the operand lies in memory as its transpose
};

constexpr Product products[] = {
    {"64", DType::F32, {1, 64, 64, 64}},
    {"256", DType::F32, {1, 256, 256, 256}},
    {"1024", DType::F32, {1, 1024, 1024, 1024}},
    {"2048", DType::F32, {1, 2048, 2048, 2048}},
    {"256 times 64", DType::F32, {256, 64, 64, 64}},
    {"4096 x 128 times 128 x 64", DType::F32, {1, 4096, 128, 64}},
    {"1024 x 1000 times 1000 x 20", DType::F32, {1, 1024, 1000, 20}},
    {"the transpose of 1024 x 1000 times 1024 x 20", DType::F32, {1, 1000, 1024, 20, true, false}},
    {"100 x 128 times the transpose of 10000 x 128", DType::F32, {1, 100, 128, 10000, false, true}},
    {"256 x 784 times 784 x 512", DType::F32, {1, 256, 784, 512}},
    {"4096 x 4096 times a vector", DType::F32, {1, 4096, 4096, 1}},
    {"64", DType::F64, {1, 64, 64, 64}},
    {"256", DType::F64, {1, 256, 256, 256}},
    {"1024", DType::F64, {1, 1024, 1024, 1024}},
    {"2048", DType::F64, {1, 2048, 2048, 2048}},
    {"256 times 64", DType::F64, {256, 64, 64, 64}},
    {"4096 x 4096 times a vector", DType::F64, {1, 4096, 4096, 1}},
    {"1024", DType::BF16, {1, 1024, 1024, 1024}},
    {"1024", DType::F16, {1, 1024, 1024, 1024}},
};

/// Operands and result of one product.
struct Operands {
  std::vector<std::byte> a, b, c;
  explicit Operands(const Product& p) {
    fill(p, p.s.batch * p.s.m * p.s.k, 1, a);
    fill(p, p.s.batch * p.s.k * p.s.n, 2, b);
    c.resize(static_cast<size_t>(p.s.batch * p.s.m * p.s.n) * size_of(p.dtype) + 64);
  }
  static void fill(const Product& p, int64_t count, uint32_t seed, std::vector<std::byte>& out) {
    out.resize(static_cast<size_t>(count) * size_of(p.dtype) + 64);
    visit_dtype(p.dtype, [&]<class T>() {
      if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>)
        for (int64_t i = 0; i < count; ++i) {
          seed = seed * 1664525 + 1013904223;
          reinterpret_cast<T*>(out.data())[i] = Compute<T>::store(static_cast<typename Compute<T>::type>(static_cast<double>(seed >> 8) * 0x1p-23 - 1));
        }
    });
  }
};

/// A product as a library does it: prepare() makes what it may make once and returns the call that is timed; none: not its work.
using Call = std::function<void()>;
class Library {
 public:
  virtual ~Library() = default;
  virtual Call prepare(const Product& p, Operands& o) = 0;
};

class SharedLibrary : public Library {
 protected:
  explicit SharedLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw std::runtime_error(dlerror());
  }
  template <class F> F* function(const char* name) const {
    void* found = dlsym(handle_, name);
    if (!found) throw std::runtime_error(fmt::format("no function {}", name));
    return reinterpret_cast<F*>(found);
  }

 private:
  void* handle_;
};

class Tercet final : public Library {
 public:
  Call prepare(const Product& p, Operands& o) override {
    return [&] { contract(p.dtype, p.s, false, o.a.data(), o.b.data(), o.c.data()); };
  }
};

/// BLAS by its C interface, whose integers are Int.
template <class Int> class Cblas final : public SharedLibrary {
 public:
  Cblas(const char* file, const char* prefix, const char* suffix) : SharedLibrary(file) {
    auto name = [&](const char* middle) { return fmt::format("{}cblas_{}{}", prefix, middle, suffix); };
    f32_ = {function<Gemm<float>>(name("sgemm").c_str()), function<Gemv<float>>(name("sgemv").c_str())};
    f64_ = {function<Gemm<double>>(name("dgemm").c_str()), function<Gemv<double>>(name("dgemv").c_str())};
  }
  Call prepare(const Product& p, Operands& o) override {
    if (p.dtype == DType::F32) return call<float>(f32_, p.s, o);
    if (p.dtype == DType::F64) return call<double>(f64_, p.s, o);
    return nullptr;
  }

 private:
  template <class T> using Gemm = void(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
  template <class T> using Gemv = void(int, int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
  template <class T> struct Functions {
    Gemm<T>* gemm;
    Gemv<T>* gemv;
  };
  static constexpr int by_rows = 101, plain = 111, transposed = 112;

  template <class T> static Call call(Functions<T> f, ContractSizes s, Operands& o) {
    return [f, s, &o] {
      const Int m = static_cast<Int>(s.m), n = static_cast<Int>(s.n), k = static_cast<Int>(s.k);
      auto *a = reinterpret_cast<const T*>(o.a.data()), *b = reinterpret_cast<const T*>(o.b.data());
      auto* c = reinterpret_cast<T*>(o.c.data());
      if (n == 1) return f.gemv(by_rows, plain, m, k, T(1), a, k, b, 1, T(0), c, 1);
      for (int64_t i = 0; i < s.batch; ++i)
        f.gemm(by_rows, s.a_transposed ? transposed : plain, s.b_transposed ? transposed : plain, m, n, k, T(1), a + i * s.m * s.k,
               s.a_transposed ? m : k, b + i * s.k * s.n, s.b_transposed ? k : n, T(0), c + i * s.m * s.n, n);
    };
  }
  Functions<float> f32_;
  Functions<double> f64_;
};

/// oneDNN 3 by its C interface; constants are those of dnnl_types.h.
class OneDnn final : public SharedLibrary {
 public:
  explicit OneDnn(const char* file) : SharedLibrary(file) {
    check(function<int(Handle*, int, size_t)>("dnnl_engine_create")(&engine_, cpu, 0));
    check(function<int(Handle*, Handle, unsigned)>("dnnl_stream_create")(&stream_, engine_, in_order));
  }
  Call prepare(const Product& p, Operands& o) override {
    const int type = p.dtype == DType::F16 ? 1 : p.dtype == DType::BF16 ? 2 : p.dtype == DType::F32 ? 3 : 0;
    if (type == 0) return nullptr;
    const ContractSizes& s = p.s;
    Handle a = described(type, s.batch, s.m, s.k, s.a_transposed), b = described(type, s.batch, s.k, s.n, s.b_transposed),
           c = described(type, s.batch, s.m, s.n, false), plan = nullptr, primitive = nullptr;
    if (function<int(Handle*, Handle, Handle, Handle, Handle, Handle, Handle)>("dnnl_matmul_primitive_desc_create")(
            &plan, engine_, a, b, nullptr, c, nullptr) != 0)
      return nullptr;
    check(function<int(Handle*, Handle)>("dnnl_primitive_create")(&primitive, plan));
    struct Argument {
      int which;
      Handle memory;
    };
    std::vector<Argument> arguments = {{source, memory(a, o.a)}, {weights, memory(b, o.b)}, {destination, memory(c, o.c)}};
    auto* execute = function<int(Handle, Handle, int, const Argument*)>("dnnl_primitive_execute");
    auto* wait = function<int(Handle)>("dnnl_stream_wait");
    return [this, primitive, arguments, execute, wait] {
      check(execute(primitive, stream_, 3, arguments.data()));
      check(wait(stream_));
    };
  }

 private:
  using Handle = void*;
  static constexpr int cpu = 1, in_order = 1, source = 1, destination = 17, weights = 33;
  static void check(int status) {
    if (status != 0) throw std::runtime_error(fmt::format("oneDNN: status {}", status));
  }
  Handle described(int type, int64_t batch, int64_t rows, int64_t columns, bool turned) const {
    const int64_t sizes[] = {batch, rows, columns}, strides[] = {rows * columns, turned ? 1 : columns, turned ? rows : 1};
    const int skip = batch == 1;
    Handle out = nullptr;
    check(function<int(Handle*, int, const int64_t*, int, const int64_t*)>("dnnl_memory_desc_create_with_strides")(
        &out, 3 - skip, sizes + skip, type, strides + skip));
    return out;
  }
  Handle memory(Handle description, std::vector<std::byte>& bytes) const {
    Handle out = nullptr;
    check(function<int(Handle*, Handle, Handle, void*)>("dnnl_memory_create")(&out, description, engine_, bytes.data()));
    return out;
  }
  Handle engine_ = nullptr, stream_ = nullptr;
};

/// libxsmm 1: matrices lie by columns there, so that a and b change places.
class Xsmm final : public SharedLibrary {
 public:
  explicit Xsmm(const char* file) : SharedLibrary(file) {}
  Call prepare(const Product& p, Operands& o) override {
    if (p.s.a_transposed || p.s.b_transposed || p.s.n == 1) return nullptr;
    if (p.dtype == DType::F32) return call<float>("libxsmm_smmdispatch", p.s, o);
    if (p.dtype == DType::F64) return call<double>("libxsmm_dmmdispatch", p.s, o);
    return nullptr;
  }

 private:
  template <class T> Call call(const char* dispatch, ContractSizes s, Operands& o) const {
    using Kernel = void(const T*, const T*, T*, ...);
    const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
    const T zero = 0;
    auto *a = reinterpret_cast<const T*>(o.a.data()), *b = reinterpret_cast<const T*>(o.b.data());
    auto* c = reinterpret_cast<T*>(o.c.data());
    if (m <= 64 && n <= 64 && k <= 128) {
      auto* kernel = function<Kernel*(int, int, int, const int*, const int*, const int*, const T*, const T*, const int*, const int*)>(dispatch)(
          n, m, k, nullptr, nullptr, nullptr, nullptr, &zero, nullptr, nullptr);
      if (!kernel) return nullptr;
      return [=] {
        parallel_chunks(s.batch, 8, [=](int64_t, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) kernel(b + i * s.k * s.n, a + i * s.m * s.k, c + i * s.m * s.n);
        });
      };
    }
    return nullptr;
  }
};

std::unique_ptr<Library> library_of(const std::string& kind, const char* file) {
  if (kind == "tercet") return std::make_unique<Tercet>();
  if (!file) throw std::runtime_error("which file?");
  if (kind == "cblas") return std::make_unique<Cblas<int>>(file, "", "");
  if (kind == "cblas64") return std::make_unique<Cblas<int64_t>>(file, "scipy_", "64_");
  if (kind == "onednn") return std::make_unique<OneDnn>(file);
  if (kind == "xsmm") return std::make_unique<Xsmm>(file);
  throw std::runtime_error("unknown kind of library " + kind);
}

double nanoseconds(int64_t calls, const Call& call) {
  auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(calls);
}

/// Of all threads of this process, in nanoseconds.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Runs of some 5 microseconds at least, so that the clock does not count.
std::string run(Library& library, const Product& p, double budget) {
  Operands operands(p);
  Call call = library.prepare(p, operands);
  double best = nanoseconds(1, call);
  for (int i = 0; i < 9 && best < 1e6; ++i) best = std::min(best, nanoseconds(1, call));
  const int64_t calls = std::max<int64_t>(1, static_cast<int64_t>(5e3 / best));
  int64_t runs = 0;
  const double begin = processor_time();
  for (double spent = 0; spent < budget; ++runs) {
    double ns = nanoseconds(calls, call);
    best = std::min(best, ns);
    spent += ns * static_cast<double>(calls);
  }
  const double processor = (processor_time() - begin) / static_cast<double>(runs * calls);
  double sum = 0;
  visit_dtype(p.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>)
      for (int64_t i = 0; i < p.s.batch * p.s.m * p.s.n; ++i)
        sum += std::abs(static_cast<double>(Compute<T>::load(reinterpret_cast<T*>(operands.c.data())[i])));
  });
  return fmt::format(R"({{"ns": {:.1f}, "cpu": {:.1f}, "sum": {}}})", best, processor, sum);
}

std::string listed(Library& library) {
  std::string out;
  for (const Product& p : products) {
    Operands operands(p);
    out += fmt::format(R"({}{{"name": "{}", "dtype": "{}", "batch": {}, "m": {}, "k": {}, "n": {}, "fits": {}}})", out.empty() ? "" : ", ", p.name,
                       name_of(p.dtype), p.s.batch, p.s.m, p.s.k, p.s.n, library.prepare(p, operands) != nullptr);
  }
  return "[" + out + "]";
}

int serve(int argc, char** argv) {
  if (argc < 2) throw std::runtime_error("usage: bench_libraries KIND [FILE]");
  std::unique_ptr<Library> library = library_of(argv[1], argc > 2 ? argv[2] : nullptr);
  std::string command;
  while (std::cin >> command) {
    if (command == "products") {
      std::cout << listed(*library) << std::endl;
    } else if (command == "run") {
      size_t which = 0;
      double budget = 0;
      std::cin >> which >> budget;
      std::cout << run(*library, std::span(products)[which], budget) << std::endl;
    } else {
      throw std::runtime_error("unknown command " + command);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tercet::bench

int main(int argc, char** argv) {
  try {
    return tercet::bench::serve(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_libraries: {}\n", e.what());
    return 1;
  }
}
