// pmap: a function of one device applied on all of them.
#include <fmt/format.h>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/ops/pmap.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/common_keys.h"
#include "interpreter/runtime/device.h"

namespace tercet {

// ---- the axes around a place ----
int64_t Elaborator::axis_level(const std::optional<Sym>& name, const char* what) {
  if (axes_.empty())
    error(Kind::Name, fmt::format("`{}` works over the lanes of a vmap or the devices of a pmap, and there is none around it", what),
          fmt::format("call it in a function that is mapped: vmap(x => {}(…))(xs)", what));
  if (!name || name->is_none()) return static_cast<int64_t>(axes_.size()) - 1;
  const std::string wanted = static_string(*name, "the name of an axis");
  std::vector<std::string> names;
  for (size_t i = axes_.size(); i-- > 0;) {
    if (axes_[i].name == wanted) return static_cast<int64_t>(i);
    if (!axes_[i].name.empty()) names.push_back(axes_[i].name);
  }
  std::string near = closest_name(wanted, names);
  error(Kind::Name, fmt::format("no axis around this place is named \"{}\"", wanted),
        !near.empty() ? fmt::format("did you mean \"{}\"?", near) : names.empty() ? fmt::format("name it: vmap[axis=\"{}\"] f", wanted) : fmt::format("there are: {}", fmt::join(names, ", ")));
}

Dim Elaborator::axis_size(int64_t level, const char* what) {
  const MappedAxis& axis = axes_[static_cast<size_t>(level)];
  if (axis.size.constant()) return axis.size;
  for (Frame* f = frame_; f && f != axis.frame; f = f->parent())
    if (f->isolated())
      error(Kind::Unsupported, fmt::format("`{}` needs the number of lanes, which only the function around this one knows when it runs", what),
            "jit the function that is mapped from outside: jit (x => vmap(f)(x))");
  return axis.size;
}

// ---- pmap ----
/// Over how many devices, and the length of what is dealt out.
struct Elaborator::Devices { Dim count, length; };

Elaborator::Devices Elaborator::devices_of(const TransformSpec& spec, const std::vector<LaneLeaf>& leaves) {
  const LaneLeaf* first = nullptr;
  for (const LaneLeaf& l : leaves)
    if (l.axis && !first) first = &l;
  int64_t wanted = spec.devices ? spec.devices : environment_.device_count();
  if (environment_.device_count() && spec.devices > environment_.device_count())
    error(Kind::Device, fmt::format("pmap asks for {} devices, and there are {}", spec.devices, environment_.device_count()), "start with --devices, or leave `devices` out");
  if (wanted > most_host_devices) error(Kind::Device, fmt::format("pmap asks for {} devices, and this machine makes {} at most", wanted, most_host_devices), "give each device more: pmap[split=true, devices=n]");
  if (!first && spec.devices) return {Dim(wanted), Dim(wanted)};
  Dim length = lane_count(leaves, spec);
  if (spec.split) {   // an array that lies in pieces is dealt out so
    for (const LaneLeaf& l : leaves)
      if (!wanted && l.axis && l.leaf.placement.axis == *l.axis) wanted = l.leaf.placement.devices;
    return {Dim(wanted ? wanted : available_cores()), length};
  }
  if (!wanted) return {length, length};
  require_equal(length, Dim(wanted), fmt::format("pmap gives each device one element of axis {} of `{}`: it has {{left}}, and there are {{right}} devices", *first->axis, first->title),
                fmt::format("pmap[split=true] deals out any length in chunks; pad_to(x, multiple_of={0}) or drop_to(x, multiple_of={0}), then reshape to ({0}, -1), makes equal ones", wanted));
  return {Dim(wanted), Dim(wanted)};
}

/// psum or pmean of every array of a result; a mean counts each device by the length of its chunk.
Sym Elaborator::reduce_over_devices(const Sym& result, const std::string& how, const std::optional<Dim>& share) {
  const BuiltinDef& reduction = *find_builtin(how == "sum" ? "psum" : "pmean");
  std::vector<CallArgument> arguments{{"", result, span_}};
  if (how == "mean" && share) arguments.push_back({"weight", size_leaf(*share), span_});
  return call_builtin(reduction, std::move(arguments), span_);
}

Sym Elaborator::apply_pmap(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span) {
  const TransformSpec& spec = *t.spec;
  for (const MappedAxis& axis : axes_)
    if (axis.devices) error(Kind::Unsupported, "a pmap inside a pmap", "vmap inside a pmap uses the cores of its device");
  const std::vector<LaneLeaf> leaves = read_lanes(t, arguments);
  const Devices devices = devices_of(spec, leaves);
  const int64_t level = static_cast<int64_t>(axes_.size());
  std::optional<Dim> share;
  if (spec.split) share = Dim::symbol("share");

  Frame* outer = frame_;
  Frame body("device", outer);
  std::vector<ValueId> inputs;
  std::vector<Leaf> params;
  for (const LaneLeaf& l : leaves) {
    if (!l.axis) continue;
    Leaf x = move_axis(frame_->result(use(l.leaf), l.leaf.weak), *l.axis, 0);
    inputs.push_back(use(x));
    Type type = x.type;
    if (share) type.dims[0] = *share;
    else type.dims.erase(type.dims.begin());
    if (!share && !type.dims.empty() && type.dims[0].is_ragged()) type.dims[0] = Dim::symbol("k");   // each its own length
    params.push_back(body.param(type, l.leaf.weak));
  }
  const int64_t consumed = static_cast<int64_t>(inputs.size());

  frame_ = &body;
  Sym result;
  std::vector<Leaf> results;
  std::vector<ValueId> ids;
  PmapAttrs attrs{devices.count, share, devices.length, consumed, level, {}};
  try {
    AxisScope named(axes_, {spec.axis, devices.count, &body, true});
    size_t leaf = 0, param = 0;
    std::vector<CallArgument> inner = arguments;
    for (CallArgument& a : inner)
      a.value = map_leaves<Leaf>(a.value, [&](const Leaf& x) {
        const LaneLeaf& l = leaves[leaf++];
        if (!l.axis) return x;
        return share ? move_axis(params[param++], 0, *l.axis) : params[param++];
      });
    result = apply(*t.function, std::move(inner), span_);
    if (!spec.reduce.empty()) result = reduce_over_devices(result, spec.reduce, share);
    collect_leaves(result, results);
    for (Leaf& x : results) {
      bool joins = share && spec.reduce.empty() && x.type.rank() > 0;
      if (joins) x = move_axis(body.result(use(x), x.weak), out_axis(x, spec.out, x.type.rank()), 0);
      attrs.joins.push_back(static_cast<int64_t>(spec.out_common ? PmapJoin::First : joins ? PmapJoin::Concat : PmapJoin::Stack));
      ids.push_back(use(x));
    }
  } catch (...) {
    frame_ = outer;
    throw;
  }
  frame_ = outer;
  FunctionPtr f = body.finish(ids);
  std::vector<bool> own(inputs.size(), true);
  for (const Leaf& c : body.captures()) {
    inputs.push_back(mark_at_border(builder(), use(c), "common", span_));
    own.push_back(false);
  }
  f = mark_common_keys(*f, own, level);
  std::vector<ValueId> values = emit_pmap(builder(), f, std::move(inputs), attrs, span_);
  size_t at = 0;
  return map_leaves<Leaf>(result, [&](const Leaf&) {
    size_t i = at++;
    Leaf x = frame_->result(mark_at_border(builder(), values[i], "own", span_), results[i].weak);
    return attrs.joins[i] == static_cast<int64_t>(PmapJoin::First) ? x : move_axis(x, 0, out_axis(x, spec.out, x.type.rank()));
  });
}

/// The axis that `out` means for a result of that rank.
int64_t Elaborator::out_axis(const Leaf& x, int64_t out, int rank) const {
  int64_t to = out < 0 ? out + rank : out;
  if (to < 0 || to >= rank) error(Kind::Shape, fmt::format("the result {} has no axis {} for `out`", describe(x), out));
  return to;
}

}  // namespace tercet
