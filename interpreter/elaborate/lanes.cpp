// vmap: a function of one lane applied to all lanes.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/batch.h"
#include "interpreter/passes/common_keys.h"

namespace tercet {

Sym Elaborator::map_lanes(const std::string& name, const Dim& lanes, std::span<const Leaf> mapped,
                          const std::function<Sym(std::span<const Leaf>)>& body, bool equal_rows, const std::string* axis) {
  const int64_t level = axis ? static_cast<int64_t>(axes_.size()) : -1;
  std::vector<BatchedValue> arguments;
  for (const Leaf& x : mapped) {
    arguments.push_back({use(x), true});
  }
  Frame* outer = frame_;
  Frame lane(name, outer);
  frame_ = &lane;
  Sym result;
  std::vector<Leaf> leaves;
  std::vector<ValueId> ids;
  try {
    std::vector<Leaf> params;
    const Dim one_length = Dim::symbol("k");
    for (const Leaf& x : mapped) {
      Type type = x.type;
      type.dims.erase(type.dims.begin());
      if (!type.dims.empty() && type.dims[0].is_ragged()) type.dims[0] = equal_rows ? one_length : Dim::symbol("k");   // each row its own length
      params.push_back(lane.param(type, x.weak));
    }
    {
      std::optional<AxisScope> named;
      if (axis) named.emplace(axes_, MappedAxis{*axis, lanes, &lane, false});
      result = body(params);
    }
    collect_leaves(result, leaves);
    for (const Leaf& x : leaves) ids.push_back(use(x));
  } catch (...) {
    frame_ = outer;
    throw;
  }
  frame_ = outer;
  FunctionPtr f = lane.finish(ids);
  for (const Leaf& c : lane.captures()) arguments.push_back({use(c), false});
  bool effects = has_effects(*f);
  if (effects) emit_effect(region_begin_op, {}, {});
  std::vector<BatchedValue> values;
  size_t mark = builder().mark();
  try {
    values = batch_into(builder(), *f, arguments, lanes, level);
  } catch (const LaneDependentSize&) {
    builder().rollback(mark);
    values = lanes_one_by_one(*f, arguments, lanes, level);
  }
  if (effects) emit_effect(region_end_op, {}, {});
  size_t at = 0;
  return map_leaves<Leaf>(result, [&](const Leaf& x) {
    BatchedValue v = values[at++];
    Leaf out = frame_->result(v.value, x.weak);
    if (v.mapped) return out;
    std::vector<Dim> dims = out.type.dims;
    dims.insert(dims.begin(), lanes);
    return broadcast_to(out, dims);
  });
}

/// Lanes whose sizes differ run one after another, each with its own sizes; results that differ in size are ragged.
std::vector<BatchedValue> Elaborator::lanes_one_by_one(const Function& f, std::span<const BatchedValue> arguments, const Dim& lanes, int64_t level) {
  Builder body("lane");
  body.param({DType::I64, {}});
  std::vector<ValueId> params, inputs;
  std::vector<bool> mapped;
  int64_t consumed = 0;
  for (size_t i = 0; i < f.params.size(); ++i) {   // the mapped arguments come first
    params.push_back(body.param(f.type(f.params[i])));
    mapped.push_back(arguments[i].mapped);
    inputs.push_back(mapped[i] ? arguments[i].value : mark_at_border(builder(), arguments[i].value, "common", span_));
    consumed += mapped[i];
  }
  std::vector<ValueId> results = inline_function(body, *mark_common_keys(f, mapped, level), params);
  std::vector<BatchedValue> out;
  Attrs attrs{{"length", lanes}, {"carried", int64_t{0}}, {"consumed", consumed}, {"lanes", true}};
  for (ValueId v : builder().emit_many(scan_op, std::move(inputs), std::move(attrs), span_, {body.finish(results)}))
    out.push_back({mark_at_border(builder(), v, "own", span_), true});
  return out;
}

/// Reads which arrays of a vmap's arguments are mapped, and along which axis.
class Elaborator::LaneReader {
 public:
  LaneReader(Elaborator& e, const TransformSpec& spec, std::vector<std::string> names) : e_(e), spec_(spec), names_(std::move(names)) {}
  std::vector<LaneLeaf> leaves;      // in the order of collect_leaves over the arguments

  void arguments(std::vector<CallArgument>& arguments) {
    check_names();
    size_t position = 0;
    for (CallArgument& a : arguments) {
      if (a.value.as<Sym::Range>()) a.value = e_.array(a.value, word());
      std::string name = a.name.empty() ? (position < names_.size() ? names_[position] : "") : a.name;
      size_t at = a.name.empty() ? position++ : static_cast<size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
      read(a.value, spec_of(name, at), name.empty() ? fmt::format("argument {}", at + 1) : name);
    }
    if (spec_.positional.size() > std::max(arguments.size(), names_.size()))
      e_.error(Kind::Type, fmt::format("{} has {} axes for {} arguments", word(), spec_.positional.size(), arguments.size()));
  }

 private:
  const char* word() const { return ast::spelling(spec_.kind); }
  static const AxisSpec* shared() {
    static const AxisSpec spec;
    return &spec;
  }

  void check_names() const {
    for (auto& [name, axis] : spec_.named) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
      std::string near = closest_name(name, names_);
      e_.error(Kind::Name, fmt::format("{}[{}=…]: the function has no parameter `{}`", word(), name, name), near.empty() ? "" : fmt::format("did you mean `{}`?", near));
    }
  }

  /// The spec of a parameter; null: nothing was given, so every array is mapped along axis 0.
  const AxisSpec* spec_of(const std::string& name, size_t at) const {
    for (auto& [n, s] : spec_.named)
      if (n == name && !name.empty()) return &s;
    if (spec_.positional.empty() && spec_.named.empty()) return nullptr;
    return at < spec_.positional.size() ? &spec_.positional[at] : shared();
  }

  static const AxisSpec* child(const AxisSpec* axis, size_t i, const std::string& field) {
    if (!axis || axis->kind == AxisSpec::Kind::Axis || axis->kind == AxisSpec::Kind::Shared) return axis;
    if (axis->kind == AxisSpec::Kind::Tuple && i < axis->children.size()) return &axis->children[i];
    for (size_t k = 0; k < axis->names.size(); ++k)
      if (axis->names[k] == field) return &axis->children[k];
    return shared();
  }

  void read(const Sym& value, const AxisSpec* axis, const std::string& title) {
    if (value.is_function()) {   // what it captured goes through as it is
      std::vector<Leaf> inside;
      collect_leaves(value, inside);
      for (Leaf& x : inside) leaves.push_back({x, std::nullopt, title});
    } else if (auto* x = value.leaf()) {
      leaves.push_back({*x, axis_of(*x, axis, title), title});
    } else if (auto* tuple = value.as<Sym::Tuple>()) {
      for (size_t i = 0; i < tuple->elements.size(); ++i) read(tuple->elements[i], child(axis, i, ""), fmt::format("{}[{}]", title, i));
    } else if (auto* record = value.as<Sym::Record>()) {
      for (size_t i = 0; i < record->names.size(); ++i) read(record->values[i], child(axis, i, record->names[i]), title + "." + record->names[i]);
    } else if (auto* range = value.as<Sym::Range>()) {
      read(*range->low, axis, title);
      read(*range->high, axis, title);
    }
  }

  std::optional<int64_t> axis_of(const Leaf& x, const AxisSpec* axis, const std::string& title) const {
    int rank = x.type.rank();
    if (!axis) return rank ? std::optional<int64_t>(0) : std::nullopt;
    if (axis->kind == AxisSpec::Kind::Shared) return std::nullopt;
    if (axis->kind != AxisSpec::Kind::Axis) e_.error(Kind::Type, fmt::format("`{}` is {}, and its axes are given as {}", title, describe(x), text_of(*axis)));
    if (rank == 0) e_.error(Kind::Shape, fmt::format("{} maps axis {} of `{}`, which is the scalar {}", word(), axis->axis, title, describe(x)), "write `_` for it: it is shared");
    if (axis->axis < -rank || axis->axis >= rank) e_.error(Kind::Shape, fmt::format("`{}` is {} and has no axis {}", title, describe(x), axis->axis));
    int64_t at = axis->axis < 0 ? axis->axis + rank : axis->axis;
    if (x.type.is_ragged() && at != 0) e_.error(Kind::Unsupported, fmt::format("axis {} of `{}`: rows of different length are mapped along axis 0", at, title));
    return at;
  }

  Elaborator& e_;
  const TransformSpec& spec_;
  std::vector<std::string> names_;
};

/// The number of lanes, on which all mapped arrays agree.
Dim Elaborator::lane_count(const std::vector<LaneLeaf>& leaves, const TransformSpec& spec) {
  const LaneLeaf* first = nullptr;
  for (const LaneLeaf& l : leaves) {
    if (!l.axis) continue;
    if (!first) first = &l;
    else
      require_equal(first->leaf.type.dims[static_cast<size_t>(*first->axis)], l.leaf.type.dims[static_cast<size_t>(*l.axis)],
                    fmt::format("{} maps sizes that differ: `{}` has {{left}}, `{}` has {{right}}", ast::spelling(spec.kind), first->title, l.title),
                    "map them along axes of one size, or share one with `_`");
  }
  if (first) return first->leaf.type.dims[static_cast<size_t>(*first->axis)];
  if (spec.size >= 0) return Dim(spec.size);
  const char* word = ast::spelling(spec.kind);
  error(Kind::Type, fmt::format("{} maps nothing: no argument is an array", word), fmt::format("give it an array, or call the function without {}", word));
}

std::vector<Elaborator::LaneLeaf> Elaborator::read_lanes(const Sym::Transformed& t, std::vector<CallArgument>& arguments) {
  LaneReader reader(*this, *t.spec, parameter_names(*t.function));
  reader.arguments(arguments);
  return std::move(reader.leaves);
}

Sym Elaborator::apply_vmap(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span) {
  const std::vector<LaneLeaf> leaves = read_lanes(t, arguments);
  Dim lanes = lane_count(leaves, *t.spec);
  std::vector<Leaf> mapped;
  for (const LaneLeaf& l : leaves) {
    if (!l.axis) continue;
    Leaf x = move_axis(frame_->result(use(l.leaf), l.leaf.weak), *l.axis, 0);
    std::vector<Dim> dims = x.type.dims;
    dims[0] = lanes;   // one name for the lanes of all
    mapped.push_back(x.type.is_ragged() ? x : broadcast_to(x, dims));
  }
  Sym out = map_lanes("lane", lanes, mapped, [&](std::span<const Leaf> params) {
    size_t leaf = 0, param = 0;
    std::vector<CallArgument> inner = arguments;
    for (CallArgument& a : inner)
      a.value = map_leaves<Leaf>(a.value, [&](const Leaf& x) { return leaves[leaf++].axis ? params[param++] : x; });
    return apply(*t.function, std::move(inner), span_);
  }, false, &t.spec->axis);
  Placement pieces;   // lanes that lie in pieces are worked on there
  for (const LaneLeaf& l : leaves)
    if (l.axis && l.leaf.placement.devices && l.leaf.placement.axis == *l.axis) pieces = {l.leaf.placement.devices, 0};
  if (pieces.devices) out = map_leaves<Leaf>(out, [&](Leaf x) { return x.placement = pieces, x; });
  if (t.spec->out == 0) return out;
  return map_leaves<Leaf>(out, [&](const Leaf& x) {
    int64_t to = out_axis(x, t.spec->out, x.type.rank());
    Leaf moved = move_axis(x, 0, to);
    if (pieces.devices) moved.placement = {pieces.devices, static_cast<int8_t>(to)};
    return moved;
  });
}

}  // namespace tercet
