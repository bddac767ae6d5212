// Types, numbers, names and sizes.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace tercet::random_programs {

DType Generator::any_dtype() {
  return rng.pick({DType::F32, DType::F32, DType::F32, DType::I32, DType::I32, DType::I32, DType::Bool, DType::F64, DType::F64, DType::I64,
                   DType::I64, DType::I8, DType::I16, DType::U8, DType::U16, DType::U32, DType::U64, DType::F16, DType::BF16});
}
DType Generator::float_dtype() { return rng.pick({DType::F32, DType::F32, DType::F32, DType::F64, DType::F64, DType::F16, DType::BF16}); }
DType Generator::int_dtype() {
  return rng.pick({DType::I32, DType::I32, DType::I32, DType::I64, DType::I64, DType::I8, DType::I16, DType::U8, DType::U16, DType::U32, DType::U64});
}
int Generator::any_size() { return rng.pick({1, 1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 9, 16, 17, rng.chance(20) ? 0 : 2, rng.chance(20) ? 33 : 3}); }

Ty Generator::any_type(int max_rank) {
  if (long_size && max_rank > 0 && rng.chance(50)) return {any_dtype(), {long_size}};
  Ty t{any_dtype(), {}};
  int rank = std::min(max_rank, rng.pick({0, 0, 1, 1, 1, 2, 2, 3}));
  for (int k = 0; k < rank; ++k) t.shape.push_back(any_size());
  while (t.count() > 400) t.shape[static_cast<size_t>(rng.below(rank))] = 2;
  return t;
}

Code Generator::number(const Ty& t) {
  std::string name = name_of(t.dtype);
  if (t.dtype == DType::Bool) return code(t, rng.chance(50) ? "true" : "false");
  if (is_float(t.dtype)) {
    if (rng.chance(8)) return code(t, fmt::format("{}({})", name, rng.pick({"inf", "nan", "-inf", "pi", "1e-30", "1e30", "65504.0", "1e-7"})));
    return code(t, fmt::format("{}{}", rng.pick({"0.0", "-0.0", "1.0", "-1.0", "0.5", "2.0", "3.0", "-2.5", "0.1", "10.0", "-7.25", "100.0", "1e-3", "0.333"}), name));
  }
  if (rng.chance(5)) return code(t, fmt::format("{}({})", name, rng.pick({"127", "255", "-1", "65535", "-32768", "2147483647", "-2147483648", "9223372036854775807"})));
  return code(t, is_signed_int(t.dtype) ? fmt::format("{}{}", rng.between(-9, 12), name) : fmt::format("({}{})", rng.between(0, 20), name));
}

Code Generator::as(const Ty& t, Code e) {
  return e->type.dtype == t.dtype ? e : code(t, std::string(name_of(t.dtype)) + "($)", {std::move(e)});
}

std::string Generator::size(int n, Scope& s) {
  if (rng.chance(50)) return std::to_string(n);
  std::vector<std::string> found;
  for (const Variable& v : s.variables)
    for (size_t k = 0; k < v.type.shape.size(); ++k)
      if (v.type.shape[k] == n) found.push_back(k == 0 && rng.chance(50) ? fmt::format("len({})", v.text) : fmt::format("shape({})[{}]", v.text, k));
  return found.empty() ? std::to_string(n) : rng.pick(found);
}

std::string Generator::shape(const std::vector<int>& sizes, Scope& s) {
  std::string out = "(";
  for (size_t k = 0; k < sizes.size(); ++k) out += (k ? ", " : "") + size(sizes[k], s);
  return out + (sizes.size() == 1 ? ",)" : ")");
}

Code Generator::leaf(const Ty& t, Scope& s) {
  std::vector<const Variable*> same, castable, longer;
  for (const Variable& v : s.variables) {
    if (v.type == t) same.push_back(&v);
    else if (v.type.shape == t.shape) castable.push_back(&v);
    else if (v.type.rank() == t.rank() + 1 && v.type.shape[0] > 0 && std::equal(t.shape.begin(), t.shape.end(), v.type.shape.begin() + 1)) longer.push_back(&v);
  }
  if (!same.empty() && rng.chance(75)) return code(t, rng.pick(same)->text);
  if (!castable.empty() && rng.chance(60)) {
    const Variable* v = rng.pick(castable);
    return as(t, code(v->type, v->text));
  }
  if (!longer.empty() && rng.chance(50)) {
    const Variable* v = rng.pick(longer);
    return as(t, code({v->type.dtype, t.shape}, fmt::format("{}[{}]", v->text, rng.between(-v->type.shape[0], v->type.shape[0] - 1))));
  }
  if (t.rank() == 0) return number(t);
  std::string name = name_of(t.dtype);
  switch (rng.below(4)) {
    case 0: return code(t, "full(" + shape(t.shape, s) + ", $, dtype=" + name + ")", {leaf({t.dtype, {}}, s)});
    case 1: return code(t, name + "(zeros(" + shape(t.shape, s) + "))");
    case 2:
      if (t.rank() == 1) return code(t, name + "(arange(" + size(t.shape[0], s) + "))");
      [[fallthrough]];
    default: {
      std::string values = fmt::format("arange({}) * {} % {} - {}", t.count(), rng.between(1, 9), rng.between(2, 13), rng.below(4));
      std::string shaped = "reshape(" + values + ", " + shape(t.shape, s) + ")";
      return code(t, name + (is_float(t.dtype) && rng.chance(50) ? "(" + shaped + " / 4)" : "(" + shaped + ")"));
    }
  }
}

Code Generator::index_below(int n, const std::vector<int>& shape, Scope& s, int depth) {
  DType dtype = int_dtype();
  int most = dtype == DType::I8 ? 127 : dtype == DType::U8 ? 255 : 1000;
  if (n > most) dtype = DType::I32;
  Ty t{dtype, shape};
  if (shape.empty() && rng.chance(30)) return code(t, std::to_string(rng.below(std::max(n, 1))));
  if (rng.chance(4) && depth > 1) return expr(t, s, depth - 1);   // may be out of range
  std::string name = name_of(dtype);
  if (is_signed_int(dtype) && rng.chance(25)) return code(t, fmt::format("($ % {}{} - {}{})", n, name, n, name), {expr(t, s, depth - 1)});
  return code(t, fmt::format("($ % {}{})", n, name), {expr(t, s, depth - 1)});
}

Scope Generator::closed(const Scope& s) {
  Scope out;
  for (const Variable& v : s.variables)
    if (!v.changes) out.variables.push_back(v);
  return out;
}

}  // namespace tercet::random_programs
