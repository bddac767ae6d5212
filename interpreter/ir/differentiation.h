// What the derivative rules of operations see, in reverse mode.
//
// The forward pass emits every operation into out(), most of them unchanged. The reverse pass then goes back from the
// results to the parameters: a rule gets the cotangents of its operation's results and adds to those of its operands.
// A cotangent has the type of its value. An absent one (no_value) is a structural zero: what only it would reach is left
// out, so that no 0 * inf comes of it.
#pragma once
#include <memory>

#include "interpreter/ir/function.h"

namespace tercet {

/// One operation of the forward pass as it stands in out().
struct ForwardOp {
  Op op;                                   // its inputs are values of out()
  std::vector<ValueId> results;            // the operation's own, as values of out()
  std::vector<bool> active;                // per operand: its cotangent is wanted
  std::vector<bool> active_results;        // results that have one
  std::vector<ValueId> saved;              // what the forward rule kept for its reverse rule
  std::shared_ptr<const void> notes;       // and what it found out
};

/// The backward step of a closed body: a Function with the parameters
///   those of the body; the values of `saved`; cotangents of the results for which `given` is true; the sums so far of
///   the parameters for which `summed` is true
/// and as results the cotangents of the active parameters, in order (a summed one's is the new sum). The body's own
/// operations are computed again inside, but for what `saved` brings; checks and output are left out.
struct Pullback {
  FunctionPtr function;
  std::vector<ValueId> saved;              // values of the body
  std::vector<bool> reads;                 // per parameter of the body: does the function need its value?
};
struct PullbackRequest {
  std::vector<bool> active;                // parameters whose cotangents are wanted
  std::vector<bool> given;                 // results that have a cotangent
  std::vector<bool> summed;                // active parameters whose cotangent continues a sum
  bool may_save = false;                   // else everything is computed again
  std::vector<uint64_t> own_symbols;       // sizes that only one run of the body knows, beside those it defines
  std::vector<Type> result_types;          // as the caller knows them; empty: the body's own
};

class ForwardContext {
 public:
  virtual ~ForwardContext() = default;
  virtual Builder& out() = 0;
  /// The operation with its inputs; `results` are still missing.
  virtual ForwardOp& forward() = 0;
  const Op& op() { return forward().op; }
  virtual Pullback pull_back(const Function& body, const PullbackRequest& request) = 0;
  /// Which results of a body depend on its active parameters in a way that has a derivative.
  virtual std::vector<bool> active_results(const Function& body, const std::vector<bool>& active) const = 0;
};

class ReverseContext {
 public:
  virtual ~ReverseContext() = default;
  virtual Builder& out() = 0;
  virtual const ForwardOp& forward() const = 0;
  const Op& op() const { return forward().op; }
  ValueId operand(size_t i) const { return op().inputs[i]; }
  ValueId result(size_t i = 0) const { return forward().results[i]; }
  bool wanted(size_t i) const { return forward().active[i]; }

  /// The cotangent of a result, or no_value.
  virtual ValueId cotangent(size_t result = 0) const = 0;
  /// Adds to the cotangent of an operand, if it is wanted. The sizes may have other names for the same numbers.
  virtual void add(size_t operand, ValueId cotangent) = 0;
  /// Takes the cotangent of an operand so far, or no_value, away: rules that change few elements of a large operand do it
  /// there, and add() the new sum.
  virtual ValueId take(size_t operand) = 0;

  virtual Pullback pull_back(const Function& body, const PullbackRequest& request) = 0;
};

/// Emits the operation, or what stands for it, and returns the values of its results.
using ForwardFn = std::vector<ValueId> (*)(ForwardContext&);
/// Adds to the cotangents of the operands.
using ReverseFn = void (*)(ReverseContext&);
/// The partial derivative of an elementwise operation with one result by operand `i`: a value of the result's type, or
/// no_value where it is 0 everywhere.
using PartialFn = ValueId (*)(Builder&, const Op&, size_t i);

}  // namespace tercet
