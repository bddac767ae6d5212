#include "interpreter/ops/effect_rules.h"

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
  if (rank_ && !in.empty()) for (size_t k = 0; k < rank_; ++k) sizes_.push_back(in[0].shape[k]);
}

LaneIndex Lanes::index(int64_t lane) const {
  LaneIndex out(rank_ + shared_);
  for (size_t k = rank_; k-- > 0; lane /= sizes_[k]) out[k] = lane % sizes_[k];
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

std::vector<Type> infer_nothing(const InferInput&) { return {}; }

}  // namespace tercet
