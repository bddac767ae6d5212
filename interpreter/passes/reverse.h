// Reverse-mode differentiation: a function and cotangents of its results become cotangents of its parameters, op by op
// through the rows (after Linnainmaa, 1970). Both passes are ordinary operations, so that they batch, differentiate and
// compile like any others. Control flow keeps what its backward step needs in stacked results of its own.
#pragma once
#include <unordered_map>

#include "interpreter/ir/differentiation.h"
#include "interpreter/ir/rewrite.h"

namespace tercet {

/// Differentiates one function within `out`. Example:
///   ReverseMode mode(out);
///   auto y = mode.forward(f, arguments, {true, false});   // f32 results
///   mode.backward({one});                                 // the cotangent of each result, or no_value
///   ValueId g = mode.gradient(0);                         // no_value: zero
class ReverseMode {
 public:
  explicit ReverseMode(Builder& out) : out_(out) {}
  /// Emits f with its parameters standing for `arguments`; returns its results. `active`: parameters to differentiate by.
  std::vector<ValueId> forward(const Function& f, std::span<const ValueId> arguments, const std::vector<bool>& active);
  /// Goes back once. Error `unsupported` where an operation on the way has no derivative yet.
  void backward(std::span<const ValueId> cotangents);
  /// The cotangent of a parameter, with its type.
  ValueId gradient(size_t parameter) const;
  ValueId gradient_or_zeros(size_t parameter);

  /// See interpreter/ir/differentiation.h.
  static Pullback pull_back(const Function& body, const PullbackRequest& request);
  static std::vector<bool> active_results(const Function& body, const std::vector<bool>& active);

 private:
  class Forward;
  class Reverse;
  struct Step { ForwardOp forward; std::vector<ValueId> inputs; ValueId first_output; };
  /// The forward pass of a pullback: effects are left out, and saved values come as parameters.
  struct Replay {
    bool may_save = false;
    std::vector<uint64_t> own_symbols;
    std::vector<ValueId> saved, parameters;   // values of f and what brings them
  };

  void step(const Function& f, const Op& op);
  void bring_bodies(const Op& op, Op& emitted) const;
  bool bring_saved(const Function& f, const Op& op);
  std::vector<ValueId> emit(Op op);
  void add(ValueId v, ValueId cotangent, Span span);
  std::vector<bool> active_operands(const Op& op) const;

  Builder& out_;
  const Function* f_ = nullptr;
  std::unordered_map<ValueId, ValueId> values_;       // of f, in out
  std::unordered_map<ValueId, ValueId> cotangents_;   // of values of f
  std::vector<bool> active_;                          // per value of f
  DimMap sizes_;
  std::vector<Step> steps_;
  std::optional<Replay> replay_;
};

}  // namespace tercet
