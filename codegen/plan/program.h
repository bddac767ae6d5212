// A compiled function as data: the steps that the driver (codegen/run) takes, with the kernels and sizes they need.
// Programs of bodies and callees belong to the same set; a function occurs once, so recursion is a loop in the graph.
#pragma once
#include <memory>
#include <unordered_map>

#include "codegen/plan/loop_code.h"

namespace tercet::codegen {

/// Runs kernel `kernel`; `written` are its new arrays.
struct KernelStep {
  size_t kernel;
  std::vector<SizeSlot> extents;  // of the kernel's loops
  std::vector<SizeSlot> bounds;   // of its clamped reads: less than 0 means that there is nothing to read
  std::vector<ValueId> written;
  /// written[k] may take over the memory of this value, which is read for the last time here and at the same places.
  std::vector<ValueId> reuse;
};
/// `to` is the memory of `from` under another shape.
struct AliasStep {
  ValueId to, from;
};
/// `to` is a copy of `from`, or its memory when that is not needed any more.
struct CopyStep {
  ValueId to, from;
};
/// The row's eval on whole arrays. Control flow too: its rows run their bodies through the context, which finds the
/// compiled program of each.
struct NativeStep {
  const Op* op;
  int loop = -1;              // it may run as this loop of the set
  std::string why_stepwise = {};  // of a loop that has no code: the reason
};

/// A size symbol that becomes known: the size of an axis of an array, or, without one, what a native step defined.
struct Binding {
  uint64_t symbol;
  SizeSlot slot;
  ValueId value = no_value;
  size_t axis = 0;
};

struct Step {
  std::variant<KernelStep, AliasStep, CopyStep, NativeStep> what;
  std::vector<ValueId> dies;  // not needed afterwards
  std::vector<Binding> binds;
};

/// Steps that may run block by block of rows, see codegen/plan/band.h.
struct Band {
  size_t first, count;            // steps, all of them kernels
  SizeSlot rows;
  std::vector<SizeSlot> units;    // per step: how many steps of its kernel's loop 0 are a row
  std::vector<ValueId> scratch;   // values that only these steps see
};

struct Program {
  FunctionPtr function;
  size_t number = 0;  // within its set
  SizeTable sizes;
  std::vector<Binding> parameters;  // sizes known from the arguments
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
  std::vector<Band> bands;  // in order
  std::vector<std::vector<SizeSlot>> shapes;  // per value, for those that kernels write or aliases make
  std::vector<std::pair<ValueId, Array>> constants;
  bool needs_environment = false;  // native steps read sizes by symbol
};

/// A function and everything it runs. programs[0] is the function itself.
struct ProgramSet {
  std::vector<std::unique_ptr<Program>> programs;
  std::unordered_map<const Function*, const Program*> of_function;
  std::vector<std::unique_ptr<LoopCode>> loops;
  bool may_fail = false;  // contains checks or computed indices: arguments must survive a run
};

/// Values that a step reads; those that a kernel writes are among them.
std::vector<ValueId> read_by(const Program& program, const Step& step);
/// Text of every kernel and step.
std::string print(const ProgramSet& set);

}  // namespace tercet::codegen
