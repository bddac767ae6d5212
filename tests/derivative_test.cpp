// Derivatives of every row, from its samples: against finite differences in f64, once and twice; batched against looped;
// compiled against reference. The operands' floats are replaced by numbers at which the function is smooth.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "codegen/backend.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/passes/batch.h"
#include "interpreter/passes/reverse.h"
#include "tests/support.h"

namespace tercet {
namespace {

using test::ReferenceContext;
using test::same_elements;
using test::show;
using Arrays = std::vector<Array>;
using Flags = std::vector<bool>;
using Dims = std::vector<Dim>;

Arrays copies_of(const Arrays& all) {
  Arrays out;
  for (Array a : all) out.push_back(std::move(a).owned());
  return out;
}
Arrays run(const Function& f, const Arrays& arguments) {
  ReferenceContext context;
  return evaluate(f, context, copies_of(arguments));
}

/// Distinct numbers between low and high, in no order.
Array numbers(const Shape& shape, double low, double high, unsigned seed) {
  Array out = Array::make(DType::F64, shape);
  int64_t n = out.count();
  std::vector<double> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(low + (high - low) * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
  std::shuffle(all.begin(), all.end(), std::mt19937(seed));
  std::copy(all.begin(), all.end(), out.data<double>());
  return out;
}

/// The op on f64 operands. Symbols: every size of an operand has a name.
FunctionPtr one_op(const OpDef& def, const Arrays& operands, const Attrs& attrs, bool symbols) {
  Builder b(def.name);
  std::map<int64_t, Dim> names;
  std::vector<ValueId> inputs;
  for (const Array& a : operands) {
    Dims dims;
    for (int64_t s : a.shape) dims.push_back(symbols ? names.try_emplace(s, Dim::symbol(fmt::format("n{}", s))).first->second : Dim(s));
    inputs.push_back(b.param({a.dtype, dims}));
  }
  return b.finish(b.emit_many(def, inputs, attrs));
}

Flags floats(const std::vector<Type>& types) {
  Flags out;
  for (const Type& t : types) out.push_back(is_float(t.dtype));
  return out;
}

/// (x…, cotangents of float results…) -> cotangents of float parameters.
FunctionPtr backward(const Function& f) {
  Flags active = floats(f.param_types());
  return ReverseMode::pull_back(f, {active, floats(f.result_types()), Flags(active.size(), false), false, {}, {}}).function;
}

double inner(const Array& a, const Array& b) {
  double out = 0;
  for (int64_t i = 0; i < a.count(); ++i) out += a.data<double>()[i] * b.data<double>()[i];
  return out;
}

Array shifted(const Array& x, const Array& direction, double step) {
  Array out = Array::make(DType::F64, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) out.data<double>()[i] = x.data<double>()[i] + step * direction.data<double>()[i];
  return out;
}

bool all_finite(const Arrays& all) {
  for (const Array& a : all)
    if (a.dtype == DType::F64)
      for (int64_t i = 0; i < a.count(); ++i)
        if (!std::isfinite(a.data<double>()[i])) return false;
  return true;
}

/// <c, J t> by differences of f, and <J' c, t> by its backward step, for random c and t.
void check_differences(const Function& f, const Arrays& x, unsigned seed, double tolerance) {
  Arrays tangents, up, down, arguments = x, y = run(f, x);
  for (size_t i = 0; i < x.size(); ++i) {
    bool moves = x[i].dtype == DType::F64;
    tangents.push_back(moves ? numbers(x[i].shape, -1, 1, seed + static_cast<unsigned>(i)) : x[i]);
    up.push_back(moves ? shifted(x[i], tangents[i], 1e-6) : x[i]);
    down.push_back(moves ? shifted(x[i], tangents[i], -1e-6) : x[i]);
  }
  Arrays high = run(f, up), low = run(f, down);
  double by_difference = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i].dtype != DType::F64) continue;
    Array c = numbers(y[i].shape, 0.2, 1, seed + 77 + static_cast<unsigned>(i));
    by_difference += (inner(c, high[i]) - inner(c, low[i])) / 2e-6;
    arguments.push_back(c);
  }
  Arrays gradients = run(*backward(f), arguments);
  double by_rule = 0;
  for (size_t i = 0, at = 0; i < x.size(); ++i)
    if (x[i].dtype == DType::F64) by_rule += inner(gradients[at++], tangents[i]);
  INFO(print(*backward(f)));
  REQUIRE(by_rule == Approx(by_difference).epsilon(tolerance).margin(tolerance));
}

/// The sample's operands with other floats, at which the result is finite; nothing when there is none.
std::optional<Arrays> smooth_operands(const OpDef& def, const Sample& sample) {
  for (auto [low, high] : {std::pair{0.1, 0.9}, {1.1, 1.9}, {-0.9, -0.1}}) {
    Arrays x;
    for (size_t i = 0; i < sample.operands.size(); ++i) {
      const Array& a = sample.operands[i];
      // Two operands differ by more than a step everywhere, so that maximum and such have no kink there.
      x.push_back(a.dtype == DType::F64 ? numbers(a.shape, low, high + 0.001 * static_cast<double>(i), 5 + static_cast<unsigned>(i)) : a);
    }
    if (all_finite(run(*one_op(def, x, sample.attrs, false), x))) return x;
  }
  return std::nullopt;
}

bool has_floats(const Sample& sample, DType dtype) {
  return std::any_of(sample.operands.begin(), sample.operands.end(), [&](const Array& a) { return a.dtype == dtype; });
}

/// Samples of one float dtype as f64, each shape once.
std::vector<Sample> float_samples(const OpDef& def) {
  std::vector<Sample> out;
  bool wide = false;
  std::vector<Sample> all = def.samples();
  for (const Sample& s : all) wide |= has_floats(s, DType::F64);
  for (Sample s : all) {
    if (!has_floats(s, DType::F64) && (wide || !has_floats(s, DType::F32))) continue;
    bool other = false;
    for (Array& a : s.operands) {
      if (a.dtype == DType::F32) a = numbers(a.shape, 0.1, 0.9, 3);
      other |= is_float(a.dtype) && a.dtype != DType::F64;
    }
    auto same = [&](const Sample& o) {
      if (s.attrs.items().size() && !(o.operands.size() == s.operands.size())) return false;
      for (size_t i = 0; i < s.operands.size(); ++i)
        if (!(o.operands[i].shape == s.operands[i].shape)) return false;
      return s.attrs.items().empty();
    };
    bool small = std::all_of(s.operands.begin(), s.operands.end(), [](const Array& a) { return a.count() <= 400; });
    const Attr* to = s.attrs.find("dtype");
    other |= to && std::get<DType>(*to) != DType::F64;
    if (!other && small && std::none_of(out.begin(), out.end(), same)) out.push_back(std::move(s));
  }
  return out;
}

bool is_differentiable(const OpDef& def) { return !std::holds_alternative<NotDifferentiable>(def.diff); }

template <class F> void each_float_sample(F f) {
  for (const OpDef* def : op_table()) {
    if (!def->samples || !is_differentiable(*def)) continue;
    DYNAMIC_SECTION(def->name) {
      for (const Sample& sample : float_samples(*def))
        if (std::optional<Arrays> x = smooth_operands(*def, sample)) f(*def, sample, *x);
    }
  }
}

bool names_sizes(const Sample& sample) {
  bool any = false;
  for (auto& [name, attr] : sample.attrs.items()) for_each_dim(attr, [&](const Dim&) { any = true; });
  return any;
}

}  // namespace

TEST_CASE("no row's derivative is missing", "[derivative]") {
  for (const OpDef* def : op_table()) {
    INFO(def->name);
    REQUIRE_FALSE(std::holds_alternative<NotYet>(def->diff));
  }
}

TEST_CASE("every differentiable row has samples in floats", "[derivative]") {
  int tried = 0;
  for (const OpDef* def : op_table()) {
    if (!def->samples || !is_differentiable(*def)) continue;
    INFO(def->name);
    bool any = false;
    for (const Sample& s : float_samples(*def)) any |= smooth_operands(*def, s).has_value();
    REQUIRE(any);
    ++tried;
  }
  REQUIRE(tried > 60);
}

TEST_CASE("derivatives equal finite differences", "[derivative]") {
  each_float_sample([](const OpDef& def, const Sample& sample, const Arrays& x) {
    check_differences(*one_op(def, x, sample.attrs, false), x, 11, 2e-6);
    check_differences(*one_op(def, x, sample.attrs, false), x, 23, 2e-6);
  });
}

TEST_CASE("second derivatives equal finite differences of the first", "[derivative]") {
  each_float_sample([](const OpDef& def, const Sample& sample, const Arrays& x) {
    FunctionPtr f = one_op(def, x, sample.attrs, false), first = backward(*f);
    Arrays y = run(*f, x), arguments = x;
    for (size_t i = 0; i < y.size(); ++i)
      if (y[i].dtype == DType::F64) arguments.push_back(numbers(y[i].shape, 0.2, 1, 41 + static_cast<unsigned>(i)));
    check_differences(*first, arguments, 31, 1e-5);
  });
}

TEST_CASE("the backward step of a batch is the batch of backward steps", "[derivative]") {
  each_float_sample([](const OpDef& def, const Sample& sample, const Arrays& x) {
    FunctionPtr first = backward(*one_op(def, x, sample.attrs, false));
    std::vector<Type> types = first->param_types();
    Flags mapped;
    for (const Type& t : types) mapped.push_back(is_float(t.dtype));
    BatchedFunction batched;
    try {
      batched = batch_function(*first, mapped, Dim(3), true);
    } catch (const LaneDependentSize&) {
      return;   // operands of a vmap already
    }
    std::vector<Arrays> lanes(3);
    Arrays all;
    for (size_t i = 0; i < types.size(); ++i) {
      Shape shape;
      for (const Dim& d : types[i].dims) shape.push_back(*d.constant());
      if (!mapped[i]) {
        for (Arrays& lane : lanes) lane.push_back(x[i]);
        all.push_back(x[i]);
        continue;
      }
      Shape whole = shape;
      whole.insert(0, 3);
      Array joined = numbers(whole, i < x.size() && x[i].count() && x[i].data<double>()[0] > 1 ? 1.1 : 0.1, i < x.size() && x[i].count() && x[i].data<double>()[0] > 1 ? 1.9 : 0.9, 9 + static_cast<unsigned>(i));
      for (int64_t lane = 0; lane < 3; ++lane) lanes[static_cast<size_t>(lane)].push_back(joined.row(lane));
      all.push_back(joined);
    }
    Arrays together = run(*batched.function, all);
    for (int64_t lane = 0; lane < 3; ++lane) {
      Arrays one = run(*first, lanes[static_cast<size_t>(lane)]);
      for (size_t r = 0; r < one.size(); ++r) {
        INFO(print(*first) << show(together[r].row(lane)) << "\n" << show(one[r]));
        REQUIRE(same_elements(Array(together[r].row(lane)).owned(), one[r], 1e-12));
      }
    }
  });
}

TEST_CASE("compiled backward steps equal the reference", "[derivative][codegen]") {
  std::unique_ptr<Backend> backend = make_llvm_backend("");
  each_float_sample([&](const OpDef& def, const Sample& sample, const Arrays& x) {
    FunctionPtr f = one_op(def, x, sample.attrs, !names_sizes(sample)), first = backward(*f);
    Arrays arguments = x, y = run(*f, x);
    for (size_t i = 0; i < y.size(); ++i)
      if (y[i].dtype == DType::F64) arguments.push_back(numbers(y[i].shape, -1, 1, 41 + static_cast<unsigned>(i)));
    Arrays expected = run(*first, arguments);
    ReferenceContext context;
    Arrays results = backend->compile(first, {2, 256})->run(context, copies_of(arguments));
    for (size_t r = 0; r < expected.size(); ++r) {
      INFO(print(*first) << show(results[r]) << "\n" << show(expected[r]));
      REQUIRE(same_elements(results[r], expected[r]));
    }
  });
}

}  // namespace tercet
