// What the batch rule of an operation sees: operands that have a lane axis in front, or are shared by all lanes.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// A size that depends on the lane: array code for all lanes does not exist, and the caller runs them one by one.
struct LaneDependentSize : Failure { using Failure::Failure; };
[[noreturn]] void fail_lane_dependent(Span span);

struct BatchedValue {
  ValueId value = no_value;
  bool mapped = false;          // axis 0 of `value` is the lanes
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
  /// Sizes of the unbatched function, rewritten for `out`.
  virtual Dim size(const Dim& d) const = 0;
  virtual std::vector<Dim> sizes(const std::vector<Dim>& d) const = 0;
  /// The value with a lane axis in front, repeated for every lane when it is shared.
  virtual ValueId mapped(BatchedValue v, Span span) = 0;
  /// Batches a body into `out` with the given operands (under `live` in place of the current mask when it is given).
  virtual std::vector<BatchedValue> batch_body(const Function& body, std::span<const BatchedValue> operands,
                                               ValueId live) = 0;
  /// The type a value has in one lane: `v`'s without its lane axis when it is mapped.
  Type lane_type(BatchedValue v) {
    Type t = out().type(v.value);
    if (v.mapped) t.dims.erase(t.dims.begin());
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
