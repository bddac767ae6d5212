// Library: reductions, cumulative folds, ordering.
#include <fmt/format.h>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using A = BuiltinArguments;
using Ints = std::vector<int64_t>;

/// The widths in which small numbers are added up (jax-semantics section 2).
DType sum_dtype(DType t) {
  switch (t) {
    case DType::Bool: case DType::I8: case DType::I16: return DType::I32;
    case DType::U8: case DType::U16: return DType::U32;
    default: return t;
  }
}

/// Reduced axes put back as axes of size 1.
Leaf kept(Elaborator& e, const Leaf& result, const Leaf& x, const Ints& axes) {
  std::vector<Dim> dims = x.type.dims;
  for (int64_t k : axes) dims[static_cast<size_t>(k)] = Dim(1);
  return e.reshape(result, dims);
}

void require_elements(Elaborator& e, const Leaf& x, const Ints& axes, const char* what) {
  Dim count = element_count_along(x, axes);
  if (count.is(0)) e.error(Kind::Value, fmt::format("{} of no elements: this is {}", what, describe(x)), "give a first value: maximum(max(…), v)");
  if (!count.constant())
    e.emit_effect(check_dims_op, {}, {{"left", count}, {"right", Dim(1)}, {"relation", std::string("at_least")}, {"message", fmt::format("{} of no elements", what)}, {"is_value", true}});
}

Leaf reduce(Elaborator& e, const OpDef& op, Leaf x, const Sym& axis, const std::optional<Sym>& keepdims) {
  if (x.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("`{}` takes numbers, and this is {}", op.name, describe(x)));
  Ints axes = e.axes(axis, x.type.rank());
  x = e.frame().result(e.use(x));
  Leaf out = axes.empty() && &op != &argmax_op && &op != &argmin_op ? x : e.emit(op, {e.use(x)}, {{"axes", axes}});
  bool keep = !absent(keepdims) && e.static_bool(*keepdims, "`keepdims`");
  return keep ? kept(e, out, x, axes) : out;
}

template <const OpDef& Op> Sym sum_like(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], Op.name);
  if (x.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("`{}` takes numbers, and this is {}", Op.name, describe(x)));
  return reduce(e, Op, e.cast(x, sum_dtype(x.type.dtype)), a[1].value_or(Sym()), a[2]);
}
template <const OpDef& Op, bool OfNone = false> Sym extremum(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], Op.name);
  if (x.type.rank() == 0 && !absent(a[1]))
    e.error(Kind::Type, fmt::format("`{}` takes one array, and this is the scalar {}", Op.name, describe(x)), fmt::format("of two numbers: {}imum(a, b)", Op.name));
  if (!OfNone) require_elements(e, x, e.axes(a[1].value_or(Sym()), x.type.rank()), Op.name);
  bool was_bool = x.type.dtype == DType::Bool;
  Leaf out = reduce(e, Op, was_bool ? e.cast(x, DType::U8) : x, a[1].value_or(Sym()), a[2]);
  return was_bool && out.type.dtype == DType::U8 ? e.cast(out, DType::Bool) : out;
}
template <const OpDef& Op> Sym logical(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], Op.name);
  if (x.type.dtype == DType::Bool && x.constant && x.type.rank() == 0) return x;
  return reduce(e, Op, e.cast(x, DType::Bool), a[1].value_or(Sym()), a[2]);
}
template <const OpDef& Op> Sym arg_extremum(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], Op.name);
  require_elements(e, x, e.axes(a[1].value_or(Sym()), x.type.rank()), Op.name);
  return reduce(e, Op, x.type.dtype == DType::Bool ? e.cast(x, DType::U8) : x, a[1].value_or(Sym()), a[2]);
}
template <const OpDef& Op> Sym cumulative(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], Op.name);
  if (x.type.dtype > DType::F64) e.error(Kind::Type, fmt::format("`{}` takes numbers, and this is {}", Op.name, describe(x)));
  if (x.type.dtype == DType::Bool) x = e.cast(x, DType::I32);
  if (absent(a[1]) && x.type.rank() != 1) {
    x = flattened(e, x);
  }
  int64_t axis = absent(a[1]) ? 0 : e.axis(*a[1], x.type.rank(), "`axis`");
  return e.emit(Op, {e.use(x)}, {{"axis", axis}});
}

Leaf ordered(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.dtype == DType::Key) e.error(Kind::Type, fmt::format("keys have no order: `{}` takes numbers or text, and this is {}", what, describe(x)));
  return x;
}

template <const OpDef& Op> Sym sorting(Elaborator& e, A& a) {
  Leaf x = ordered(e, *a[0], Op.name);
  if (x.type.rank() == 0) e.error(Kind::Type, fmt::format("`{}` takes an array, and this is the scalar {}", Op.name, describe(x)));
  int64_t axis = absent(a[1]) ? x.type.rank() - 1 : e.axis(*a[1], x.type.rank(), "`axis`");
  bool descending = !absent(a[2]) && e.static_bool(*a[2], "`descending`");
  return e.emit(Op, {e.use(x)}, {{"axis", axis}, {"descending", descending}});
}

Sym top_k(Elaborator& e, A& a) {
  Leaf x = ordered(e, *a[0], "top_k");
  if (x.type.rank() == 0) e.error(Kind::Type, fmt::format("`top_k` takes an array, and this is the scalar {}", describe(x)));
  Dim k = e.size(*a[1], "`k`"), n = x.type.dims.back();
  if (k.constant() && n.constant() && *k.constant() > *n.constant()) e.error(Kind::Value, fmt::format("top_k of {} from {} elements", k.text(), n.text()), "k is at most the length of the last axis");
  if (!(k.constant() && n.constant()))
    e.emit_effect(check_dims_op, {}, {{"left", n}, {"right", k}, {"relation", std::string("at_least")}, {"message", std::string("top_k of {right} from {left} elements")}, {"is_value", true}});
  std::vector<Leaf> out = e.emit_many(top_k_op, {e.use(x)}, {{"k", k}});
  return Sym::Tuple{{out[0], out[1]}};
}

/// The k rows with the largest products with a sparse vector; the rows lie in an inverted index (stdlib/search.tct: search).
Sym search_top(Elaborator& e, A& a) {
  Leaf places = e.array(*a[0], "the index"), weights = e.array(*a[1], "the index"), terms = e.array(*a[2], "`ids`"), factors = e.array(*a[3], "`weights`");
  auto is_index = [](const Leaf& x) { return x.type.rank() == 2 && x.type.is_ragged(); };
  if (!is_index(places) || !is_index(weights) || !is_int(places.type.dtype))
    e.error(Kind::Type, fmt::format("search takes an index, and this has {} and {}", describe(places), describe(weights)), "make one: search_index(ids, weights, size)");
  if (terms.type.is_ragged() || factors.type.is_ragged())
    e.error(Kind::Type, fmt::format("search takes one query, and this is {}", describe(terms)), "map it over queries: vmap[ids=0, weights=0] search(index, ids, weights, k)");
  if (terms.type.rank() != 1 || factors.type.rank() != 1 || !is_int(terms.type.dtype))
    e.error(Kind::Type, fmt::format("search takes a query's ids and their weights, and these are {} and {}", describe(terms), describe(factors)));
  e.require_equal(terms.type.dims[0], factors.type.dims[0], "search takes a weight for each id: {left} ids and {right} weights");
  e.require_equal(places.type.dims[0], weights.type.dims[0], "the index has {left} rows of places and {right} of weights");
  Dim k = e.size(*a[5], "`k`"), n = e.size(*a[4], "the number of rows");
  e.emit_effect(check_dims_op, {}, {{"left", n}, {"right", k}, {"relation", std::string("at_least")}, {"message", std::string("the {right} best of {left} rows")}, {"is_value", true}});
  terms = e.checked_index(terms, places.type.dims[0], 0);
  const DType dtype = weights.type.dtype == DType::F64 || factors.type.dtype == DType::F64 ? DType::F64 : DType::F32;
  ValueId begins = e.builder().emit(row_offsets_op, {e.use(places)}, {}, e.span());
  e.emit_effect(check_rows_op, {begins, e.builder().emit(row_offsets_op, {e.use(weights)}, {}, e.span())}, {});
  auto values = [&](const Leaf& rows) { return values_of_rows(e, rows); };
  Leaf at = values(places);
  if (at.type.dtype != DType::I32) at = e.cast(at, DType::I64);
  Leaf factor = e.broadcast_to(e.cast(e.frame().result(e.use(factors)), dtype), terms.type.dims);
  std::vector<Leaf> out = e.emit_many(*find_op("search_top"), {e.use(at), e.use(e.cast(values(weights), dtype)), begins, e.use(e.cast(terms, DType::I64)), e.use(factor)}, {{"n", n}, {"k", k}});
  return Sym::Tuple{{out[0], out[1]}};
}

Sym count(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "count");
  return reduce(e, sum_op, e.cast(e.cast(x, DType::Bool), DType::I32), a[1].value_or(Sym()), std::nullopt);
}

/// The float that sums of x are taken in: f16 and bf16 are widened, integers and bool become the default float.
Sym widened(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "this function");
  return x.type.dtype == DType::F64 ? x : e.cast(x, DType::F32);
}

/// y in the float dtype of x.
Sym narrowed(Elaborator& e, A& a) {
  DType dtype = e.array(*a[1], "this function").type.dtype;
  return e.cast(e.array(*a[0], "this function"), is_float(dtype) ? dtype : DType::F32);
}

/// How many elements a reduction over `axis` takes together, as a size.
Sym reduced_size(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "this function");
  if (x.type.is_ragged()) e.error(Kind::Unsupported, fmt::format("a reduction of rows of different length: this is {}", describe(x)), "map it over the rows: vmap(f)(r)");
  return size_leaf(element_count_along(x, e.axes(a[1].value_or(Sym()), x.type.rank())));
}

}  // namespace

namespace {
constexpr BuiltinDef list[] = {
    {"sum", "x, axis=, keepdims=", "Sum over all axes or the given ones.", sum_like<sum_op>},
    {"prod", "x, axis=, keepdims=", "Product over all axes or the given ones.", sum_like<prod_op>},
    {"max", "x, axis=, keepdims=", "Largest element; NaN wins.", extremum<max_op>},
    {"max_or_least", "x, axis=, keepdims=", "Largest element; of none the least value there is.", extremum<max_op, true>},
    {"min", "x, axis=, keepdims=", "Smallest element; NaN wins.", extremum<min_op>},
    {"any", "x, axis=, keepdims=", "Is one true?", logical<any_op>},
    {"all", "x, axis=, keepdims=", "Are all true?", logical<all_op>},
    {"argmax", "x, axis=, keepdims=", "Index of the first largest element.", arg_extremum<argmax_op>},
    {"argmin", "x, axis=, keepdims=", "Index of the first smallest element.", arg_extremum<argmin_op>},
    {"count", "x, axis=", "How many are not zero.", count},
    {"widened", "x", "x in the float in which its sums are taken.", widened},
    {"narrowed", "y, x", "y in the float dtype of x.", narrowed},
    {"reduced_size", "x, axis=", "Number of elements that a reduction over the axes takes together.", reduced_size},
    {"cumsum", "x, axis=", "Running sum.", cumulative<cumsum_op>},
    {"cumprod", "x, axis=", "Running product.", cumulative<cumprod_op>},
    {"cummax", "x, axis=", "Running maximum.", cumulative<cummax_op>},
    {"cummin", "x, axis=", "Running minimum.", cumulative<cummin_op>},
};
constexpr BuiltinDef order[] = {
    {"sort", "x, axis=, descending=", "In ascending order along the last axis or the given one.", sorting<sort_op>},
    {"argsort", "x, axis=, descending=", "Indices that sort.", sorting<argsort_op>},
    {"top_k", "x, k", "The k largest along the last axis and their indices.", top_k},
    {"search_top", "places, weights, ids, factors, n, k", "The k rows of an index with the largest products with one sparse vector (see search).", search_top},
};
}
const BuiltinList reduction_builtins = list;
const BuiltinList order_builtins = order;

}  // namespace tercet
