#include "interpreter/ops/effect_rules.h"

#include <algorithm>

#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;

/// The mask of an effect inside one more batch: what it had, and what the batch adds, over all lane axes.
ValueId combined_live(BatchContext& c, const Op& op, const BatchedValue* old_live, const std::vector<Dim>& lane_dims) {
  Builder& b = c.out();
  ValueId live = old_live ? c.mapped(*old_live, op.span) : no_value;
  if (c.live() == no_value) return live;
  ValueId outer = b.emit(broadcast_op, {c.live()}, {{"dims", lane_dims}, {"axes", Ints{0}}}, op.span);
  return live == no_value ? outer : b.emit(bit_and_op, {live, outer}, {}, op.span);
}

}  // namespace

Lanes::Lanes(const Op& op, std::span<const Array> in)
    : rank_(static_cast<size_t>(lane_axes(op))), shared_(static_cast<size_t>(op.attrs.get_or<int64_t>("shared", 0))) {
  if (has_live(op)) live_ = &in.back();
  if (has_ids(op)) {
    inner_ = rank_ > 0;
    rank_ = std::max<size_t>(rank_, 1);
  }
  if (rank_ && !in.empty()) for (size_t k = 0; k < rank_; ++k) sizes_.push_back(in[0].shape[k]);
  if (!has_ids(op)) return;
  const Array& ids = in[static_cast<size_t>(op.attrs.get_or<int64_t>("ids_at", 1))];
  const int64_t step = sizes_[0] ? ids.count() / sizes_[0] : 0;
  for (int64_t t = 0; t < sizes_[0]; ++t) ids_.push_back(ids.data<int64_t>()[t * step]);
}

LaneIndex Lanes::index(int64_t lane) const {
  LaneIndex out(rank_ + shared_);
  for (size_t k = rank_; k-- > 0; lane /= sizes_[k]) out[k] = lane % sizes_[k];
  if (ids_.empty()) return out;
  auto at = ids_.begin() + out[0];
  out[0] = at - std::lower_bound(ids_.begin(), at, *at);
  if (inner_) out.insert(out.begin(), *at);
  else out[0] = *at;
  return out;
}

std::vector<BatchedValue> batch_effect_mapped(BatchContext& c, const Op& op, std::span<const BatchedValue> in) {
  size_t operands = in.size() - has_live(op);
  std::vector<ValueId> inputs = all_mapped(c, in.first(operands), op.span);
  Attrs attrs;
  for (auto& [name, value] : op.attrs.items()) attrs.set(name, std::holds_alternative<Dim>(value) ? Attr(c.size(std::get<Dim>(value))) : value);
  attrs.set("lanes", lane_axes(op) + 1);
  std::vector<Dim> dims{c.lanes()};
  if (lane_axes(op)) {
    std::vector<Dim> inner = c.lane_type(in[0]).dims;
    dims.insert(dims.end(), inner.begin(), inner.begin() + lane_axes(op));
  }
  ValueId live = combined_live(c, op, has_live(op) ? &in.back() : nullptr, dims);
  attrs.set("has_live", live != no_value);
  if (live != no_value) inputs.push_back(live);
  return emit_mapped(c, op, std::move(inputs), std::move(attrs));
}

std::vector<BatchedValue> batch_check(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  bool mapped = c.live() != no_value || lane_axes(op) > 0;
  for (const BatchedValue& v : in) mapped |= v.mapped;
  bool nothing = in.empty() && c.live() == no_value;   // check_dims asks only about sizes
  if (mapped && !nothing) return batch_effect_mapped(c, op, in);
  Op shared = op;
  shared.attrs.set("shared", op.attrs.get_or<int64_t>("shared", 0) + 1);
  return c.emit_shared(f, shared, in);
}

// Example: check_index(index[k]) {size = n} of rows, inside no other vmap, becomes check_index(index[total], ids[total]) {size = n,
// ids}; with a size that differs, check_index(index[total], ids[total], size[total]) {ids, sized}.
std::vector<BatchedValue> flat_check(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  FlatEmitter e(c, op.span);
  Builder& b = c.out();
  const size_t operands = in.size() - has_live(op);
  const int64_t axes = lane_axes(op);
  if (has_ids(op) || op.attrs.get_or<int64_t>("shared", 0) > 0) fail_lane_dependent(op.span);
  Attrs attrs;
  std::vector<Dim> sizes;   // of which one differs, so that all become operands
  for (auto& [name, value] : op.attrs.items())
    if (const Dim* d = std::get_if<Dim>(&value)) sizes.push_back(*d);
  bool sized = c.varies(sizes);
  for (auto& [name, value] : op.attrs.items())
    if (const Dim* d = std::get_if<Dim>(&value); !d) attrs.set(name, value);
    else if (!sized) attrs.set(name, c.size(*d));
  attrs.set("sized", sized);
  const Packing* p = nullptr;
  for (const BatchedValue& v : in.first(operands)) {
    if (v.packing && p && v.packing != p) fail_lane_dependent(op.span);
    if (v.packing) p = v.packing;
  }
  for (const BatchedValue& v : in.first(operands))
    if (p && !v.packing) fail_lane_dependent(op.span);
  std::vector<ValueId> inputs;
  for (const BatchedValue& v : in.first(operands)) inputs.push_back(p ? v.value : c.mapped(v, op.span));
  std::vector<Dim> dims = inputs.empty() ? std::vector<Dim>{c.lanes()} : e.dims(inputs[0]);
  auto spread_out = [&](ValueId of_lanes) { return e.spread(p ? e.take(of_lanes, c.ids(*p, op.span)) : of_lanes, dims, {0}); };
  if (p && operands != 1) attrs.set("ids_at", static_cast<int64_t>(operands));
  if (p) inputs.push_back(e.spread(c.ids(*p, op.span), dims, {0}));
  if (sized)
    for (const Dim& d : sizes) inputs.push_back(spread_out(c.sizes_of_lanes(d, op.span)));
  attrs.set("ids", p != nullptr);
  attrs.set("lanes", p ? axes : axes + 1);
  ValueId live = no_value;
  std::vector<Dim> masked{dims.begin(), dims.begin() + (p ? std::max<int64_t>(axes, 1) : axes + 1)};
  if (has_live(op)) {
    if ((in.back().packing != nullptr) != (p != nullptr)) fail_lane_dependent(op.span);
    live = p ? in.back().value : c.mapped(in.back(), op.span);
  }
  if (c.live() != no_value) {
    ValueId outer = e.spread(p ? e.take(c.live(), c.ids(*p, op.span)) : c.live(), masked, {0});
    live = live == no_value ? outer : b.emit(bit_and_op, {live, outer}, {}, op.span);
  }
  attrs.set("has_live", live != no_value);
  if (live != no_value) inputs.push_back(live);
  return emit_mapped(c, op, std::move(inputs), std::move(attrs));
}

std::vector<Type> infer_nothing(const InferInput&) { return {}; }

}  // namespace tercet
