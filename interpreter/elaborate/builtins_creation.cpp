// Library: arrays from nothing, constants, casts.
#include <cmath>
#include <map>
#include <limits>

#include <fmt/format.h>

#include "interpreter/elaborate/fitting.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {

DType dtype_argument(Elaborator& e, const std::optional<Sym>& value, DType fallback) {
  if (absent(value)) return fallback;
  DType out = fallback;
  if (auto* b = value->as<Sym::Builtin>(); b && parse_dtype(b->def->name, &out)) return out;
  if (value->leaf() && value->leaf()->type.dtype == DType::Str && parse_dtype(e.static_string(*value, "`dtype`"), &out)) return out;
  static const std::map<std::string, const char*> numpy{{"float64", "f64"}, {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"float", "f32"},
      {"int64", "i64"}, {"int32", "i32"}, {"int16", "i16"}, {"int8", "i8"}, {"int", "i32"}, {"uint8", "u8"}, {"uint16", "u16"}, {"uint32", "u32"}, {"uint64", "u64"}, {"bool_", "bool"}};
  std::string help;
  if (auto* leaf = value->leaf()) {
    auto text = e.known_string(*leaf);
    auto found = text ? numpy.find(*text) : numpy.end();
    if (found != numpy.end()) help = fmt::format("write {}", found->second);
    else if (is_int(leaf->type.dtype)) help = "a shape of several sizes is a tuple: zeros((2, 3))";
  }
  e.error(Kind::Type, fmt::format("`dtype` takes a type such as f32, and this is {}", describe(*value)), help);
}

namespace {

using A = BuiltinArguments;

Sym filled(Elaborator& e, A& a, double value) {
  DType dtype = dtype_argument(e, a[1], DType::F32);
  return e.full(e.shape(*a[0], "a shape"), is_float(dtype) ? float_leaf(value) : int_leaf(static_cast<int64_t>(value)), dtype);
}
Sym zeros(Elaborator& e, A& a) { return filled(e, a, 0); }
Sym ones(Elaborator& e, A& a) { return filled(e, a, 1); }
/// A value that fills a shape: it broadcasts to it, as in NumPy.
Leaf filled_with(Elaborator& e, const Leaf& value, const std::vector<Dim>& dims, DType dtype) {
  require_fits(e, value.type.dims, dims, "a value of size {left} does not fill a size of {right}");
  return e.full(dims, value, dtype);
}
Sym full(Elaborator& e, A& a) {
  Leaf value = e.array(*a[1], "`full`");
  DType dtype = dtype_argument(e, a[2], value.type.dtype);
  return filled_with(e, value, e.shape(*a[0], "a shape"), dtype);
}
Leaf dense(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("{} takes numbers, and this is {}", what, describe(x)));
  if (x.type.is_ragged()) e.error(Kind::Unsupported, fmt::format("{} of rows of different length: this is {}", what, describe(x)), "map it over the rows: vmap(f)(r)");
  return x;
}
Sym like(Elaborator& e, A& a, double value) {
  Leaf x = dense(e, *a[0], "this function");
  DType dtype = dtype_argument(e, a[1], x.type.dtype);
  return e.full(x.type.dims, is_float(dtype) ? float_leaf(value) : int_leaf(static_cast<int64_t>(value)), dtype);
}
Sym zeros_like(Elaborator& e, A& a) { return like(e, a, 0); }
Sym ones_like(Elaborator& e, A& a) { return like(e, a, 1); }
Sym full_like(Elaborator& e, A& a) {
  Leaf x = dense(e, *a[0], "full_like");
  return filled_with(e, e.array(*a[1], "full_like"), x.type.dims, x.type.dtype);
}

/// How many numbers lie from start up to stop, reckoned in f64 whether the bounds are known now or when it runs.
Dim float_count(Elaborator& e, const Leaf& start, const Leaf& stop, const Leaf& step) {
  auto value = [](const Leaf& x) { return is_float(x.type.dtype) ? x.constant->real : static_cast<double>(x.constant->integer); };
  if (step.constant && value(step) == 0) e.error(Kind::Value, "`step` of arange is not 0");
  if (start.constant && stop.constant && step.constant) {
    const double count = std::ceil((value(stop) - value(start)) / value(step));
    if (count < 0x1p62) return Dim(count > 0 ? static_cast<int64_t>(count) : 0);   // NaN is none
  }
  if (!step.constant) {
    const Leaf moves = e.cast(e.binary(ast::BinaryOp::NotEqual, step, int_leaf(0)), DType::I64);
    e.emit_effect(check_dims_op, {}, {{"left", e.frame().size_of(moves, e.span())}, {"right", Dim(1)}, {"relation", std::string("at_least")}, {"is_value", true}, {"message", std::string("`step` of arange is not 0")}});
  }
  const Leaf span = e.binary(ast::BinaryOp::Subtract, e.cast(stop, DType::F64), e.cast(start, DType::F64));
  const Leaf quotient = e.binary(ast::BinaryOp::Divide, span, e.cast(step, DType::F64));
  std::array<Leaf, 2> bounded{e.cast(e.elementwise(*find_op("ceil"), {&quotient, 1}, Promotion::Common), DType::I64), int_leaf(0)};
  return e.frame().size_of(e.elementwise(maximum_op, bounded, Promotion::Common), e.span());
}

/// arange(stop), arange(start, stop), arange(start, stop, step): as NumPy; integers unless a float is given.
Sym arange(Elaborator& e, A& a) {
  bool one = absent(a[1]);
  Leaf start = one ? int_leaf(0) : e.array(*a[0], "arange"), stop = e.array(one ? *a[0] : *a[1], "arange");
  Leaf step = !absent(a[2]) ? e.array(*a[2], "arange") : int_leaf(1);
  for (const Leaf& x : {start, stop, step})
    if (x.type.rank() != 0 || x.type.dtype > DType::F64 || x.type.dtype == DType::Bool) e.error(Kind::Type, fmt::format("arange takes numbers, and this is {}", describe(x)));
  bool real = is_float(start.type.dtype) || is_float(stop.type.dtype) || is_float(step.type.dtype);
  if (!real) {
    bool weak = true;
    DType natural = promote(start.type.dtype, start.weak, stop.type.dtype, stop.weak, &weak);
    natural = promote(natural, weak, step.type.dtype, step.weak, &weak);
    if (natural == DType::I64 && weak) natural = DType::I32;   // a size alone does not make the numbers wide
    DType dtype = dtype_argument(e, a[3], natural);
    if (!step.constant) return e.strided(start, e.binary(ast::BinaryOp::Subtract, e.cast(stop, DType::I64), e.cast(start, DType::I64)), step, dtype, "`step` of arange");
    int64_t by = e.static_int(step, "`step` of arange");
    if (by == 0) e.error(Kind::Value, "`step` of arange is not 0");
    Dim count;
    if (one || (start.constant && start.constant->integer == 0 && by == 1)) count = by == 1 && stop.constant && stop.constant->integer < 0 ? Dim(0) : e.size(stop, "arange");
    else {
      Leaf span = e.binary(ast::BinaryOp::Subtract, stop, start);
      if (span.constant) {
        const int64_t s = span.constant->integer;
        count = Dim(by > 0 ? (s > 0 ? (s - 1) / by + 1 : 0) : (s < 0 ? (s + 1) / by + 1 : 0));
      } else {
        const int64_t stride = std::clamp(by, -longest_step, longest_step), up = stride > 0 ? stride - 1 : stride + 1;
        std::array<Leaf, 2> in{e.binary(ast::BinaryOp::FloorDivide, e.binary(ast::BinaryOp::Add, e.cast(span, DType::I64), int_leaf(up, DType::I64)), int_leaf(stride, DType::I64)), int_leaf(0)};
        count = e.frame().size_of(span.dim ? size_leaf(max(floordiv(*span.dim + Dim(up), Dim(stride)), Dim(0))) : e.elementwise(maximum_op, in, Promotion::Common), e.span());
      }
    }
    Leaf index = e.iota(count, dtype);
    if (by != 1) index = e.binary(ast::BinaryOp::Multiply, index, int_leaf(by));
    bool zero = start.constant && start.constant->integer == 0;
    return zero ? index : e.binary(ast::BinaryOp::Add, index, e.cast(start, dtype, true));
  }
  const DType dtype = dtype_argument(e, a[3], DType::F32);
  return e.binary(ast::BinaryOp::Add, e.binary(ast::BinaryOp::Multiply, e.iota(float_count(e, start, stop, step), dtype), e.cast(step, dtype)), e.cast(start, dtype));
}

/// start * (1 - t) + stop * t with t = i / (n - 1), and the last element exactly `stop`, as JAX computes it.
Sym linspace(Elaborator& e, A& a) {
  Leaf start = e.array(*a[0], "linspace"), stop = e.array(*a[1], "linspace");
  DType dtype = dtype_argument(e, a[3], DType::F32);
  Dim n = !absent(a[2]) ? e.size(*a[2], "linspace") : Dim(50);
  Leaf index = e.iota(n, dtype);
  Leaf last = e.cast(size_leaf(max(n - Dim(1), Dim(1))), dtype);
  Leaf t = e.binary(ast::BinaryOp::Divide, index, last);
  Leaf low = e.binary(ast::BinaryOp::Multiply, e.cast(start, dtype), e.binary(ast::BinaryOp::Subtract, float_leaf(1), t));
  Leaf mixed = e.binary(ast::BinaryOp::Add, low, e.binary(ast::BinaryOp::Multiply, e.cast(stop, dtype), t));
  std::array<Leaf, 2> many{e.binary(ast::BinaryOp::Equal, index, e.cast(size_leaf(n - Dim(1)), dtype)), e.binary(ast::BinaryOp::Greater, index, float_leaf(0))};
  return e.select(e.binary(ast::BinaryOp::BitAnd, many[0], many[1]), e.cast(stop, dtype), mixed);
}

Sym eye(Elaborator& e, A& a) {
  Dim n = e.size(*a[0], "eye"), m = !absent(a[1]) ? e.size(*a[1], "eye") : n;
  DType dtype = dtype_argument(e, a[2], DType::F32);
  auto index = [&](int64_t axis) { return e.emit(iota_op, {}, {{"dims", std::vector<Dim>{n, m}}, {"axis", axis}, {"dtype", DType::I32}}); };
  return e.cast(e.binary(ast::BinaryOp::Equal, index(0), index(1)), dtype);
}

template <DType T> Sym to_dtype(Elaborator& e, A& a) {
  return map_leaves<Leaf>(*a[0], [&](const Leaf& x) {
    Leaf y = e.cast(x, T);
    y.weak = false;
    return y;
  });
}

}  // namespace

namespace {
constexpr BuiltinDef list[] = {
    {"zeros", "shape, dtype=", "An array of zeros.", zeros},
    {"ones", "shape, dtype=", "An array of ones.", ones},
    {"full", "shape, value, dtype=", "An array of one value.", full},
    {"zeros_like", "x, dtype=", "Zeros in the shape of x.", zeros_like},
    {"ones_like", "x, dtype=", "Ones in the shape of x.", ones_like},
    {"full_like", "x, value", "One value in the shape and dtype of x.", full_like},
    {"arange", "start, stop=, step=, dtype=", "Numbers from start up to stop; arange(n) counts from 0.", arange},
    {"linspace", "start, stop, n=, dtype=", "n numbers from start to stop, both included.", linspace},
    {"eye", "n, m=, dtype=", "Ones on the diagonal.", eye},
    {"bool", "x", "x as bool: not zero.", to_dtype<DType::Bool>},
    {"i8", "x", "x as i8; floats truncate and saturate.", to_dtype<DType::I8>},
    {"i16", "x", "x as i16; floats truncate and saturate.", to_dtype<DType::I16>},
    {"i32", "x", "x as i32; floats truncate and saturate.", to_dtype<DType::I32>},
    {"i64", "x", "x as i64; floats truncate and saturate.", to_dtype<DType::I64>},
    {"u8", "x", "x as u8; floats truncate and saturate.", to_dtype<DType::U8>},
    {"u16", "x", "x as u16; floats truncate and saturate.", to_dtype<DType::U16>},
    {"u32", "x", "x as u32; floats truncate and saturate.", to_dtype<DType::U32>},
    {"u64", "x", "x as u64; floats truncate and saturate.", to_dtype<DType::U64>},
    {"f16", "x", "x as f16.", to_dtype<DType::F16>},
    {"bf16", "x", "x as bf16.", to_dtype<DType::BF16>},
    {"f32", "x", "x as f32.", to_dtype<DType::F32>},
    {"f64", "x", "x as f64.", to_dtype<DType::F64>},
};
}
const BuiltinList creation_builtins = list;

}  // namespace tercet
