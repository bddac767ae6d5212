// Expressions that pick, cut, join, rearrange and make arrays.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace tercet::random_programs {
namespace {

/// "[:, :, what]" with `what` at axis k; "..., what" at the last one sometimes.
std::string at_axis(int k, const std::string& what) {
  std::string out = "[";
  for (int i = 0; i < k; ++i) out += ":, ";
  return out + what + "]";
}

}  // namespace

Code Generator::indexed(const Ty& t, Scope& s, int depth) {
  if (t.rank() >= 3) return nullptr;
  int n = std::max(1, any_size()), k = rng.below(t.rank() + 1);
  Ty from = t;
  from.shape.insert(from.shape.begin() + k, n);
  if (from.count() > 1000) return nullptr;
  Code x = expr(from, s, depth - 1);
  if (t.rank() == 1 && rng.chance(25)) {   // two at once
    int m = std::max(1, any_size());
    Ty cube{t.dtype, {n, m, t.shape[0]}};
    return code(t, "$[$, $]", {expr(cube, s, depth - 1), index_below(n, {}, s, depth), index_below(m, {}, s, depth)});
  }
  if (rng.chance(40)) return code(t, "$" + at_axis(k, std::to_string(rng.between(-n, n - 1))), {x});
  if (k == t.rank() && k > 0 && rng.chance(50)) return code(t, "$[..., $]", {x, index_below(n, {}, s, depth)});
  return code(t, "$" + at_axis(k, "$"), {x, index_below(n, {}, s, depth)});
}

Code Generator::sliced(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0) return nullptr;
  int k = rng.below(t.rank()), m = t.shape[static_cast<size_t>(k)];
  Ty from = t;
  int before = rng.below(3), after = rng.below(3);
  int& n = from.shape[static_cast<size_t>(k)];
  std::string cut;
  switch (rng.below(5)) {
    case 0: n = m + before + after; cut = fmt::format("{}:{}", before, before + m); break;
    case 1: n = m + after; cut = after ? fmt::format(":-{}", after) : ":"; break;
    case 2: cut = "::-1"; break;
    case 3: n = m ? 2 * m - rng.below(2) : 0; cut = "::2"; break;
    default: n = m + before; cut = before && rng.chance(50) ? fmt::format("-{}:", m) : fmt::format("{}:", before); if (m == 0) cut = fmt::format("{}:", before); break;
  }
  return code(t, "$" + at_axis(k, cut), {expr(from, s, depth - 1)});
}

Code Generator::window(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0) return nullptr;
  int k = rng.below(t.rank()), m = t.shape[static_cast<size_t>(k)];
  Ty from = t;
  int extra = rng.below(4);
  from.shape[static_cast<size_t>(k)] = m + extra;
  // The start is a name: the window form repeats it.
  std::string start = fresh("w");
  Code i = index_below(extra + 1, {}, s, depth);
  if (i->form.find(" - ") != std::string::npos) return nullptr;
  if (rng.chance(3)) i = expr({DType::I32, {}}, s, depth - 1);
  return code(t, "{ let " + start + " = $\n$" + at_axis(k, fmt::format("{} : {} + {}", start, start, size(m, s))) + " }", {i, expr(from, s, depth - 1)});
}

Code Generator::gathered(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0) return nullptr;
  int taken_axes = rng.between(1, std::min(2, t.rank()));
  int n = std::max(1, any_size());
  Ty from{t.dtype, {n}};
  std::vector<int> index(t.shape.begin(), t.shape.begin() + taken_axes);
  from.shape.insert(from.shape.end(), t.shape.begin() + taken_axes, t.shape.end());
  if (from.rank() <= 2 && rng.chance(25)) {   // x[i, j]
    int m = std::max(1, any_size());
    from.shape.insert(from.shape.begin() + 1, m);
    return code(t, "$[$, $]", {expr(from, s, depth - 1), index_below(n, index, s, depth), index_below(m, index, s, depth)});
  }
  if (t.rank() >= 2 && taken_axes == 1 && rng.chance(40)) {   // along the last axis
    Ty wide = t;
    wide.shape.back() = n;
    return code(t, "$" + at_axis(t.rank() - 1, "$"), {expr(wide, s, depth - 1), index_below(n, {t.shape.back()}, s, depth)});
  }
  return code(t, "$[$]", {expr(from, s, depth - 1), index_below(n, index, s, depth)});
}

Code Generator::taken(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0 || t.dtype == DType::Bool) return nullptr;
  int k = rng.below(t.rank());
  Ty from = t;
  from.shape[static_cast<size_t>(k)] = std::max(1, any_size());
  Ty index{rng.pick({DType::I32, DType::I64, DType::I8, DType::U8, DType::I16}), {t.shape[static_cast<size_t>(k)]}};
  const char* mode = rng.pick({"clip", "wrap", "fill"});
  return code(t, fmt::format("take($, $, axis={}, mode=\"{}\")", k, mode), {expr(from, s, depth - 1), expr(index, s, depth - 1)});
}

Code Generator::updated(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0 || t.dtype == DType::Bool || t.shape[0] == 0) return nullptr;
  int m = any_size();
  Ty value = t;
  value.shape[0] = m;
  const char* op = rng.pick({"add", "set", "min", "max", "mul"});
  if (rng.chance(50)) return code(t, fmt::format("put($, $, $, op=\"{}\")", op), {expr(t, s, depth - 1), index_below(t.shape[0], {m}, s, depth), expr(value, s, depth - 1)});
  return code(t, fmt::format("put($, $, $, mode=\"drop\", op=\"{}\")", op), {expr(t, s, depth - 1), expr({DType::I32, {m}}, s, depth - 1), expr(value, s, depth - 1)});
}

Code Generator::joined(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0) return nullptr;
  int k = rng.below(t.rank()), m = t.shape[static_cast<size_t>(k)];
  if (m >= 2 && m <= 4 && rng.chance(40)) {
    Ty part = t;
    part.shape.erase(part.shape.begin() + k);
    std::vector<Code> parts;
    std::string form = "stack(($";
    for (int i = 0; i < m; ++i) {
      parts.push_back(expr(part, s, depth - 1));
      if (i) form += ", $";
    }
    return code(t, form + fmt::format("), axis={})", k), parts);
  }
  int cut = rng.below(m + 1);
  Ty a = t, b = t;
  a.shape[static_cast<size_t>(k)] = cut;
  b.shape[static_cast<size_t>(k)] = m - cut;
  return code(t, fmt::format("concat(($, $), axis={})", k), {expr(a, s, depth - 1), expr(b, s, depth - 1)});
}

Code Generator::rearranged(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0) return nullptr;
  Ty from = t;
  switch (rng.below(8)) {
    case 0:
    case 1: {   // transpose with a permutation
      std::vector<int> perm;
      for (int k = 0; k < t.rank(); ++k) perm.insert(perm.begin() + rng.below(k + 1), k);
      for (int k = 0; k < t.rank(); ++k) from.shape[static_cast<size_t>(perm[static_cast<size_t>(k)])] = t.shape[static_cast<size_t>(k)];
      return code(t, "transpose($, axes=" + shape_text(perm) + ")", {expr(from, s, depth - 1)});
    }
    case 2: {
      if (t.rank() < 2) return nullptr;
      std::swap(from.shape[0], from.shape[1]);
      return code(t, "swapaxes($, 0, 1)", {expr(from, s, depth - 1)});
    }
    case 3: {   // reshape: everything in one row, or two axes merged
      if (t.count() > 400) return nullptr;
      from.shape = {static_cast<int>(t.count())};
      if (rng.chance(50) && t.count() % 2 == 0 && t.count()) from.shape = {2, static_cast<int>(t.count()) / 2};
      return code(t, "reshape($, " + shape(t.shape, s) + ")", {expr(from, s, depth - 1)});
    }
    case 4: return code(t, fmt::format("flip($, axis={})", rng.below(t.rank())), {expr(t, s, depth - 1)});
    case 5: {
      int k = rng.below(t.rank());
      if (t.shape[static_cast<size_t>(k)] != 1) return nullptr;
      from.shape.erase(from.shape.begin() + k);
      if (rng.chance(40)) return code(t, "$" + at_axis(k, "none"), {expr(from, s, depth - 1)});
      return code(t, fmt::format("expand_dims($, {})", k), {expr(from, s, depth - 1)});
    }
    case 6: {
      for (int& n : from.shape) if (rng.chance(40)) n = 1;
      int drop = rng.below(t.rank() + 1);
      from.shape.erase(from.shape.begin(), from.shape.begin() + drop);
      return code(t, "broadcast_to($, " + shape(t.shape, s) + ")", {expr(from, s, depth - 1)});
    }
    default: {
      if (t.rank() == 1 && rng.chance(50)) return code(t, fmt::format("roll($, {})", rng.between(0, std::max(0, t.shape[0] - 1))), {expr(t, s, depth - 1)});
      if (t.rank() == 1 && t.shape[0] % 2 == 0) {
        from.shape[0] /= 2;
        return code(t, rng.chance(50) ? "tile($, (2,))" : "repeat($, 2)", {expr(from, s, depth - 1)});
      }
      if (t.rank() == 1) {
        from.shape[0] += 1;
        return t.dtype == DType::Bool ? nullptr : code(t, "diff($)", {expr(from, s, depth - 1)});
      }
      if (t.rank() == 2 && t.dtype != DType::Bool) return code(t, fmt::format("{}($, {})", rng.pick({"tril", "triu"}), rng.between(-1, 1)), {expr(t, s, depth - 1)});
      return nullptr;
    }
  }
}

Code Generator::literal_array(const Ty& t, Scope& s, int depth) {
  if (t.rank() == 0 || t.shape[0] == 0 || t.shape[0] > 4) return nullptr;
  Ty part{t.dtype, {t.shape.begin() + 1, t.shape.end()}};
  std::vector<Code> parts;
  std::string form = "[";
  for (int i = 0; i < t.shape[0]; ++i) {
    form += i ? ", $" : "$";
    parts.push_back(expr(part, s, depth - 2));
  }
  return code(t, form + "]", parts);
}

Code Generator::created(const Ty& t, Scope& s, int) {
  std::string name = name_of(t.dtype);
  if (t.rank() == 2 && t.dtype == DType::F32 && rng.chance(60)) return code(t, fmt::format("eye({}, {})", size(t.shape[0], s), size(t.shape[1], s)));
  if (t.rank() == 1 && t.dtype == DType::F32 && t.shape[0] > 1) return code(t, fmt::format("linspace({}, {}, {})", rng.pick({"0.0", "-1.0", "2.5"}), rng.pick({"1.0", "3.0", "10.0"}), size(t.shape[0], s)));
  if (t.rank() == 1 && t.dtype == DType::I32) {
    int start = rng.below(5), step = rng.between(1, 3);
    return code(t, fmt::format("arange({}, {}, {})", start, start + t.shape[0] * step, step));
  }
  return nullptr;
}

/// Random numbers. The key is marked as meant for all lanes: that a lane may not have it otherwise holds under vmap only.
Code Generator::drawn(const Ty& t, Scope& s, int depth) {
  std::string name = name_of(t.dtype), sizes = shape(t.shape, s);
  std::string key = rng.pick({"same(key($))", "same(split(key($), 3)[1])", "same(fold_in(key($), 5))", "same(clone(key($)))"}), call;
  if (t.dtype == DType::Bool) call = fmt::format("bernoulli({}, 0.3, {})", key, sizes);
  else if (is_float(t.dtype)) call = fmt::format("{}({}, {}, dtype={})", rng.pick({"uniform", "uniform", "normal", "exponential"}), key, sizes, name);
  else if (is_unsigned_int(t.dtype) && rng.chance(50)) call = fmt::format("random_bits({}, {}, dtype={})", key, sizes, name);
  else call = fmt::format("randint({}, {}, {}, {}, dtype={})", key, sizes, rng.between(-9, 3), rng.between(0, 300), name);
  return code(t, call, {expr({DType::I32, {}}, s, depth - 1)});
}

}  // namespace tercet::random_programs
