// Library: where lanes and devices meet, and devices themselves (language.md section 9).
#include <fmt/format.h>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/device.h"

namespace tercet {
namespace {

using A = BuiltinArguments;
using Dims = std::vector<Dim>;

/// The name of an axis among two optional arguments that may hold it: psum(x, "dev"), all_gather(x, axis="dev").
bool is_text(const std::optional<Sym>& s) { return s && s->leaf() && s->leaf()->type.dtype == DType::Str; }

Attrs meeting(const char* title, int64_t level) { return {{"over", level}, {"title", std::string(title)}}; }

/// An array that can meet others: numbers, all rows of one length.
Leaf meets(Elaborator& e, const Leaf& x, const char* what, bool numbers) {
  if (x.type.is_ragged()) e.error(Kind::Unsupported, fmt::format("`{}` of rows of different length: this is {}", what, describe(x)), "pad(x, length=n) gives them one length");
  if (x.type.dtype == DType::Key || (numbers && x.type.dtype > DType::F64))
    e.error(Kind::Type, fmt::format("`{}` takes {}, and this is {}", what, numbers ? "numbers" : "numbers or text", describe(x)));
  return e.frame().result(e.use(x), x.weak);
}

Leaf all_reduce(Elaborator& e, const Leaf& x, const char* kind, const char* title, int64_t level) {
  Attrs attrs = meeting(title, level);
  attrs.set("kind", std::string(kind));
  return e.emit(all_reduce_op, {e.use(x)}, std::move(attrs), x.weak);
}

// ---- psum, pmean, pmax, pmin ----
Leaf sum_of(Elaborator& e, Leaf x, const char* title, int64_t level) {
  if (x.type.dtype == DType::Bool) x = e.cast(x, DType::I32);
  return all_reduce(e, meets(e, x, title, true), "sum", title, level);
}
Sym psum(Elaborator& e, A& a) {
  int64_t level = e.axis_level(a[1], "psum");
  return map_leaves<Leaf>(*a[0], [&](const Leaf& x) { return sum_of(e, meets(e, x, "psum", true), "psum", level); });
}

Sym pmean(Elaborator& e, A& a) {
  int64_t level = e.axis_level(a[1], "pmean");
  Leaf count = size_leaf(e.axis_size(level, "pmean"));
  std::optional<Leaf> weight;
  if (!absent(a[2])) {
    weight = e.array(*a[2], "`weight`");
    if (weight->type.rank() != 0) e.error(Kind::Type, fmt::format("`weight` is one number for each lane or device, and this is {}", describe(*weight)));
  }
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    Leaf x = meets(e, given, "pmean", true);
    DType dtype = is_float(x.type.dtype) ? x.type.dtype : DType::F32;
    DType wide = weight && dtype != DType::F64 ? DType::F32 : dtype;   // weighted f16 is added up as f32
    x = e.cast(x, wide);
    if (!weight) return e.binary(ast::BinaryOp::Divide, sum_of(e, x, "pmean", level), e.cast(count, wide));
    Leaf w = e.cast(*weight, wide), total = sum_of(e, meets(e, w, "pmean", true), "pmean", level);
    Leaf sum = sum_of(e, e.binary(ast::BinaryOp::Multiply, x, w), "pmean", level);
    return e.cast(e.binary(ast::BinaryOp::Divide, sum, total), dtype);
  });
}

template <bool largest> Sym extremum(Elaborator& e, A& a) {
  const char* title = largest ? "pmax" : "pmin";
  int64_t level = e.axis_level(a[1], title);
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    Leaf x = meets(e, given, title, true);
    bool was_bool = x.type.dtype == DType::Bool;
    Leaf out = all_reduce(e, was_bool ? e.cast(x, DType::U8) : x, largest ? "max" : "min", title, level);
    return was_bool ? e.cast(out, DType::Bool) : out;
  });
}

// ---- all_gather, psum_scatter, all_to_all ----
/// axis= may be the name of the axis over which they meet or, where `array_axis` is asked for, an axis of the array.
struct Placed { int64_t level; std::optional<Sym> dim; };
Placed placed(Elaborator& e, const std::optional<Sym>& axis, const std::optional<Sym>& dim, const char* title) {
  bool named = absent(axis) || is_text(axis);
  return {e.axis_level(named ? axis : std::nullopt, title), named ? dim : axis};
}
bool flag(Elaborator& e, const std::optional<Sym>& s, const char* what) { return !absent(s) && e.static_bool(*s, what); }
int64_t dim_of(Elaborator& e, const std::optional<Sym>& dim, int rank) { return absent(dim) ? 0 : e.axis(*dim, rank, "`dim`"); }

Sym all_gather(Elaborator& e, A& a) {
  Placed at = placed(e, a[1], a[2], "all_gather");
  bool tiled = flag(e, a[3], "`tiled`");
  Dim count = e.axis_size(at.level, "all_gather");
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    Leaf x = meets(e, given, "all_gather", false);
    if (tiled && x.type.rank() == 0) e.error(Kind::Shape, fmt::format("all_gather(tiled=true) joins arrays along an axis, and this is the scalar {}", describe(x)));
    int64_t dim = dim_of(e, at.dim, x.type.rank() + !tiled);
    Attrs attrs = meeting("all_gather", at.level);
    attrs.set("count", count);
    Leaf all = e.move_axis(e.emit(all_gather_op, {e.use(x)}, std::move(attrs), x.weak), 0, dim);
    if (!tiled) return all;
    Dims dims = x.type.dims;
    dims[static_cast<size_t>(dim)] = count * dims[static_cast<size_t>(dim)];
    return e.reshape(all, dims);
  });
}

/// x with the axis that is dealt out in front: as it is, or, tiled, cut into one piece for each of `count`.
Leaf in_pieces(Elaborator& e, const Leaf& x, int64_t dim, const Dim& count, bool tiled, const char* title) {
  const Dim size = x.type.dims[static_cast<size_t>(dim)];
  if (!tiled) {
    e.require_equal(size, count, fmt::format("{} deals out axis {}, one row for each: it has {{left}}, and there are {{right}}", title, dim), "tiled=true deals out pieces of several rows");
    Leaf moved = e.move_axis(x, dim, 0);
    Dims dims = moved.type.dims;
    dims[0] = count;
    return e.reshape(moved, dims);
  }
  Dim piece = floordiv(size, count);
  e.require_equal(size, piece * count, fmt::format("{} cuts axis {} into equal pieces: its length {{left}} is no multiple of {}", title, dim, count.text()), "pad_to(x, multiple_of=n) makes it one");
  Dims dims = x.type.dims;
  dims[static_cast<size_t>(dim)] = piece;
  dims.insert(dims.begin() + dim, count);
  return e.move_axis(e.reshape(x, dims), dim, 0);
}

Leaf with_axes(Elaborator& e, const Leaf& given, const char* title, bool numbers) {
  Leaf x = meets(e, given, title, numbers);
  if (x.type.rank() == 0) e.error(Kind::Shape, fmt::format("`{}` deals out an axis, and this is the scalar {}", title, describe(x)));
  return x;
}

Sym psum_scatter(Elaborator& e, A& a) {
  Placed at = placed(e, a[1], a[2], "psum_scatter");
  bool tiled = flag(e, a[3], "`tiled`");
  Dim count = e.axis_size(at.level, "psum_scatter");
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    Leaf x = with_axes(e, given, "psum_scatter", true);
    if (x.type.dtype == DType::Bool) x = e.cast(x, DType::I32);
    int64_t dim = dim_of(e, at.dim, x.type.rank());
    Attrs attrs = meeting("psum_scatter", at.level);
    attrs.set("kind", std::string("sum"));
    attrs.set("differs", true);
    return e.emit(reduce_scatter_op, {e.use(in_pieces(e, x, dim, count, tiled, "psum_scatter"))}, std::move(attrs), x.weak);
  });
}

Sym all_to_all(Elaborator& e, A& a) {
  int64_t level = e.axis_level(a[1], "all_to_all");
  bool tiled = flag(e, a[4], "`tiled`");
  Dim count = e.axis_size(level, "all_to_all");
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    Leaf x = with_axes(e, given, "all_to_all", false);
    int64_t from = dim_of(e, a[2], x.type.rank()), to = dim_of(e, a[3], x.type.rank());
    Attrs attrs = meeting("all_to_all", level);
    attrs.set("differs", true);
    Leaf mine = e.emit(all_to_all_op, {e.use(in_pieces(e, x, from, count, tiled, "all_to_all"))}, std::move(attrs), x.weak);
    if (!tiled) return e.move_axis(mine, 0, to);
    Dims dims(mine.type.dims.begin() + 1, mine.type.dims.end());
    dims[static_cast<size_t>(to)] = count * dims[static_cast<size_t>(to)];
    return e.reshape(e.move_axis(mine, 0, to), dims);
  });
}

// ---- ppermute ----
Sym ppermute(Elaborator& e, A& a) {
  std::optional<Sym> pairs = a[1], axis = a[2];
  if (is_text(pairs)) std::swap(pairs, axis);   // ppermute(x, "dev", pairs) as well
  if (absent(pairs)) e.error(Kind::Type, "`ppermute` needs the pairs (from, to)", "as in ppermute(x, [[0, 1], [1, 0]])");
  int64_t level = e.axis_level(axis, "ppermute");
  std::vector<Leaf> rows;
  if (auto* t = pairs->as<Sym::Tuple>())   // ((0, 1), (1, 2))
    for (const Sym& row : t->elements) rows.push_back(e.array(row, "a pair"));
  Leaf p = rows.empty() ? e.array(*pairs, "`pairs`") : e.stack(rows);
  if (!is_int(p.type.dtype) || p.type.rank() != 2) e.error(Kind::Type, fmt::format("`pairs` is one row (from, to) for each, and this is {}", describe(p)), "as in ppermute(x, [[0, 1], [1, 0]])");
  p = e.cast(e.frame().result(e.use(p)), DType::I64);
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    Leaf x = meets(e, given, "ppermute", false);
    Attrs attrs = meeting("ppermute", level);
    attrs.set("differs", true);
    return e.emit(permute_op, {e.use(x), e.use(p)}, std::move(attrs), x.weak);
  });
}

// ---- axis_index, axis_size, devices ----
Sym axis_index(Elaborator& e, A& a) {
  Attrs attrs = meeting("axis_index", e.axis_level(a[0], "axis_index"));
  attrs.set("differs", true);
  return e.emit(axis_index_op, {}, std::move(attrs));
}
Sym axis_size(Elaborator& e, A& a) { return size_leaf(e.axis_size(e.axis_level(a[0], "axis_size"), "axis_size")); }

Sym devices(Elaborator& e, A&) {
  int count = e.environment().device_count() ? e.environment().device_count() : available_cores();
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("cpu:{}", i));
  std::vector<std::string_view> texts(names.begin(), names.end());
  return e.emit(constant_op, {}, {{"value", Array::strings(texts)}});
}

// ---- placement. Devices of one machine share its memory: a piece is a part of the array's block ----
int64_t count_of_devices(Elaborator& e, const std::optional<Sym>& given) {
  int64_t told = e.environment().device_count(), count = !absent(given) ? e.static_int(*given, "`devices`") : told ? told : available_cores();
  if (count < 1) e.error(Kind::Value, fmt::format("`devices` is a number from 1, and this is {}", count));
  if (count > (told ? told : most_host_devices)) e.error(Kind::Device, fmt::format("{} devices are asked for, and there are {}", count, told ? told : most_host_devices));
  return count;
}
Sym placed_along(Elaborator& e, A& a, const std::optional<Sym>& devices, const char* title) {
  int64_t count = count_of_devices(e, devices);
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    if (given.type.rank() == 0) e.error(Kind::Shape, fmt::format("`{}` cuts an axis into pieces, and this is the scalar {}", title, describe(given)), "replicate(x) puts it on every device");
    Leaf x = e.frame().result(e.use(given), given.weak);
    x.placement = {static_cast<uint8_t>(count), static_cast<int8_t>(absent(a[1]) ? 0 : e.axis(*a[1], x.type.rank(), "`axis`"))};
    return x;
  });
}
Sym shard(Elaborator& e, A& a) { return placed_along(e, a, a[2], "shard"); }
Sym constrain(Elaborator& e, A& a) {
  int devices = 0;   // as many pieces as it has
  if (auto* x = a[0]->leaf()) devices = x->placement.devices;
  return placed_along(e, a, devices ? std::optional<Sym>(int_leaf(devices)) : std::nullopt, "constrain");
}
Sym replicate(Elaborator& e, A& a) {
  auto count = static_cast<uint8_t>(count_of_devices(e, a[1]));
  return map_leaves<Leaf>(*a[0], [&](const Leaf& given) {
    Leaf x = e.frame().result(e.use(given), given.weak);
    x.placement = {count, -1};
    return x;
  });
}

/// "cpu:0 [0:334] | cpu:1 [334:667] | cpu:2 [667:1000] of axis 0"
std::string drawing(const Leaf& x) {
  const Placement& p = x.placement;
  if (p.devices == 0) return "not placed: on whichever device works on it";
  std::string out;
  std::optional<int64_t> n = p.axis < 0 ? std::nullopt : x.type.dims[static_cast<size_t>(p.axis)].constant();
  for (int64_t d = 0; d < p.devices; ++d) {
    out += fmt::format("{}cpu:{}", d ? " | " : "", d);
    auto begin = [&](int64_t i) { return *n / p.devices * i + std::min(i, *n % p.devices); };
    if (n) out += fmt::format(" [{}:{}]", begin(d), begin(d + 1));
  }
  return out + (p.axis < 0 ? ", a copy each" : fmt::format(" of axis {}", p.axis));
}
Sym placement(Elaborator& e, A& a) {
  std::string text = drawing(e.array(*a[0], "placement"));
  std::string_view view(text);
  return e.emit(constant_op, {}, {{"value", Array::strings({&view, 1}).reshaped({})}});
}

constexpr BuiltinDef list[] = {
    {"psum", "x, axis=", "Sum over the lanes or devices of the innermost axis, or of the named one.", psum},
    {"pmean", "x, axis=, weight=", "Mean over the lanes or devices; each counts as `weight` says.", pmean},
    {"pmax", "x, axis=", "Largest over the lanes or devices; NaN wins.", extremum<true>},
    {"pmin", "x, axis=", "Smallest over the lanes or devices; NaN wins.", extremum<false>},
    {"all_gather", "x, axis=, dim=, tiled=", "The values of all lanes or devices: stacked along a new axis `dim`, or, tiled, joined along it.", all_gather},
    {"psum_scatter", "x, axis=, dim=, tiled=", "Sum over the lanes or devices, of which each gets its row along axis `dim` or, tiled, its piece.", psum_scatter},
    {"all_to_all", "x, axis=, split_axis=, concat_axis=, tiled=", "Row i along `split_axis` goes to lane or device i, which puts what it gets together along `concat_axis`.", all_to_all},
    {"ppermute", "x, pairs=, axis=", "What the lane or device `from` has, by pairs (from, to); zeros where nothing comes.", ppermute},
    {"axis_index", "axis=", "The number of this lane or device.", axis_index},
    {"axis_size", "axis=", "How many lanes or devices there are.", axis_size},
    {"shard", "x, axis=, devices=", "x in pieces along an axis, one a device; their lengths differ by one at most.", shard},
    {"constrain", "x, axis=", "x in pieces along an axis, on the devices it is on.", constrain},
    {"replicate", "x, devices=", "x with a copy on every device.", replicate},
    {"placement", "x", "Which part of x lies on which device, as text.", placement},
    {"devices", "", "The names of the devices that a pmap uses.", devices},
};

}  // namespace
const BuiltinList device_builtins = list;

}  // namespace tercet
