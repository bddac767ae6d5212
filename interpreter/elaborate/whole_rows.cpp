// Arrays whose rows differ in length, taken whole: rows that go together in operators, and functions of the library that
// work within rows.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

/// What a function does with rows of different length when its axis is not given.
enum class Default : uint8_t {
  Everything,   // all elements, as one row: sum(r)
  Rows          // each row: sort(r)
};
struct RowFunction {
  const char* name;
  Default without_axis;
  size_t argument = 0;   // which one the rows are
};
constexpr RowFunction row_functions[] = {
    {"sum", Default::Everything}, {"prod", Default::Everything}, {"max", Default::Everything}, {"min", Default::Everything},
    {"any", Default::Everything}, {"all", Default::Everything}, {"argmax", Default::Everything}, {"argmin", Default::Everything},
    {"count", Default::Everything}, {"cumsum", Default::Everything}, {"cumprod", Default::Everything}, {"cummax", Default::Everything},
    {"cummin", Default::Everything}, {"mean", Default::Everything}, {"var", Default::Everything}, {"std", Default::Everything},
    {"norm", Default::Everything}, {"average", Default::Everything}, {"ptp", Default::Everything}, {"quantile", Default::Everything},
    {"percentile", Default::Everything}, {"median", Default::Everything}, {"nansum", Default::Everything}, {"nanmean", Default::Everything},
    {"nanmax", Default::Everything}, {"nanmin", Default::Everything}, {"logsumexp", Default::Everything},
    {"sort", Default::Rows}, {"argsort", Default::Rows}, {"softmax", Default::Rows}, {"log_softmax", Default::Rows}, {"diff", Default::Rows},
    {"flip", Default::Rows}, {"top_k", Default::Rows}, {"bincount", Default::Rows}, {"unique", Default::Rows}, {"unique_counts", Default::Rows},
    {"nonzero", Default::Rows}, {"layer_norm", Default::Rows}, {"rms_norm", Default::Rows}, {"one_hot", Default::Rows}, {"windows", Default::Rows},
    {"ngrams", Default::Rows}, {"isin", Default::Rows}, {"roll", Default::Rows}, {"zeros_like", Default::Rows}, {"ones_like", Default::Rows},
    {"full_like", Default::Rows}, {"digitize", Default::Rows}, {"interp", Default::Rows}, {"searchsorted", Default::Rows, 1}, {"searchsorted", Default::Rows, 0}, {"take", Default::Rows, 1},
    {"take_along_axis", Default::Rows}, {"convolve", Default::Rows}, {"tile", Default::Rows}, {"repeat_each", Default::Everything},
    {"histogram", Default::Everything}, {"cross_entropy", Default::Everything}};

/// The library's function of that value, where these arguments hold the rows that it takes; or null.
const RowFunction* row_function(const Sym& function, std::span<const CallArgument> arguments) {
  std::string name;
  if (auto* c = function.as<Sym::Closure>(); c && c->library()) name = c->code->name;
  if (auto* b = function.as<Sym::Builtin>()) name = b->def->name;
  for (const RowFunction& f : row_functions) {
    if (name != f.name || f.argument >= arguments.size() || !arguments[f.argument].name.empty()) continue;
    if (const Leaf* x = arguments[f.argument].value.leaf(); x && x->type.is_ragged()) return &f;
  }
  return nullptr;
}

/// The function of all elements, as one row. Of two arguments with rows, the elements go together.
Sym apply_to_elements(Elaborator& e, const Sym& function, std::vector<CallArgument> arguments, Span span) {
  const Leaf first = [&] {
    for (const CallArgument& a : arguments)
      if (const Leaf* x = a.value.leaf(); x && x->type.is_ragged()) return *x;
    return Leaf();
  }();
  ValueId lengths = no_value;
  for (CallArgument& a : arguments) {
    const Leaf* x = a.value.leaf();
    if (!x || !x->type.is_ragged()) continue;
    if (x->id != first.id || x->frame != first.frame) {
      if (lengths == no_value) lengths = e.builder().emit(row_offsets_op, {e.use(first)}, {}, span);
      e.require_equal(first.type.dims[0], x->type.dims[0], "{left} rows against {right}");
      e.emit_effect(check_rows_op, {lengths, e.builder().emit(row_offsets_op, {e.use(*x)}, {}, span)}, {});
    }
    a.value = e.emit(*find_op("flatten"), {e.use(*x)}, {{"defines", Dim::symbol("total")}}, x->weak);
  }
  return e.apply(function, std::move(arguments), span);
}

}  // namespace

Sym Elaborator::rows_together(std::span<const Leaf> leaves, const std::function<Sym(std::span<const Leaf>)>& body) {
  const Leaf* first = nullptr;   // the ragged one whose lengths hold
  for (const Leaf& x : leaves)
    if (x.type.is_ragged() && (!first || x.type.rank() > first->type.rank())) first = &x;
  TERCET_CHECK(first);
  const Dim rows = first->type.dims[0];
  const int rank = first->type.rank();
  std::vector<Leaf> mapped;
  std::vector<bool> is_mapped;
  ValueId lengths = no_value;
  for (const Leaf& x : leaves) {
    // From the last axis: one axis less than the rows have means the same for every row.
    bool along = x.type.rank() == rank && !(x.type.dims[0].is(1) && !x.type.is_ragged());
    is_mapped.push_back(along);
    if (x.type.is_ragged() && !along) error(Kind::Shape, fmt::format("{} and {} do not go together", describe(*first), describe(x)), "axes go together from the last one: y[:, :, none] gives an axis of size 1 behind the rows");
    if (x.type.rank() > rank) error(Kind::Shape, fmt::format("{} and {} do not go together", describe(*first), describe(x)), "rows take a value each from an array of shape (rows, 1)");
    if (!along) continue;
    if (!(x.type.dims[0] == rows)) require_equal(rows, x.type.dims[0], "{left} rows against {right}");
    if (x.type.is_ragged() && x.type.dims[1].is_ragged() && x.id != first->id) {
      if (lengths == no_value) lengths = builder().emit(row_offsets_op, {use(*first)}, {}, span_);
      emit_effect(check_rows_op, {lengths, builder().emit(row_offsets_op, {use(x)}, {}, span_)}, {});
    }
    Leaf y = frame_->result(use(x), x.weak);
    if (!(x.type.dims[0] == rows) && !x.type.is_ragged()) {
      std::vector<Dim> dims = x.type.dims;
      dims[0] = rows;
      y = broadcast_to(y, dims);
    }
    mapped.push_back(y);
  }
  return map_lanes("row", rows, mapped, [&](std::span<const Leaf> params) -> Sym {
    std::vector<Leaf> inner;
    size_t at = 0;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (is_mapped[i]) inner.push_back(params[at++]);
      else if (leaves[i].type.rank() == rank) inner.push_back(reshape(leaves[i], {leaves[i].type.dims.begin() + 1, leaves[i].type.dims.end()}));
      else inner.push_back(leaves[i]);
    }
    return body(inner);
  }, true);
}

std::optional<Sym> Elaborator::call_on_rows(const Sym& function, std::vector<CallArgument>& arguments, Span span) {
  if (std::none_of(arguments.begin(), arguments.end(), [](const CallArgument& a) { const Leaf* x = a.value.leaf(); return x && x->type.is_ragged(); })) return std::nullopt;
  const RowFunction* known = row_function(function, arguments);
  if (!known) return std::nullopt;
  const Leaf* x = arguments[known->argument].value.leaf();
  // Where the axis stands: by name, or at the place of the parameter.
  std::vector<std::string> names = parameter_names(function);
  auto place = static_cast<size_t>(std::find(names.begin(), names.end(), "axis") - names.begin());
  Sym* axis = nullptr;
  size_t position = 0;
  for (CallArgument& a : arguments) {
    if (a.name == "axis" || (a.name.empty() && position == place)) axis = &a.value;
    position += a.name.empty();
  }
  const int rank = x->type.rank();
  if (!axis || axis->is_none()) {
    if (known->without_axis == Default::Everything) return apply_to_elements(*this, function, std::move(arguments), span);
  } else if (!axis->as<Sym::Tuple>()) {
    int64_t k = this->axis(*axis, rank, "`axis`");
    if (k == 0)
      error(Kind::Unsupported, fmt::format("`{}` across rows of different length: this is {}", known->name, describe(*x)), "pad(x) makes them of one length; axis=1 goes along each row");
    *axis = int_leaf(k - 1);
  } else {
    Sym::Tuple inner;
    std::vector<int64_t> along = axes(*axis, rank);
    if (along.size() > 1 && along[0] == 0 && along[1] == 1 && x->type.dims[1].is_ragged()) {   // all rows as one
      for (int64_t k : std::span(along).subspan(1)) inner.elements.push_back(int_leaf(k - 1));
      *axis = inner;
      return apply_to_elements(*this, function, std::move(arguments), span);
    }
    for (int64_t k : along) {
      if (k == 0) error(Kind::Unsupported, fmt::format("`{}` across rows of different length: this is {}", known->name, describe(*x)), "leave the axis out for all elements");
      inner.elements.push_back(int_leaf(k - 1));
    }
    *axis = inner;
  }
  std::vector<Leaf> ragged;
  for (const CallArgument& a : arguments)
    if (const Leaf* y = a.value.leaf(); y && y->type.is_ragged()) ragged.push_back(*y);
  return rows_together(ragged, [&](std::span<const Leaf> rows) -> Sym {
    std::vector<CallArgument> inner = arguments;
    size_t at = 0;
    for (CallArgument& a : inner)
      if (const Leaf* y = a.value.leaf(); y && y->type.is_ragged()) a.value = rows[at++];
    return apply(function, std::move(inner), span);
  });
}

Leaf Elaborator::concat_ragged(std::span<const Leaf> parts) {
  for (const Leaf& x : parts)
    if (x.type.rank() != parts[0].type.rank()) error(Kind::Shape, fmt::format("concat takes arrays with equally many axes: {} and {}", describe(parts[0]), describe(x)));
  auto levels = [](const Leaf& x) { return std::count_if(x.type.dims.begin(), x.type.dims.end(), [](const Dim& d) { return d.is_ragged(); }); };
  if (std::any_of(parts.begin(), parts.end(), [&](const Leaf& x) { return levels(x) > 1 || (levels(x) == 1 && !x.type.dims[1].is_ragged()); })) {
    std::vector<ValueId> inputs;
    for (const Leaf& x : parts) {
      if (x.type.dtype != parts[0].type.dtype) error(Kind::Shape, fmt::format("concat takes arrays with equally many axes: {} and {}", describe(parts[0]), describe(x)));
      for (size_t k = 1; k < x.type.dims.size(); ++k)
        if (!x.type.dims[k].is_ragged() && !parts[0].type.dims[k].is_ragged()) require_equal(parts[0].type.dims[k], x.type.dims[k], "concat takes rows of one shape: size {left} against {right}");
      inputs.push_back(use(x));
    }
    return emit(concat_whole_op, std::move(inputs));
  }
  std::vector<Leaf> values, lengths;
  for (const Leaf& x : parts) {
    for (size_t k = 2; k < x.type.dims.size(); ++k) {
      require_equal(parts[0].type.dims[k], x.type.dims[k], "concat takes rows of one shape: size {left} against {right}");
    }
    if (x.type.is_ragged()) {
      values.push_back(emit(*find_op("flatten"), {use(x)}, {{"defines", Dim::symbol("total")}}));
      lengths.push_back(emit(*find_op("lengths"), {use(x)}));
    } else {
      std::vector<Dim> dims(x.type.dims.begin() + 1, x.type.dims.end());
      dims[0] = x.type.dims[0] * x.type.dims[1];
      values.push_back(reshape(frame_->result(use(x)), dims));
      lengths.push_back(full({x.type.dims[0]}, size_leaf(x.type.dims[1]), DType::I64));
    }
  }
  return emit(*find_op("ragged"), {use(concat(values, 0)), use(concat(lengths, 0))});
}

}  // namespace tercet
