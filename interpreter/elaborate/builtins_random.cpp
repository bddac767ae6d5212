// Library: random keys, and the draws that stdlib/random.tct builds on.
#include <fmt/format.h>

#include <cstring>

#include "interpreter/elaborate/fitting.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using A = BuiltinArguments;
using Dims = std::vector<Dim>;

Leaf keys(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.dtype != DType::Key)
    e.error(Kind::Type, fmt::format("`{}` takes a key, and this is {}", what, describe(x)), "key(seed) makes one: let k = key(0)");
  return x;
}
Leaf one_key(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = keys(e, value, what);
  if (x.type.rank() > 0)
    e.error(Kind::Type, fmt::format("`{}` takes one key, and this is {}", what, describe(x)), fmt::format("map over them: vmap(k => {}(k, …))(ks)", what));
  return x;
}

/// The word of a key that is used now, for good.
Leaf use_key(Elaborator& e, const Leaf& key, const char* use) {
  e.emit_effect(use_key_op, {e.use(key)}, {{"use", std::string(use)}});
  return e.emit(key_words_op, {e.use(key)});
}

/// The random words of a key at counters 0, 1, 2, … in row-major order.
Leaf threefry(Elaborator& e, const Leaf& word, const Dims& dims, DType dtype) {
  Dim count = element_count(dims);
  Leaf counter = e.iota(count, DType::U64);
  Leaf out = e.emit(threefry_op, {e.use(e.broadcast_to(word, {count})), e.use(counter)}, {{"dtype", dtype}});
  return e.reshape(out, dims);
}

Leaf scalar_int(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.rank() != 0 || !is_int(x.type.dtype)) e.error(Kind::Type, fmt::format("`{}` takes an integer, and this is {}", what, describe(x)),
      x.type.rank() > 0 ? fmt::format("map over them: vmap(i => {})(xs)", std::string_view(what) == "key" ? "key(i)" : "fold_in(k, i)") : "");
  return x;
}

/// A seed of up to 32 bits is the second half of the key's word; one of 64 bits is all of it.
Sym key(Elaborator& e, A& a) {
  Leaf seed = scalar_int(e, *a[0], "key");
  if (size_of(seed.type.dtype) < 8) seed = e.cast(seed, DType::U32);
  return e.emit(new_keys_op, {e.use(e.cast(seed, DType::U64))});
}

Sym fold_in(Elaborator& e, A& a) {
  Leaf k = one_key(e, *a[0], "fold_in"), word = use_key(e, k, "fold");
  Leaf counter = e.cast(e.cast(scalar_int(e, *a[1], "fold_in"), DType::U32), DType::U64);
  return e.emit(new_keys_op, {e.use(e.emit(threefry_op, {e.use(word), e.use(counter)}, {{"dtype", DType::U64}}))});
}

Sym clone(Elaborator& e, A& a) { return e.emit(new_keys_op, {e.use(e.emit(key_words_op, {e.use(keys(e, *a[0], "clone"))}))}); }

Sym same(Elaborator& e, A& a) { return e.emit(mark_keys_op, {e.use(keys(e, *a[0], "same"))}, {{"mark", std::string("same")}}); }

Dims drawn_shape(Elaborator& e, const std::optional<Sym>& shape) { return absent(shape) ? Dims{} : e.shape(*shape, "a shape"); }

Leaf bits(Elaborator& e, const Sym& k, const Dims& dims, DType dtype, const char* what) {
  Leaf word = use_key(e, one_key(e, k, what), "draw");
  return e.cast(threefry(e, word, dims, dtype == DType::U64 ? DType::U64 : DType::U32), dtype);
}

Sym random_bits(Elaborator& e, A& a) {
  DType dtype = dtype_argument(e, a[2], DType::U32);
  if (!is_unsigned_int(dtype)) e.error(Kind::Type, fmt::format("random_bits gives u8, u16, u32 or u64, not {}", name_of(dtype)), "cast what it gives: i32(random_bits(k, n))");
  return bits(e, *a[0], drawn_shape(e, a[1]), dtype, "random_bits");
}

DType bits_of(DType real) {
  return real == DType::F64 ? DType::U64 : real == DType::F32 ? DType::U32 : real == DType::F16 ? DType::U16 : DType::U8;
}

bool is_number(const Leaf& x, double value) {
  return x.constant && x.type.rank() == 0 && (is_float(x.type.dtype) ? x.constant->real : static_cast<double>(x.constant->integer)) == value;
}

/// max(lo, u * (hi - lo) + lo), rounded once, as JAX's compiled code does.
Sym uniform(Elaborator& e, A& a) {
  DType dtype = dtype_argument(e, a[4], DType::F32);
  if (!is_float(dtype)) e.error(Kind::Type, fmt::format("uniform gives floats, not {}", name_of(dtype)), "randint(k, shape, lo, hi) gives integers");
  Dims dims = drawn_shape(e, a[1]);
  auto bound = [&](const std::optional<Sym>& given, const char* name, double fallback) {
    Leaf x = absent(given) ? float_leaf(fallback) : e.array(*given, name);
    if (x.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("{} of uniform takes a number, and this is {}", name, describe(x)));
    require_fits(e, x.type.dims, dims, "a bound of size {left} does not fit into a size of {right}");
    return x;
  };
  Leaf low = bound(a[2], "`lo`", 0), high = bound(a[3], "`hi`", 1);
  Leaf u = e.emit(unit_interval_op, {e.use(bits(e, *a[0], dims, bits_of(dtype), "uniform"))});
  if (is_number(low, 0) && is_number(high, 1)) return u;
  low = e.cast(low, dtype);
  Leaf width = e.binary(ast::BinaryOp::Subtract, e.cast(high, dtype), low);
  std::array<Leaf, 3> terms{u, width, low};
  std::array<Leaf, 2> both{low, e.elementwise(*find_op("fma"), terms, Promotion::Common)};
  return e.elementwise(maximum_op, both, Promotion::Common);
}

// ---- randint ----
struct IntRange { int64_t low; uint64_t high; };
IntRange range_of(DType t) {
  auto bits = static_cast<unsigned>(size_of(t)) * 8;
  if (is_unsigned_int(t)) return {0, bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 2)) * 2, (uint64_t{1} << (bits - 1)) - 1};
}
Leaf constant(Elaborator& e, DType dtype, uint64_t value) {
  Array a = Array::make(dtype, {});
  std::memcpy(a.raw(), &value, size_of(dtype));
  return e.emit(constant_op, {}, {{"value", a}});
}
Leaf apply(Elaborator& e, const OpDef& op, const Leaf& a, const Leaf& b) {
  std::array<Leaf, 2> both{a, b};
  return e.elementwise(op, both, Promotion::CommonOrBool);
}

/// An integer moved into a range, in `dtype`; whether it was above it.
struct Clipped { Leaf value, above; };
Clipped clipped(Elaborator& e, const Leaf& x, IntRange to, DType dtype) {
  DType wide = x.type.dtype == DType::U64 ? DType::U64 : DType::I64;
  IntRange from = range_of(wide);
  Leaf low = constant(e, wide, static_cast<uint64_t>(std::max(to.low, from.low))), high = constant(e, wide, std::min(to.high, from.high));
  Leaf v = e.cast(x, wide);
  return {e.cast(apply(e, minimum_op, high, apply(e, maximum_op, low, v)), dtype), apply(e, gt_op, v, high)};
}

/// As JAX: twice the bits of the dtype (32 at least), reduced modulo the number of values; hi <= lo gives lo.
Sym randint(Elaborator& e, A& a) {
  DType wanted = dtype_argument(e, a[4], DType::I32), dtype = size_of(wanted) < 4 ? DType::I32 : wanted;
  if (!is_int(wanted)) e.error(Kind::Type, fmt::format("randint gives integers, not {}", name_of(wanted)), "uniform(k, shape, lo, hi) gives floats");
  Dims dims = e.shape(*a[1], "a shape");
  IntRange range = range_of(wanted);
  auto bound = [&](const Sym& given, const char* name, uint64_t highest) {
    Leaf x = e.array(given, name);
    if (!is_int(x.type.dtype)) e.error(Kind::Type, fmt::format("{} of randint takes an integer, and this is {}", name, describe(x)), is_float(x.type.dtype) ? "uniform(k, shape, lo, hi) gives floats" : "");
    require_fits(e, x.type.dims, dims, "a bound of size {left} does not fit into a size of {right}");
    return clipped(e, x, {range.low, highest}, dtype);
  };
  Clipped low = bound(*a[2], "`lo`", range.high), high = bound(*a[3], "`hi`", dtype == wanted ? range.high : range.high + 1);
  auto bits = static_cast<unsigned>(size_of(dtype)) * 8;
  DType whole = is_unsigned_int(dtype) ? dtype : static_cast<DType>(static_cast<int>(dtype) + static_cast<int>(DType::U8) - static_cast<int>(DType::I8));
  Leaf zero = constant(e, whole, 0), one = constant(e, whole, 1);
  Leaf some = apply(e, gt_op, high.value, low.value);
  Leaf span = e.select(some, e.cast(apply(e, sub_op, high.value, low.value), whole), one);
  if (dtype == wanted) span = e.select(apply(e, bit_and_op, high.above, some), apply(e, add_op, span, one), span);   // 0: all values
  Leaf all = apply(e, eq_op, span, zero), divisor = e.select(all, one, span);
  Leaf multiplier = apply(e, mod_op, constant(e, whole, uint64_t{1} << bits / 2), divisor);
  multiplier = apply(e, mod_op, apply(e, mul_op, multiplier, multiplier), divisor);
  Leaf children = threefry(e, use_key(e, one_key(e, *a[0], "randint"), "draw"), {Dim(2)}, DType::U64);
  auto draw = [&](int64_t child) {
    Leaf word = *e.slice_rows(children, Dim(child), Dim(-1)).leaf();
    return e.cast(threefry(e, word, dims, bits == 64 ? DType::U64 : DType::U32), whole);
  };
  Leaf upper = draw(0), lower = draw(1);
  Leaf offset = apply(e, add_op, apply(e, mul_op, apply(e, mod_op, upper, divisor), multiplier), apply(e, mod_op, lower, divisor));
  offset = e.select(all, lower, apply(e, mod_op, offset, divisor));
  return e.cast(apply(e, add_op, low.value, e.cast(offset, dtype)), wanted);
}

// ---- for stdlib/random.tct ----
Sym take_key(Elaborator& e, A& a) { return e.emit(new_keys_op, {e.use(use_key(e, one_key(e, *a[0], e.static_string(*a[1], "`what`").c_str()), "draw"))}); }

Sym insert_size(Elaborator& e, A& a) {
  Sym::Tuple out;
  for (const Dim& d : e.shape(*a[0], "a shape")) out.elements.push_back(size_leaf(d));
  int64_t at = e.axis(*a[2], static_cast<int>(out.elements.size()) + 1, "`axis`");
  out.elements.insert(out.elements.begin() + at, size_leaf(e.size(*a[1], "a size")));
  return out;
}

Sym checked_weights(Elaborator& e, A& a) {
  Leaf p = e.array(*a[0], "`p`");
  if (p.type.rank() != 1 || p.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("`p` of choice takes a weight for each element, and this is {}", describe(p)));
  e.require_equal(p.type.dims[0], e.size(*a[1], "choice"), "choice has {left} weights for {right} elements");
  return p;
}

/// With replacement there must be something to draw from, without there must be enough.
Sym checked_draws(Elaborator& e, A& a) {
  Dim count = element_count(e.shape(*a[0], "a shape"));
  bool replace = e.static_bool(*a[2], "`replace`");
  e.emit_effect(check_dims_op, {}, {{"left", e.size(*a[1], "choice")}, {"right", replace ? min(count, Dim(1)) : count}, {"relation", std::string("at_least")}, {"is_value", true},
      {"message", std::string(replace ? "choice has nothing to draw from" : "choice without replacement draws {right} of {left} elements")},
      {"help", std::string(replace ? "" : "draw fewer, or with replacement: replace=true")}});
  return size_leaf(count);
}

Sym as_count(Elaborator& e, A& a) { return size_leaf(e.size(*a[0], e.static_string(*a[1], "`what`").c_str())); }

Sym axis_from_end(Elaborator& e, A& a) {
  int rank = e.array(*a[0], "an array").type.rank();
  return int_leaf(e.axis(*a[1], rank, "`axis`") - rank);
}

constexpr BuiltinDef list[] = {
    {"key", "seed", "A random key.", key},
    {"fold_in", "k, i", "The key number i that belongs to k; for any number of i.", fold_in},
    {"clone", "k", "The same key again, to be used once more.", clone},
    {"same", "k", "The key, meant to be the same in every lane of a vmap.", same},
    {"random_bits", "k, shape=, dtype=", "Random unsigned integers.", random_bits},
    {"randint", "k, shape, lo, hi, dtype=", "Random integers, lo <= x < hi.", randint},
    {"take_key", "k, what", "A key with the words of k, which counts as drawn from.", take_key},
    {"insert_size", "shape, n, axis", "A shape with one more axis, of size n.", insert_size},
    {"checked_weights", "p, n", "The weights of n elements.", checked_weights},
    {"checked_draws", "shape, n, replace", "How many elements a shape has, if so many can be drawn of n.", checked_draws},
    {"as_count", "n, what", "n, which is a number of elements.", as_count},
    {"axis_from_end", "x, axis", "The axis counted from the end.", axis_from_end},
    {"uniform", "k, shape=, lo=, hi=, dtype=", "Random floats, lo <= x < hi, from 0 up to 1.", uniform},
};

}  // namespace

const BuiltinList random_builtins = list;

/// n keys (or a shape of keys) that belong to k.
Sym split_key(Elaborator& e, const Sym& value, const std::optional<Sym>& count) {
  Dims dims = absent(count) ? Dims{Dim(2)} : e.shape(*count, "split");
  Leaf word = use_key(e, one_key(e, value, "split"), "split");
  return e.emit(new_keys_op, {e.use(threefry(e, word, dims, DType::U64))});
}

}  // namespace tercet
