// Properties that hold for every row of the operation table, made from its samples alone.
#include <catch2/catch.hpp>
#include <map>

#include "codegen/backend.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/pmap.h"
#include "interpreter/passes/batch.h"
#include "interpreter/runtime/ragged.h"
#include "tests/support.h"

namespace tercet {
namespace {

using test::ReferenceContext;
using test::same_elements;
using test::show;
using Dims = std::vector<Dim>;
using Arrays = std::vector<Array>;
using Flags = std::vector<bool>;

bool is_dense(const Sample& sample) {
  return std::none_of(sample.operands.begin(), sample.operands.end(), [](const Array& a) { return a.ragged != nullptr; });
}

bool names_sizes(const Sample& sample) {
  bool any = false;
  for (auto& [name, attr] : sample.attrs.items()) if (name != "defines") for_each_dim(attr, [&](const Dim&) { any = true; });
  return any;
}

/// The function of one op. With `symbols` every size of an operand has a name; equal sizes share one.
FunctionPtr one_op(const OpDef& def, const Sample& sample, bool symbols) {
  Builder b(def.name);
  std::map<int64_t, Dim> names;
  std::vector<ValueId> inputs;
  for (const Array& a : sample.operands) {
    Dims dims;
    for (int64_t s : a.shape) dims.push_back(s == ragged_axis ? Dim::ragged() : symbols ? names.try_emplace(s, Dim::symbol(fmt::format("n{}", s))).first->second : Dim(s));
    inputs.push_back(b.param({a.dtype, dims}));
  }
  return b.finish(b.emit_many(def, inputs, sample.attrs));
}

Array copy_of(const Array& a) {
  Array out = a;
  return std::move(out).owned();
}
Arrays copies_of(const Arrays& all) {
  Arrays out;
  for (const Array& a : all) out.push_back(copy_of(a));
  return out;
}

Arrays run(const Function& f, Arrays arguments) {
  ReferenceContext context;
  return evaluate(f, context, std::move(arguments));
}

/// Keys of other words, which are used on their own.
Array other_keys(const Array& a, int64_t lane) {
  Array words = words_of(a);
  for (int64_t i = 0; i < words.count(); ++i) words.data<uint64_t>()[i] += static_cast<uint64_t>(lane);
  return fresh_keys(words);
}

/// Rows of row_ops.cpp, whose operands of i64 are offsets.
bool takes_offsets(const OpDef& def) {
  std::string_view name = def.name;
  return name.ends_with("_rows") || name == "row_ids";
}

/// The operand as lane `lane` has it: the same elements in another order, so that indices stay in range.
Array variant(const OpDef& def, const Array& a, int64_t lane) {
  if (takes_offsets(def) && a.dtype == DType::I64) return copy_of(a);   // in another order they are no offsets
  if (a.dtype == DType::Key && lane) return other_keys(a, lane);
  Array out = Array::make(a.dtype, a.shape);
  out.owners = a.owners;
  int64_t n = a.count();
  visit_dtype(a.dtype, [&]<class T>() {
    for (int64_t i = 0; i < n; ++i) out.data<T>()[i] = a.data<T>()[(i + 7 * lane) % n];
    if constexpr (std::is_arithmetic_v<T>) {
      if (a.rank() == 0 && lane) {
        T v = *a.data<T>();
        if constexpr (std::is_same_v<T, bool>) *out.data<T>() = v != (def.effect == Effect::Pure && lane % 2 == 1);
        else if constexpr (std::is_floating_point_v<T>) *out.data<T>() = v + static_cast<T>(lane);
        else if (v >= static_cast<T>(lane)) *out.data<T>() = static_cast<T>(v - static_cast<T>(lane));
      }
    }
  });
  return out;
}

Array stacked(const Arrays& rows, const Array& like) {
  Shape shape = like.shape;
  shape.insert(0, static_cast<int64_t>(rows.size()));
  Array out = Array::make(like.dtype, shape);
  for (size_t i = 0; i < rows.size(); ++i) {
    auto bytes = static_cast<size_t>(rows[i].bytes());
    if (bytes) std::memcpy(static_cast<void*>(out.raw() + i * bytes), rows[i].raw(), bytes);
    out.owners.insert(out.owners.end(), rows[i].owners.begin(), rows[i].owners.end());
  }
  return out;
}

/// All ways to map some operands.
std::vector<Flags> masks(size_t operands) {
  std::vector<Flags> out;
  for (unsigned bits = 1; bits < 1u << operands; ++bits) {
    Flags m;
    for (size_t i = 0; i < operands; ++i) m.push_back(bits >> i & 1);
    out.push_back(m);
  }
  return out;
}

/// Contractions may sum in another order under vmap (language.md section 10).
double tolerance(const OpDef& def, DType dtype) {
  if (std::string_view(def.name) != "dot" || !is_float(dtype)) return 0;
  return dtype == DType::F64 ? 1e-12 : dtype == DType::F32 ? 1e-4 : dtype == DType::F16 ? 2e-2 : 2e-1;
}

struct Batched {
  FunctionPtr function;
  Arrays arguments, expected;
};

/// The batched function for a mask with its arguments, and what the lanes give one by one; nullopt where vmap says that
/// it does not do this.
std::optional<Batched> batched(const OpDef& def, const Sample& sample, const Flags& mask, int64_t lanes, const Dim& size) {
  FunctionPtr f = one_op(def, sample, false);
  Batched out;
  try {
    BatchedFunction b = batch_function(*f, mask, size, true);
    for (bool mapped : b.mapped) REQUIRE(mapped);
    out.function = b.function;
  } catch (const Failure& failure) {
    INFO(failure.what());
    REQUIRE(failure.diagnostics()[0].kind == Kind::Unsupported);
    REQUIRE_FALSE(std::holds_alternative<BatchElementwise>(def.batch));
    return std::nullopt;
  }
  for (size_t i = 0; i < mask.size(); ++i) {
    Arrays rows;
    for (int64_t lane = 0; lane < lanes; ++lane) rows.push_back(variant(def, sample.operands[i], lane));
    out.arguments.push_back(mask[i] ? stacked(rows, sample.operands[i]) : copy_of(sample.operands[i]));
  }
  std::vector<Arrays> results;
  for (int64_t lane = 0; lane < std::max<int64_t>(lanes, 1); ++lane) {
    Arrays one;
    for (size_t i = 0; i < mask.size(); ++i) one.push_back(mask[i] ? variant(def, sample.operands[i], lane) : copy_of(sample.operands[i]));
    results.push_back(run(*f, one));
  }
  for (size_t r = 0; r < results[0].size(); ++r) {
    Arrays rows;
    for (int64_t lane = 0; lane < lanes; ++lane) rows.push_back(results[static_cast<size_t>(lane)][r]);
    for (const Array& row : rows)
      if (!(row.shape == rows[0].shape)) return std::nullopt;   // a size that depends on values
    out.expected.push_back(stacked(rows, results[0][r]));
  }
  return out;
}

void require_same(const OpDef& def, const Function& f, const Arrays& arguments, const Arrays& got, const Arrays& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t r = 0; r < got.size(); ++r) {
    bool same = same_elements(got[r], expected[r], tolerance(def, got[r].dtype));
    if (!same) {
      UNSCOPED_INFO(print(f) << "got      " << show(got[r]) << "\nexpected " << show(expected[r]));
      for (const Array& a : arguments) UNSCOPED_INFO("argument " << show(a));
    }
    REQUIRE(same);
  }
}

/// Few samples that still have every operand dtype kind and shape: at most `count`, spread over the list.
std::vector<Sample> spread(const OpDef& def, size_t count) {
  std::vector<Sample> all, out;
  for (Sample& s : def.samples()) {
    int64_t most = 0;
    for (const Array& a : s.operands) most = std::max(most, a.ragged ? 0 : a.count());
    if (is_dense(s) && most <= 300) all.push_back(std::move(s));
  }
  for (size_t i = 0; i < std::min(count, all.size()); ++i) out.push_back(all[i * all.size() / std::min(count, all.size())]);
  return out;
}

template <class F> void for_each_row(F f) {
  for (const OpDef* def : op_table())
    if (def->samples) DYNAMIC_SECTION(def->name) { f(*def); }
}

}  // namespace

TEST_CASE("types inferred for symbolic sizes are those of the results", "[property]") {
  for_each_row([](const OpDef& def) {
    for (const Sample& sample : def.samples()) {
      for (bool symbols : {false, true}) {
        if (symbols && names_sizes(sample)) continue;
        FunctionPtr f = one_op(def, sample, symbols);
        verify(*f);
        ReferenceContext context;
        Arrays results = evaluate(*f, context, copies_of(sample.operands));
        for (size_t r = 0; r < results.size(); ++r) {
          const Type& type = f->type(f->results[r]);
          INFO(print(*f) << "gave " << show(results[r]));
          REQUIRE(results[r].dtype == type.dtype);
          REQUIRE(results[r].rank() == type.rank());
          for (size_t k = 0; k < type.dims.size(); ++k)
            if (!type.dims[k].is_ragged()) REQUIRE(type.dims[k].eval(context.dims) == results[r].shape[k]);
        }
      }
    }
  });
}

TEST_CASE("operands that are held elsewhere are left as they were", "[property]") {
  for_each_row([](const OpDef& def) {
    for (const Sample& sample : def.samples()) {
      if (!is_dense(sample)) continue;
      FunctionPtr f = one_op(def, sample, false);
      Arrays held = copies_of(sample.operands), before = copies_of(sample.operands);
      Arrays shared = run(*f, held), owned = run(*f, copies_of(sample.operands));
      for (size_t i = 0; i < held.size(); ++i) {
        INFO("operand " << i << ": " << show(before[i]));
        REQUIRE(same_elements(held[i], before[i]));
      }
      require_same(def, *f, before, shared, owned);
    }
  });
}

TEST_CASE("batched is looped, for every choice of mapped operands", "[property][batch]") {
  for_each_row([](const OpDef& def) {
    for (const Sample& sample : spread(def, 40))
      for (const Flags& mask : masks(sample.operands.size()))
        for (int64_t lanes : {0, 1, 3}) {
          auto b = batched(def, sample, mask, lanes, Dim::symbol("lanes"));
          if (b) require_same(def, *b->function, b->arguments, run(*b->function, copies_of(b->arguments)), b->expected);
        }
  });
}

namespace {

bool can_batch(const Function& f, const Flags& mask) {
  try {
    batch_function(f, mask, Dim(2), true);
    return true;
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace

TEST_CASE("over 1, 2, 3 and 4 devices every row gives what it gives on each alone", "[property][devices]") {
  for_each_row([](const OpDef& def) {
    for (const Sample& sample : spread(def, 8)) {
      if (sample.attrs.has("over")) continue;   // there it is not alone
      const FunctionPtr f = one_op(def, sample, false);
      for (const Flags& mask : masks(sample.operands.size()))
        for (int64_t n = 1; n <= 4; ++n) {
          // Rows that no vmap reaches have operands that belong together: every device gets the same ones.
          auto own_variant = [&](size_t i, int64_t r) { return can_batch(*f, mask) ? variant(def, sample.operands[i], r) : copy_of(sample.operands[i]); };
          bool shares_keys = false;   // they are used once
          for (size_t i = 0; i < mask.size(); ++i) shares_keys |= !mask[i] && sample.operands[i].dtype == DType::Key;
          if (shares_keys) continue;
          Builder b("devices");
          std::vector<ValueId> inputs;
          Arrays arguments;
          PmapAttrs attrs{Dim(n), std::nullopt, Dim(n), 0, 0, std::vector<int64_t>(f->results.size(), 0)};
          Builder body("device");
          std::vector<ValueId> params(mask.size());
          for (bool dealt : {true, false})   // what is dealt out comes first
            for (size_t i = 0; i < mask.size(); ++i) {
              if (mask[i] != dealt) continue;
              Arrays rows;
              for (int64_t r = 0; r < n; ++r) rows.push_back(own_variant(i, r));
              arguments.push_back(dealt ? stacked(rows, sample.operands[i]) : copy_of(sample.operands[i]));
              Dims dims(arguments.back().shape.begin(), arguments.back().shape.end());
              inputs.push_back(b.param({arguments.back().dtype, dims}));
              params[i] = body.param(f->type(f->params[i]));
              attrs.consumed += dealt;
            }
          FunctionPtr inside = body.finish(inline_function(body, *f, params));
          FunctionPtr all = b.finish(emit_pmap(b, inside, inputs, attrs, {}));
          Arrays results = run(*all, copies_of(arguments));
          for (int64_t r = 0; r < n; ++r) {
            Arrays own;
            for (size_t i = 0; i < mask.size(); ++i) own.push_back(mask[i] ? own_variant(i, r) : copy_of(sample.operands[i]));
            Arrays expected = run(*f, own);
            for (size_t k = 0; k < expected.size(); ++k) {
              INFO(def.name << ", device " << r << " of " << n << ": " << show(row_of(results[k], r)) << " against " << show(expected[k]));
              REQUIRE(same_elements(row_of(results[k], r), expected[k]));
            }
          }
        }
    }
  });
}

TEST_CASE("batched twice is looped twice", "[property][batch]") {
  constexpr int64_t outer_lanes = 2, inner_lanes = 3;
  for_each_row([&](const OpDef& def) {
    for (const Sample& sample : spread(def, 12)) {
      std::vector<Flags> all = masks(sample.operands.size());
      for (size_t m = 0; m < all.size(); ++m) {
        const Flags &inner = all[m], &outer = all[(m + 1) % all.size()];
        FunctionPtr f = one_op(def, sample, false), g;
        try {
          g = batch_function(*f, inner, Dim::symbol("inner"), true).function;
          g = batch_function(*g, outer, Dim::symbol("outer"), true).function;
        } catch (const Failure& failure) {
          REQUIRE(failure.diagnostics()[0].kind == Kind::Unsupported);
          continue;
        }
        auto lane_of = [&](size_t i, int64_t o, int64_t k) { return (outer[i] ? 3 * o : 0) + (inner[i] ? k : 0); };
        Arrays arguments;
        for (size_t i = 0; i < inner.size(); ++i) {
          Arrays outers;
          for (int64_t o = 0; o < outer_lanes; ++o) {
            Arrays inners;
            for (int64_t k = 0; k < inner_lanes; ++k) inners.push_back(variant(def, sample.operands[i], lane_of(i, o, k)));
            outers.push_back(inner[i] ? stacked(inners, sample.operands[i]) : inners[0]);
          }
          arguments.push_back(outer[i] ? stacked(outers, outers[0]) : outers[0]);
        }
        std::vector<Arrays> rows(f->results.size());
        for (size_t r = 0; r < rows.size(); ++r) {
          Arrays outers;
          for (int64_t o = 0; o < outer_lanes; ++o) {
            Arrays inners;
            for (int64_t k = 0; k < inner_lanes; ++k) {
              Arrays one;
              for (size_t i = 0; i < inner.size(); ++i) one.push_back(variant(def, sample.operands[i], lane_of(i, o, k)));
              inners.push_back(run(*f, one)[r]);
            }
            outers.push_back(stacked(inners, inners[0]));
          }
          rows[r] = {stacked(outers, outers[0])};
        }
        Arrays expected;
        for (Arrays& r : rows) expected.push_back(r[0]);
        require_same(def, *g, arguments, run(*g, copies_of(arguments)), expected);
      }
    }
  });
}

TEST_CASE("compiled batches equal the reference, at both widths and on one and two threads", "[property][batch][codegen]") {
  static std::unique_ptr<Backend> backend = make_llvm_backend();
  for_each_row([&](const OpDef& def) {
    // Everything about one row in one function: compiling is the slow part.
    Builder all("all");
    std::vector<ValueId> results;
    Arrays arguments;
    Dim lanes = Dim::symbol("lanes");
    for (const Sample& sample : spread(def, 6))
      for (const Flags& mask : masks(sample.operands.size())) {
        auto b = batched(def, sample, mask, 5, lanes);
        if (!b) continue;
        std::vector<ValueId> params;
        for (const Type& t : b->function->param_types()) params.push_back(all.param(t));
        for (ValueId v : inline_function(all, *b->function, params)) results.push_back(v);
        arguments.insert(arguments.end(), b->arguments.begin(), b->arguments.end());
      }
    if (results.empty()) return;
    FunctionPtr f = all.finish(results);
    Arrays expected = run(*f, copies_of(arguments));
    for (const CompileOptions& options : {CompileOptions{1, 512, 0, false, Optimize::Always}, CompileOptions{2, 512, 0, false, Optimize::Never}, CompileOptions{1, 256, 0, false, Optimize::Never}, CompileOptions{2, 256, 0, false, Optimize::Always}}) {
      ReferenceContext context;
      Arrays got = backend->compile(f, options)->run(context, copies_of(arguments));
      REQUIRE(got.size() == expected.size());
      for (size_t r = 0; r < got.size(); ++r) {
        INFO("result " << r << " at " << options.simd_bits << " bits, " << options.threads << " threads\ncompiled:  " << show(got[r])
                       << "\nreference: " << show(expected[r]));
        REQUIRE(same_elements(got[r], expected[r]));
      }
    }
  });
}

TEST_CASE("the sign of a NaN shows in no result", "[property]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const OpDef* def : op_table()) {
    if (!std::holds_alternative<BatchElementwise>(def->batch) || !def->samples || def->samples().empty()) continue;
    DYNAMIC_SECTION(def->name) {
      size_t operands = def->samples()[0].operands.size();
      bool floats = false;
      for (const Sample& s : def->samples()) floats |= s.attrs.items().empty() && !s.operands.empty() && s.operands.back().dtype == DType::F32 && s.operands[0].dtype == DType::F32;
      if (!floats) continue;
      for (size_t which = 0; which < operands; ++which) {
        auto with = [&](float value) {
          Arrays in(operands, Array::scalar(2.5f));
          in[which] = Array::scalar(value);
          return in;
        };
        Sample sample{with(nan), {}};
        FunctionPtr f = one_op(*def, sample, false);
        INFO("operand " << which);
        REQUIRE(same_elements(run(*f, with(nan))[0], run(*f, with(-nan))[0]));
      }
    }
  }
}

}  // namespace tercet
