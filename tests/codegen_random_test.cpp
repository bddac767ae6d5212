// Random programs: compiled code must equal the reference bit for bit (all NaNs being one value), at both vector widths
// and on one and two threads. TERCET_PROGRAMS sets how many; TERCET_SEED where they start.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "codegen/backend.h"
#include "interpreter/ops/rows.h"
#include "tests/support.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

/// Builds one program: parameters of a few shapes, then operations on values drawn at random.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed), b_("random") {
    for (const char* name : {"n", "m"}) symbols_.push_back(Dim::symbol(name));
    sizes_ = {pick<int64_t>({0, 1, 2, 3, 15, 16, 17, 33, 70, 260}), pick<int64_t>({1, 2, 5, 16, 31, 48, 130})};
    for (int i = 0; i < 3; ++i) parameter(i == 0);
    for (int i = 0, n = between(3, 14); i < n; ++i) step();
  }
  FunctionPtr finish() {
    std::vector<ValueId> results;
    for (int i = 0, n = between(1, 3); i < n; ++i)
      results.push_back(values_[values_.size() - 1 - static_cast<size_t>(between(0, 2))]);
    return b_.finish(results);
  }
  std::vector<Array> arguments;

 private:
  int between(int a, int b) { return std::uniform_int_distribution<int>(a, b)(random_); }
  template <class T>
  T pick(std::vector<T> of) {
    return of[static_cast<size_t>(between(0, static_cast<int>(of.size()) - 1))];
  }
  ValueId any() { return values_[static_cast<size_t>(between(0, static_cast<int>(values_.size()) - 1))]; }
  const Type& type(ValueId v) { return b_.type(v); }
  ValueId op(const char* name, std::vector<ValueId> in, Attrs attrs = {}) {
    return b_.emit(*find_op(name), std::move(in), std::move(attrs));
  }
  void keep(ValueId v) { values_.push_back(v); }

  /// The first one gives both sizes their values.
  void parameter(bool first) {
    DType dtype = pick<DType>(
        {DType::F32, DType::F32, DType::F64, DType::I32, DType::F16, DType::BF16, DType::U8, DType::I64, DType::Bool});
    Type t{dtype,
           pick<Dims>({{symbols_[0]}, {symbols_[0], symbols_[1]}, {symbols_[1], symbols_[0]}, {symbols_[1]}, {}})};
    if (first) t.dims = symbols_;
    Shape shape;
    for (const Dim& d : t.dims) shape.push_back(d == symbols_[0] ? sizes_[0] : sizes_[1]);
    keep(b_.param(t));
    arguments.push_back(random_array(dtype, shape));
  }
  Array random_array(DType dtype, const Shape& shape) {
    Array a = Array::make(dtype, shape);
    visit_dtype(dtype, [&]<class T>() {
      if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>) {
        std::vector<double> special{0,        -0.0,      1,   -1,  0.5, 1e30, -1e-30, std::nan(""),
                                    HUGE_VAL, -HUGE_VAL, 255, 256, -129};
        for (int64_t i = 0; i < a.count(); ++i) {
          double v = between(0, 9) == 0 ? pick(special) : std::uniform_real_distribution<double>(-20, 20)(random_);
          a.data<T>()[i] = Compute<T>::store(cast<typename Compute<T>::type>(v));
        }
      }
    });
    return a;
  }

  /// A value with the same type as v: v itself, another one that there is, or one cast and spread to it.
  ValueId like(ValueId v) {
    for (int tries = 0; tries < 6; ++tries) {
      ValueId w = any();
      if (!(type(w).dims == type(v).dims)) {
        if (!type(w).dims.empty()) continue;
        w = op("broadcast", {w}, {{"dims", type(v).dims}, {"axes", Ints{}}});
      }
      if (type(w).dtype != type(v).dtype) w = op("cast", {w}, {{"dtype", type(v).dtype}});
      return w;
    }
    return v;
  }
  void step() {
    ValueId v = any();
    switch (between(0, 9)) {
      case 0:
        return views(v);
      case 1:
        return reduction(v);
      case 2:
        return keep(op("cast", {v},
                       {{"dtype", pick<DType>({DType::F32, DType::I32, DType::F16, DType::F64, DType::I8, DType::U16,
                                               DType::Bool})}}));
      case 3:
        return indexing(v);
      default:
        return elementwise(v);
    }
  }
  void elementwise(ValueId v) {
    static const std::vector<const OpDef*> rows = [] {
      std::vector<const OpDef*> out;
      for (const OpDef* d : op_table())
        if (std::holds_alternative<CodeElementwise>(d->code) && d->samples && d->name != std::string("cast") &&
            d->name != std::string("select"))
          out.push_back(d);
      return out;
    }();
    for (int tries = 0; tries < 20; ++tries) {
      const OpDef* row = pick(rows);
      if (auto arity = arity_for(*row, type(v).dtype)) {
        std::vector<ValueId> in{v};
        while (in.size() < arity) in.push_back(like(v));
        ValueId out = b_.emit(*row, in);
        if (type(out).dtype == DType::Bool && between(0, 1)) {
          ValueId other = like(v);
          out = op("select", {out, other, v});
        }
        return keep(out);
      }
    }
  }
  /// Operands of the row when it takes this dtype (its samples tell), else 0.
  size_t arity_for(const OpDef& row, DType dtype) {
    static std::map<std::pair<const OpDef*, DType>, size_t> known;
    if (known.empty())
      for (const OpDef* d : op_table())
        if (std::holds_alternative<CodeElementwise>(d->code) && d->samples)
          for (const Sample& s : d->samples())
            if (!s.operands.empty() && s.attrs.items().empty()) {
              bool same = true;
              for (const Array& a : s.operands) same &= a.dtype == s.operands[0].dtype;
              if (same) known[{d, s.operands[0].dtype}] = s.operands.size();
            }
    auto at = known.find({&row, dtype});
    return at == known.end() ? 0 : at->second;
  }
  void views(ValueId v) {
    const Dims dims = type(v).dims;
    switch (between(0, 3)) {
      case 0: {
        if (dims.size() < 2) return;
        Ints perm;
        for (size_t k = dims.size(); k-- > 0;) perm.push_back(static_cast<int64_t>(k));
        return keep(op("transpose", {v}, {{"perm", perm}}));
      }
      case 1: {
        if (dims.size() != 1) return;
        Dim other = symbols_[dims[0] == symbols_[0]];
        bool front = between(0, 1);
        return keep(
            op("broadcast", {v},
               {{"dims", front ? Dims{other, dims[0]} : Dims{dims[0], other}}, {"axes", front ? Ints{1} : Ints{0}}}));
      }
      case 2: {
        if (dims.empty()) return;
        Dims starts, sizes;
        Ints steps;
        for (const Dim& d : dims) {
          bool back = between(0, 1);
          starts.push_back(back ? d - 1 : Dim(0));
          sizes.push_back(d);
          steps.push_back(back ? -1 : 1);
        }
        return keep(op("slice", {v}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}}));
      }
      default: {
        if (dims.size() != 2) return;
        ValueId flat = op("reshape", {v}, {{"dims", Dims{dims[0] * dims[1]}}});
        return keep(op("reshape", {flat}, {{"dims", Dims{dims[1], dims[0]}}}));
      }
    }
  }
  void reduction(ValueId v) {
    const Dims dims = type(v).dims;
    if (dims.empty()) return;
    bool logical = type(v).dtype == DType::Bool;
    const char* kind = logical ? pick<const char*>({"any", "all"})
                               : pick<const char*>({"sum", "prod", "max", "min", "argmax", "argmin"});
    Ints axes = dims.size() == 1 ? Ints{0} : pick<Ints>({{0}, {1}, {0, 1}});
    keep(op(kind, {v}, {{"axes", axes}}));
  }
  void indexing(ValueId v) {
    const Dims dims = type(v).dims;
    ValueId i = any();
    if (dims.empty() || !is_int(type(i).dtype)) return;
    int64_t axis = between(0, static_cast<int>(dims.size()) - 1);
    if (sizes_[0] == 0) return;  // reading an empty array is for checks to prevent
    keep(op("gather", {v, i}, {{"axes", Ints{axis}}, {"batch", int64_t{0}}}));
    if (type(values_.back()).dims.size() > 2) values_.pop_back();
  }

  std::mt19937_64 random_;
  Builder b_;
  std::vector<Dim> symbols_;
  std::vector<int64_t> sizes_;
  std::vector<ValueId> values_;
};

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("random programs give the reference's bits when compiled", "[codegen][random]") {
  std::unique_ptr<Backend> backend = make_llvm_backend();
  const uint64_t first = setting("TERCET_SEED", 1), count = setting("TERCET_PROGRAMS", 300);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RandomProgram program(seed);
    FunctionPtr f = program.finish();
    auto copies = [&] {
      std::vector<Array> out;
      for (Array a : program.arguments) out.push_back(std::move(a).owned());
      return out;
    };
    test::ReferenceContext reference;
    std::vector<Array> expected = evaluate(*f, reference, copies());
    const CompileOptions options{seed % 3 == 0 ? 2 : 1, seed % 2 ? 512 : 256, seed % 5 < 2 ? 32 : 0, false, seed / 6 % 2 ? Optimize::Always : Optimize::Auto};
    test::ReferenceContext context;
    auto code = backend->compile(f, options);
    std::vector<Array> results = code->run(context, copies());
    for (size_t i = 0; i < results.size(); ++i) {
      if (!test::same_elements(results[i], expected[i])) {
        UNSCOPED_INFO("seed " << seed << ", result " << i << ", " << options.simd_bits << " bits\n"
                              << print(*f) << code->dump("kernels"));
        FAIL("compiled and reference results differ");
      }
    }
  }
  SUCCEED();
}

}  // namespace tercet
