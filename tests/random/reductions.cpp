// Expressions that combine elements: reductions, running folds, products, orderings, counts.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace tercet::random_programs {
namespace {

/// A numeric dtype whose sum, cast, gives t's dtype.
bool keeps(DType t) { return is_float(t); }

}  // namespace

Code Generator::reduction(const Ty& t, Scope& s, int depth) {
  // Which axes vanish (or stay as size 1).
  Ty from{t.dtype, t.shape};
  std::string options;
  std::vector<size_t> ones;
  for (size_t k = 0; k < t.shape.size(); ++k)
    if (t.shape[k] == 1) ones.push_back(k);
  if (t.rank() == 0 && rng.chance(60)) {
    from = any_type();
    if (from.rank() == 0) from.shape = {any_size()};
  } else if (!ones.empty() && rng.chance(60)) {
    size_t k = rng.pick(ones);
    from.shape[k] = any_size();
    options = fmt::format(", axis={}, keepdims=true", k);
  } else {
    if (t.rank() >= 3) return nullptr;
    int k = rng.below(t.rank() + 1);
    from.shape.insert(from.shape.begin() + k, any_size());
    if (from.rank() < 3 && rng.chance(20)) {
      int j = rng.below(k + 1);
      from.shape.insert(from.shape.begin() + j, any_size());
      options = fmt::format(", axis=({}, {})", j, k + 1);
    } else {
      options = fmt::format(", axis={}", rng.chance(30) ? k - from.rank() : k);
    }
  }
  if (from.count() > 2000 && !long_size) return nullptr;
  auto call = [&](const char* f, DType in, bool cast) {
    from.dtype = in;
    Code e = code(t, std::string(f) + "($" + options + ")", {expr(from, s, depth - 1)});
    return cast ? code(t, std::string(name_of(t.dtype)) + "($)", {e}) : e;
  };
  if (t.dtype == DType::Bool) return call(rng.pick({"any", "all"}), DType::Bool, false);
  bool empty = false;
  for (int n : from.shape) empty |= n == 0;
  if (!empty && rng.chance(50)) {
    if (is_int(t.dtype) && rng.chance(30)) {
      DType in = any_dtype();
      return call(rng.pick({"argmax", "argmin"}), in == DType::Bool ? DType::F32 : in, true);
    }
    return call(rng.pick({"max", "min"}), t.dtype, false);
  }
  if (is_int(t.dtype) && options.find("keepdims") == std::string::npos && rng.chance(15)) return call("count", any_dtype(), true);
  return call(rng.chance(75) ? "sum" : "prod", t.dtype, !keeps(t.dtype));
}

Code Generator::cumulative(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0 || t.dtype == DType::Bool) return nullptr;
  Code e = code(t, fmt::format("{}($, axis={})", rng.pick({"cumsum", "cumsum", "cumprod", "cummax", "cummin"}), rng.below(t.rank())), {expr(t, s, depth - 1)});
  return is_int(t.dtype) ? code(t, std::string(name_of(t.dtype)) + "($)", {e}) : e;
}

Code Generator::statistics(const Ty& t, Scope& s, int depth) {
  if (!is_float(t.dtype)) return nullptr;
  if (t.rank() >= 1 && rng.chance(60)) {
    const char* f = rng.pick({"softmax", "log_softmax", "relu", "gelu", "silu", "square"});
    return code(t, std::string(f) + "($)", {expr(t, s, depth - 1)});
  }
  if (t.rank() >= 3) return nullptr;
  Ty from = t;
  int k = rng.below(t.rank() + 1);
  from.shape.insert(from.shape.begin() + k, any_size());
  const char* f = rng.pick({"mean", "var", "std", "norm", "logsumexp"});
  return code(t, fmt::format("{}($, axis={})", f, k), {expr(from, s, depth - 1)});
}

Code Generator::contraction(const Ty& t, Scope& s, int depth) {
  if (t.dtype == DType::Bool || t.rank() > 2) return nullptr;
  uses_contraction = true;
  int k = any_size();
  Ty a{t.dtype, {}}, b{t.dtype, {}};
  if (t.rank() == 0) a.shape = b.shape = {k};
  else if (t.rank() == 1 && rng.chance(50)) a.shape = {t.shape[0], k}, b.shape = {k};
  else if (t.rank() == 1) a.shape = {k}, b.shape = {k, t.shape[0]};
  else a.shape = {t.shape[0], k}, b.shape = {k, t.shape[1]};
  if (t.rank() == 2 && rng.chance(25)) return code(t, "outer($, $)", {expr({t.dtype, {t.shape[0]}}, s, depth - 1), expr({t.dtype, {t.shape[1]}}, s, depth - 1)});
  return code(t, "($ @ $)", {expr(a, s, depth - 1), expr(b, s, depth - 1)});
}

Code Generator::ordering(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0) return nullptr;
  std::string axis = fmt::format(", axis={}{}", rng.below(t.rank()), rng.chance(30) ? ", descending=true" : "");
  if (is_int(t.dtype) && rng.chance(50)) return code(t, std::string(name_of(t.dtype)) + "(argsort($" + axis + "))", {expr({any_dtype(), t.shape}, s, depth - 1)});
  if (t.rank() == 1 && rng.chance(40)) {
    Ty from{t.dtype, {t.shape[0] + rng.below(4)}};
    return code(t, fmt::format("top_k($, {})[0]", size(t.shape[0], s)), {expr(from, s, depth - 1)});
  }
  return code(t, "sort($" + axis + ")", {expr(t, s, depth - 1)});
}

Code Generator::counting(const Ty& t, Scope& s, int depth) {
  if (t.dtype == DType::Bool || t.rank() == 0) return nullptr;
  std::string name = name_of(t.dtype);
  if (t.rank() == 2 && t.dtype == DType::F32 && rng.chance(50))
    return t.shape[1] == 0 ? nullptr : code(t, fmt::format("one_hot(abs($) % {}, {})", t.shape[1], size(t.shape[1], s)), {expr({DType::I32, {t.shape[0]}}, s, depth - 1)});
  if (t.rank() != 1 || t.shape[0] == 0) return nullptr;
  int m = any_size();
  Code ids = index_below(t.shape[0], {m}, s, depth);
  if (ids->form.find(" - ") != std::string::npos) return nullptr;   // negative ids are errors
  if (is_float(t.dtype) && rng.chance(70)) return code(t, fmt::format("bincount($, weights=$, length={})", size(t.shape[0], s)), {ids, expr({t.dtype, {m}}, s, depth - 1)});
  return code(t, fmt::format("{}(bincount($, length={}{}))", name, size(t.shape[0], s), rng.chance(20) ? ", mode=\"drop\"" : ""), {ids});
}

/// Sizes that depend on values: reduced at once.
Code Generator::masked(const Ty& t, Scope& s, int depth) {
  if (lanes || t.rank() != 0 || t.dtype == DType::Bool) return nullptr;
  int n = any_size();
  Ty from{t.dtype, {n}};
  Code x = expr(from, s, depth - 1), m = expr({DType::Bool, {n}}, s, depth - 1);
  std::string name = name_of(t.dtype);
  if (rng.chance(30)) return code(t, name + "(len(nonzero($)))", {x});
  if (rng.chance(30)) return code(t, name + "(sum(cumsum($[$])))", {x, m});
  return code(t, name + "(sum($[$]))", {x, m});
}

}  // namespace tercet::random_programs
