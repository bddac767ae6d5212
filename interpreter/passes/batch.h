// The batching pass: a function of one lane becomes a function of all lanes (vmap), op by op through the rows.
#pragma once
#include "interpreter/ir/batching.h"

namespace tercet {

/// Emits into `out` what `f` means for every lane: `arguments[i]` stands for f's parameter i, with a lane axis in front
/// when mapped. Results are mapped or, where they do not depend on the lane, shared.
/// Error `unsupported` where a size would depend on the lane.
/// `level`: that of the axis of lanes, for collectives over it (attr "over"); -1 when no collective can name it.
std::vector<BatchedValue> batch_into(Builder& out, const Function& f, std::span<const BatchedValue> arguments, const Dim& lanes,
                                     int64_t level = -1);

/// The batched function on its own; results are mapped where `force_mapped` says so too.
struct BatchedFunction {
  FunctionPtr function;
  std::vector<bool> mapped;
};
BatchedFunction batch_function(const Function& f, const std::vector<bool>& mapped, const Dim& lanes, bool force_mapped,
                               int64_t level = -1);

}  // namespace tercet
