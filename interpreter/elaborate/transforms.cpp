// vmap and jit: a transformed function applied to arguments.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/jit_call.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/batch.h"

namespace tercet {
namespace {

const std::set<std::string>& option_names() {
  static const std::set<std::string> names{"out", "axis", "size", "devices", "reduce", "split", "threads", "math", "aux"};
  return names;
}

AxisSpec read_axis(const ast::Expr& e) {
  AxisSpec out;
  if (e.as<ast::Placeholder>()) return out;
  if (auto* n = e.as<ast::IntLiteral>()) {
    out.kind = AxisSpec::Kind::Axis;
    out.axis = n->negative ? -static_cast<int64_t>(n->magnitude) : static_cast<int64_t>(n->magnitude);
    return out;
  }
  if (auto* t = e.as<ast::Tuple>()) {
    out.kind = AxisSpec::Kind::Tuple;
    for (const auto& x : t->elements) out.children.push_back(read_axis(*x));
    return out;
  }
  if (auto* r = e.as<ast::Record>()) {
    out.kind = AxisSpec::Kind::Record;
    for (const auto& f : r->fields) out.names.push_back(f.name), out.children.push_back(read_axis(*f.value));
    return out;
  }
  fail(Kind::Syntax, e.span, "an axis is a number, `_` for shared, or a tuple or record of these", "as in vmap[0, _] or vmap[ids=0]");
}

std::string text_of(const AxisSpec& s) {
  if (s.kind == AxisSpec::Kind::Axis) return std::to_string(s.axis);
  if (s.kind == AxisSpec::Kind::Shared) return "_";
  std::string out;
  for (size_t i = 0; i < s.children.size(); ++i) out += (i ? "," : "") + (s.names.empty() ? "" : s.names[i] + "=") + text_of(s.children[i]);
  return "(" + out + ")";
}

}  // namespace

TransformSpec Elaborator::read_spec(const ast::Transform& t) {
  TransformSpec out;
  out.kind = t.kind;
  for (const ast::Argument& a : t.specs) {
    out.text += (out.text.empty() ? "" : ",") + (a.name.empty() ? "" : a.name + "=");
    if (!a.name.empty() && option_names().count(a.name)) {
      SpanScope at(*this, a.span);
      if (a.name == "out" && a.value->as<ast::IntLiteral>()) out.out = read_axis(*a.value).axis;
      else if (a.name == "size") out.size = static_int(expr(a.value), "`size`");
      else if (a.name == "threads") out.threads = static_int(expr(a.value), "`threads`");
      else if (a.name == "axis") static_string(expr(a.value), "`axis`");
      else error(Kind::Unsupported, fmt::format("the option `{}` of {} is not there yet", a.name, ast::spelling(t.kind)));
      out.text += std::to_string(out.out + out.size + out.threads);
      continue;
    }
    if (t.kind == ast::TransformKind::Jit) fail(Kind::Name, a.span, "jit has the options `threads` and `math`");
    AxisSpec axis = read_axis(*a.value);
    out.text += text_of(axis);
    if (a.name.empty()) out.positional.push_back(std::move(axis));
    else out.named.emplace_back(a.name, std::move(axis));
  }
  return out;
}

Sym Elaborator::transform(const ast::Transform& t) {
  if (t.kind == ast::TransformKind::Grad || t.kind == ast::TransformKind::Pmap)
    error(Kind::Unsupported, fmt::format("`{}` is not there yet", ast::spelling(t.kind)), t.kind == ast::TransformKind::Pmap ? "vmap and jit use all cores of this machine" : "");
  Sym f = expr(t.operand);
  if (!f.is_function())
    error(Kind::Type, fmt::format("`{}` takes a function, and this is {}", ast::spelling(t.kind), describe(f)), "axes go in brackets: vmap[0, _] f");
  TransformSpec spec = read_spec(t);
  spec.span = span_;
  return Sym::Transformed{std::make_shared<const TransformSpec>(std::move(spec)), std::make_shared<const Sym>(std::move(f))};
}

Sym Elaborator::apply_transformed(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span) {
  SpanScope at(*this, span);
  if (t.spec->kind == ast::TransformKind::Vmap) return apply_vmap(t, std::move(arguments), span);
  return apply_jit(t, std::move(arguments), span);
}

// ---- vmap ----
Sym Elaborator::map_lanes(const std::string& name, const Dim& lanes, std::span<const Leaf> mapped,
                          const std::function<Sym(std::span<const Leaf>)>& body) {
  std::vector<BatchedValue> arguments;
  bool ragged = false;
  for (const Leaf& x : mapped) {
    arguments.push_back({use(x), true});
    ragged |= x.type.is_ragged();
  }
  Frame* outer = frame_;
  Frame lane(name, outer);
  frame_ = &lane;
  Sym result;
  std::vector<Leaf> leaves;
  std::vector<ValueId> ids;
  try {
    std::vector<Leaf> params;
    for (const Leaf& x : mapped) {
      Type type = x.type;
      type.dims.erase(type.dims.begin());
      if (!type.dims.empty() && type.dims[0].is_ragged()) type.dims[0] = Dim::symbol("k");   // each row its own length
      params.push_back(lane.param(type, x.weak));
    }
    result = body(params);
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
    if (!ragged) values = batch_into(builder(), *f, arguments, lanes);
  } catch (const LaneDependentSize&) {
    builder().rollback(mark);
    ragged = true;
  }
  if (ragged) values = lanes_one_by_one(*f, arguments, lanes);
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
std::vector<BatchedValue> Elaborator::lanes_one_by_one(const Function& f, std::span<const BatchedValue> arguments, const Dim& lanes) {
  Builder body("lane");
  body.param({DType::I64, {}});
  std::vector<ValueId> params, inputs;
  int64_t consumed = 0;
  for (size_t i = 0; i < f.params.size(); ++i) {   // the mapped arguments come first
    params.push_back(body.param(f.type(f.params[i])));
    inputs.push_back(arguments[i].value);
    consumed += arguments[i].mapped;
  }
  std::vector<ValueId> results = inline_function(body, f, params);
  std::vector<BatchedValue> out;
  Attrs attrs{{"length", lanes}, {"carried", int64_t{0}}, {"consumed", consumed}, {"lanes", true}};
  for (ValueId v : builder().emit_many(scan_op, std::move(inputs), std::move(attrs), span_, {body.finish(results)})) out.push_back({v, true});
  return out;
}

namespace {

/// The arrays of a call with the axis each is mapped along; nullopt is shared.
struct LaneLeaf { Leaf leaf; std::optional<int64_t> axis; std::string title; };

}  // namespace

Sym Elaborator::apply_vmap(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span) {
  const TransformSpec& spec = *t.spec;
  std::vector<std::string> names = parameter_names(*t.function);
  std::vector<LaneLeaf> leaves;
  size_t position = 0;
  for (auto& [name, axis] : spec.named)
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string near = closest_name(name, names);
      error(Kind::Name, fmt::format("vmap[{}=…]: the function has no parameter `{}`", name, name), near.empty() ? "" : fmt::format("did you mean `{}`?", near));
    }
  bool given = !spec.positional.empty() || !spec.named.empty();
  std::function<void(const Sym&, const AxisSpec*, const std::string&)> read = [&](const Sym& value, const AxisSpec* axis, const std::string& title) {
    if (value.is_function()) {   // what it captured goes through as it is
      std::vector<Leaf> inside;
      collect_leaves(value, inside);
      for (Leaf& x : inside) leaves.push_back({x, std::nullopt, title});
      return;
    }
    if (auto* leaf = value.leaf()) {
      int rank = leaf->type.rank();
      if (!axis) return leaves.push_back({*leaf, rank ? std::optional<int64_t>(0) : std::nullopt, title});
      if (axis->kind == AxisSpec::Kind::Shared) return leaves.push_back({*leaf, std::nullopt, title});
      if (axis->kind != AxisSpec::Kind::Axis) error(Kind::Type, fmt::format("`{}` is {}, and its axes are given as {}", title, describe(value), text_of(*axis)));
      if (rank == 0) error(Kind::Shape, fmt::format("vmap maps axis {} of `{}`, which is the scalar {}", axis->axis, title, describe(*leaf)), "write `_` for it: it is shared");
      if (axis->axis < -rank || axis->axis >= rank) error(Kind::Shape, fmt::format("`{}` is {} and has no axis {}", title, describe(*leaf), axis->axis));
      return leaves.push_back({*leaf, axis->axis < 0 ? axis->axis + rank : axis->axis, title});
    }
    auto child = [&](size_t i, const std::string& field) -> const AxisSpec* {
      if (!axis || axis->kind == AxisSpec::Kind::Axis || axis->kind == AxisSpec::Kind::Shared) return axis;
      if (axis->kind == AxisSpec::Kind::Tuple && i < axis->children.size()) return &axis->children[i];
      for (size_t k = 0; k < axis->names.size(); ++k)
        if (axis->names[k] == field) return &axis->children[k];
      static const AxisSpec shared;
      return &shared;
    };
    if (auto* tuple = value.as<Sym::Tuple>())
      for (size_t i = 0; i < tuple->elements.size(); ++i) read(tuple->elements[i], child(i, ""), fmt::format("{}[{}]", title, i));
    if (auto* record = value.as<Sym::Record>())
      for (size_t i = 0; i < record->names.size(); ++i) read(record->values[i], child(i, record->names[i]), title + "." + record->names[i]);
    if (auto* range = value.as<Sym::Range>()) {
      read(*range->low, axis, title);
      read(*range->high, axis, title);
    }
  };
  static const AxisSpec shared;
  for (CallArgument& a : arguments) {
    if (a.value.as<Sym::Range>()) a.value = array(a.value, "vmap");
    std::string name = a.name.empty() ? (position < names.size() ? names[position] : "") : a.name;
    size_t at = a.name.empty() ? position++ : static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    const AxisSpec* axis = nullptr;
    if (given) axis = at < spec.positional.size() ? &spec.positional[at] : &shared;
    for (auto& [n, s] : spec.named)
      if (n == name && !name.empty()) axis = &s;
    read(a.value, axis, name.empty() ? fmt::format("argument {}", at + 1) : name);
  }
  if (spec.positional.size() > std::max(arguments.size(), names.size()))
    error(Kind::Type, fmt::format("vmap has {} axes for {} arguments", spec.positional.size(), arguments.size()));

  std::optional<Dim> lanes;
  const LaneLeaf* first = nullptr;
  for (const LaneLeaf& l : leaves) {
    if (!l.axis) continue;
    const Dim& size = l.leaf.type.dims[static_cast<size_t>(*l.axis)];
    if (!lanes) lanes = size, first = &l;
    else require_equal(*lanes, size, fmt::format("vmap maps sizes that differ: `{}` has {{left}}, `{}` has {{right}}", first->title, l.title), "map them along axes of one size, or share one with `_`");
  }
  if (!lanes && spec.size >= 0) lanes = Dim(spec.size);
  if (!lanes) error(Kind::Type, "vmap maps nothing: no argument is an array", "give it an array, or call the function without vmap");

  std::vector<Leaf> mapped;
  for (LaneLeaf& l : leaves)
    if (l.axis) {
      if (l.leaf.type.is_ragged() && *l.axis != 0) error(Kind::Unsupported, fmt::format("axis {} of `{}`: rows of different length are mapped along axis 0", *l.axis, l.title));
      Leaf x = move_axis(frame_->result(use(l.leaf), l.leaf.weak), *l.axis, 0);
      if (x.type.is_ragged()) {
        mapped.push_back(x);
        continue;
      }
      std::vector<Dim> dims = x.type.dims;
      dims[0] = *lanes;
      mapped.push_back(broadcast_to(x, dims));
    }
  Sym out = map_lanes("lane", *lanes, mapped, [&](std::span<const Leaf> params) {
    size_t leaf = 0, param = 0;
    std::vector<CallArgument> inner = arguments;
    for (CallArgument& a : inner)
      a.value = map_leaves<Leaf>(a.value, [&](const Leaf& x) { return leaves[leaf++].axis ? params[param++] : x; });
    return apply(*t.function, std::move(inner), span_);
  });
  if (spec.out == 0) return out;
  return map_leaves<Leaf>(out, [&](const Leaf& x) {
    int64_t to = spec.out < 0 ? spec.out + x.type.rank() : spec.out;
    if (to < 0 || to >= x.type.rank()) error(Kind::Shape, fmt::format("the result {} has no axis {} for `out`", describe(x), spec.out));
    return move_axis(x, 0, to);
  });
}

// ---- jit ----
std::shared_ptr<JitCounter> Elaborator::jit_counter(const Sym& function) {
  std::shared_ptr<JitCounter>& counter = environment_.jit_counters()[identity(function)];
  if (!counter) counter = std::make_shared<JitCounter>();
  return counter;
}

Sym Elaborator::apply_jit(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span) {
  if (inside_jit_) return apply(*t.function, std::move(arguments), span);   // one program already
  // Parameters of the compiled function: the arguments' arrays, then what the function captured.
  std::vector<Leaf> given;
  for (CallArgument& a : arguments) collect_leaves(a.value, given);
  collect_leaves(*t.function, given);
  Frame* outer = frame_;
  std::vector<bool> fixed(given.size(), false);
  for (;;) {
    Frame body("jit", outer, true);
    size_t at = 0;
    auto inside = [&](const Leaf& x) {
      size_t i = at++;
      if (fixed[i]) return x;
      Type type = x.type;
      for (Dim& d : type.dims)
        if (!d.is_ragged()) d = Dim::symbol(fmt::format("n{}", i));
      return body.param(type, x.weak);
    };
    std::vector<CallArgument> inner = arguments;
    for (CallArgument& a : inner) a.value = map_leaves<Leaf>(a.value, inside);
    Sym function = map_leaves<Leaf>(*t.function, inside);
    frame_ = &body;
    inside_jit_ = true;
    Sym result;
    std::vector<ValueId> ids;
    std::vector<Leaf> leaves;
    auto leave = [&] {
      frame_ = outer;
      inside_jit_ = false;
    };
    try {
      result = apply(function, std::move(inner), span);
      collect_leaves(result, leaves);
      for (const Leaf& x : leaves) ids.push_back(use(x));
    } catch (const StaticNeeded& needed) {
      // An argument that decides an axis: compiled per value.
      leave();
      size_t i = 0, param = 0;
      for (; i < given.size(); ++i)
        if (!fixed[i] && param++ == needed.parameter) break;
      if (i == given.size() || !given[i].constant) throw;
      fixed[i] = true;
      continue;
    } catch (...) {
      leave();
      throw;
    }
    leave();
    FunctionPtr f = body.finish(ids);
    return emit_jit_call(t, f, body, given, fixed, result, leaves);
  }
}

Sym Elaborator::emit_jit_call(const Sym::Transformed& t, const FunctionPtr& f, const Frame& body, std::span<const Leaf> given,
                              const std::vector<bool>& fixed, const Sym& result, std::span<const Leaf> leaves) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < given.size(); ++i)
    if (!fixed[i]) inputs.push_back(use(given[i]));
  for (const Frame::Hidden& h : body.hidden) inputs.push_back(use(hidden_leaf(h)));
  // The same program text means the same compiled code, whichever statement it was elaborated for.
  std::string key = fingerprint(*f) + fmt::format("/{}", t.spec->threads);
  std::shared_ptr<JitEntry>& entry = environment_.jit_entries()[key];
  if (!entry) {
    entry = std::make_shared<JitEntry>();
    entry->function = f;
    entry->threads = t.spec->threads;
    entry->counter = jit_counter(t);
  }
  std::vector<ValueId> ids = tercet::emit_jit_call(builder(), entry, std::move(inputs), span_);
  size_t at = 0;
  return map_leaves<Leaf>(result, [&](const Leaf&) {
    size_t i = at++;
    return frame_->result(ids[i], leaves[i].weak);
  });
}

}  // namespace tercet
