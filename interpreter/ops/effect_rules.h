// Rules of rows with effects. Attr "lanes" counts the leading axes that are lanes of enclosing vmaps; with attr "has_live"
// the last operand is a mask over them, and dead lanes neither fail nor print.
// Attr "ids": the lanes' sizes differ, and operand 1 (attr "ids_at": that one) is the lane of each element of operand 0 (axis 0 is packed, batching.h);
// "lanes" then counts the lane axes of inner vmaps alone, of which axis 0 is the first, and the mask is over axis 0 and them.
// Attr "sized": sizes that differ between lanes are operands, the last ones, one for each element.
// Attr "shared" counts further vmaps, inside those, whose lanes all share the operands: a failure is their first lane's.
#pragma once
#include "interpreter/ops/batch_rules.h"

namespace tercet {

inline int64_t lane_axes(const Op& op) { return op.attrs.get_or<int64_t>("lanes", 0); }
inline bool has_ids(const Op& op) { return op.attrs.get_or<bool>("ids", false); }
inline bool has_live(const Op& op) { return op.attrs.get_or<bool>("has_live", false); }

/// Lanes of an effect, in order: their index, and whether they are alive.
class Lanes {
 public:
  Lanes(const Op& op, std::span<const Array> in);
  int64_t count() const { return element_count(sizes_); }
  bool alive(int64_t lane) const { return !live_ || live_->data<bool>()[live_->count() == 1 ? 0 : lane]; }
  LaneIndex index(int64_t lane) const;

 private:
  size_t rank_, shared_;   // axes of the operands that are lanes; inner vmaps whose lanes all share the operands
  bool inner_ = true;      // with ids: is axis 0 a lane axis of an inner vmap too?
  Shape sizes_;
  std::vector<int64_t> ids_;   // of axis 0
  const Array* live_ = nullptr;
};

/// Effects on lanes: one more lane axis, the mask narrowed by the batch's.
std::vector<BatchedValue> batch_effect_mapped(BatchContext& c, const Op& op, std::span<const BatchedValue> in);
/// A check on values that all lanes share fails for all or none: it stays one check, and the first lane tells of it.
/// (Where some lanes are dead the first living one does, so there the check is one of lanes.)
std::vector<BatchedValue> batch_check(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in);

/// The same where sizes differ between lanes.
std::vector<BatchedValue> flat_check(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in);

std::vector<Type> infer_nothing(const InferInput&);

}  // namespace tercet
