// What the batch rule of an operation sees: operands that have a lane axis in front, or are shared by all lanes.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// A size that depends on the lane: array code for all lanes does not exist, and the caller runs them one by one.
struct LaneDependentSize : Failure { using Failure::Failure; };
[[noreturn]] void fail_lane_dependent(Span span);
/// An operation on dense arrays that a Builder was given rows of different length for. While lanes are batched: such lanes
/// run one by one.
struct RaggedOperand : Failure { using Failure::Failure; };

/// Lanes whose sizes differ along their axis 0: the elements of all of them lie one after another along axis 0 of the
/// batched value, which is called packed. Lane r is offsets[r] .. offsets[r + 1].
/// Example:  rows [1, 2], [], [3]     values [1, 2, 3]     offsets [0, 2, 2, 3]     ids [0, 0, 2]
struct Packing {
  Dim size;                     // of one lane; names symbols of the lane's function
  Dim total;                    // of all lanes together, a size of the batched function
  ValueId offsets = no_value;   // i64[lanes + 1]
  ValueId lengths = no_value;   // i64[lanes]
  ValueId ids = no_value;       // i64[total], the lane of each element; made when first asked for
  ValueId places = no_value;    // i64[total], where in its lane each element stands; likewise
};

struct BatchedValue {
  ValueId value = no_value;
  bool mapped = false;          // axis 0 of `value` is the lanes (or it is packed)
  const Packing* packing = nullptr;   // axis 0 of `value` is axis 0 of all lanes
};

class BatchContext {
 public:
  virtual ~BatchContext() = default;
  virtual Builder& out() = 0;
  /// Number of lanes of this batch.
  virtual const Dim& lanes() const = 0;
  /// The level of this batch's axis: a collective with this attr "over" is where its lanes meet. -1: none does.
  virtual int64_t level() const = 0;
  /// bool[lanes], the lanes that are alive in this branch or iteration; no_value: all of them.
  virtual ValueId live() const = 0;
  /// Sizes of the unbatched function, rewritten for `out`. Throws LaneDependentSize for one that differs between lanes.
  virtual Dim size(const Dim& d) const = 0;
  // ---- sizes that differ between lanes ----
  virtual bool varies(const Dim& d) const = 0;
  bool varies(const std::vector<Dim>& dims) const {
    for (const Dim& d : dims)
      if (varies(d)) return true;
    return false;
  }
  /// Where the elements of lanes of this size, which varies, lie.
  virtual const Packing& packing(const Dim& d, Span span) = 0;
  /// i64[lanes]: the size in each lane.
  virtual ValueId sizes_of_lanes(const Dim& d, Span span) = 0;
  /// i64[total]: the lane of each element; where in its lane it stands.
  virtual ValueId ids(const Packing& packing, Span span) = 0;
  virtual ValueId places(const Packing& packing, Span span) = 0;
  /// From here on the lane's symbol is a size that differs between lanes. `total`: a symbol that is defined already.
  virtual const Packing& define(const Dim& symbol, const Dim& total, ValueId offsets, Span span) = 0;
  virtual const Packing& define(const Dim& symbol, ValueId lengths, Span span) = 0;
  /// The value as packed, when it is not: every lane has the same number of elements along axis 0.
  virtual BatchedValue packed(BatchedValue v, Span span) = 0;
  /// Packed values as an array with rows of different length, and back.
  virtual ValueId as_ragged(BatchedValue v, Span span) = 0;
  virtual std::vector<Dim> sizes(const std::vector<Dim>& d) const = 0;
  /// The value with a lane axis in front, repeated for every lane when it is shared.
  virtual ValueId mapped(BatchedValue v, Span span) = 0;
  /// Batches a body into `out` with the given operands (under `live` in place of the current mask when it is given).
  virtual std::vector<BatchedValue> batch_body(const Function& body, std::span<const BatchedValue> operands,
                                               ValueId live) = 0;
  /// The type a value has in one lane: `v`'s without its lane axis when it is mapped.
  Type lane_type(BatchedValue v) {
    Type t = out().type(v.value);
    if (v.packing) t.dims[0] = v.packing->size;
    else if (v.mapped) t.dims.erase(t.dims.begin());
    return t;
  }
  /// A closed body for operands that are mapped or not. Its parameters are the body's, and one more, the mask of live
  /// lanes, when live() is set or `masked` asks for it. Results are mapped where they must be or `force` says so.
  struct ClosedBody {
    FunctionPtr function;
    std::vector<bool> mapped;
  };
  virtual ClosedBody batch_closed(const Function& body, const std::vector<bool>& mapped, const std::vector<bool>& force,
                                  bool masked) = 0;
  /// Emits the op unchanged on shared operands (sizes rewritten): its results are shared by all lanes.
  virtual std::vector<BatchedValue> emit_shared(const Function& f, const Op& op,
                                                std::span<const BatchedValue> operands) = 0;
  /// A `call`: a batched variant of its callee where there is one, else lane by lane.
  virtual std::vector<BatchedValue> batch_call(const Function& f, const Op& op, std::span<const BatchedValue> operands) = 0;
  /// One lane at a time, as BatchByLoop.
  virtual std::vector<BatchedValue> loop_over_lanes(const Function& f, const Op& op,
                                                    std::span<const BatchedValue> operands) = 0;
};

}  // namespace tercet
