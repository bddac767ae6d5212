// What the eval rule of an operation may ask of the evaluator that runs it.
//
// Effects inside a batched region are ordered by (lane, program order): they are recorded with the index of their lane
// and act when the region ends. Outside a region they act at once.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "interpreter/ir/function.h"
#include "interpreter/runtime/communicator.h"
#include "interpreter/runtime/keys.h"

namespace tercet {

/// Index of a lane: one number per lane axis, outermost first. Empty outside vmap.
using LaneIndex = std::vector<int64_t>;

/// A compiled function failed a check on a device that has met others since: all of them start again, by reference.
struct RepeatByReference {};

class EvalContext {
 public:
  virtual ~EvalContext() = default;

  /// Values of size symbols. Bodies share the environment of their function; calls get one of their own.
  DimEnv dims;
  int64_t size(const Dim& d) const;
  Shape shape(const std::vector<Dim>& d) const;
  /// Gives the symbol of attr "defines" its value.
  void define(const Op& op, int64_t value);
  /// The symbols that the operation defines get their values from the shapes of its results.
  void bind_defined(const Function& f, const Op& op, std::span<const Array> results);

  /// Runs a body; its sizes live in the same environment.
  virtual std::vector<Array> run_body(const Function& body, std::vector<Array> arguments) = 0;
  /// Runs a body for each of `length` lanes in any order, on several threads; false, and nothing done, where that cannot be
  /// or does not pay. results[i] are those of lane i.
  virtual bool run_lanes(const Function& body, int64_t length, const std::function<std::vector<Array>(int64_t)>& arguments,
                         std::vector<std::vector<Array>>& results) {
    (void)body, (void)length, (void)arguments, (void)results;
    return false;
  }
  /// A loop is about to run, or goes on, with these operands; `steps` are expected, or were done since this was last asked. Gives
  /// its results where there is a faster way to the same ones; else nothing, and the operands are as they were.
  virtual std::optional<std::vector<Array>> run_loop(const Function& f, const Op& op, std::span<Array> operands, int64_t steps) {
    (void)f, (void)op, (void)operands, (void)steps;
    return std::nullopt;
  }
  /// Runs the callee of a `call` with sizes of its own: compiled when it says so, else evaluated.
  virtual std::vector<Array> call(const Op& op, std::vector<Array> arguments) = 0;

  /// A check failed in `lane`. Outside a region it throws. Inside, the failure of the lowest lane is kept (the first
  /// in program order within it) and thrown when the region ends; the caller goes on with a safe value.
  virtual void report(Diagnostic diagnostic, LaneIndex lane) = 0;
  /// Text for standard output, ordered like report().
  virtual void print(std::string text, LaneIndex lane) = 0;
  virtual void begin_region() = 0;
  virtual void end_region() = 0;
  /// While a region's lanes run one after another: the lane that is running is put before every LaneIndex.
  virtual void push_lane(int64_t lane) = 0;
  virtual void pop_lane() = 0;
  /// The lanes around this place that run one after another.
  virtual LaneIndex running_lane() const = 0;
  /// The keys that were used so far.
  virtual KeyLedger& keys() = 0;

  /// How the devices of the pmap at `level` (attr "over") meet; null when that axis is none of devices.
  virtual Communicator* communicator(int64_t level) = 0;
  using DeviceWork = std::function<void(EvalContext& device, int rank)>;
  /// Runs work(context, rank) for `count` devices at once, each with a context of its own, as the pmap at `level`. What
  /// they print comes in the order of ranks, when all have ended; a failure is that of the first rank that fails.
  /// `silent`: what they print was printed before.
  virtual void on_devices(int count, int64_t level, const DeviceWork& work, bool silent = false) = 0;

  /// Throws error `interrupt` or `limit` when asked to stop. Cheap; called between operations and inside long ones.
  virtual void poll() = 0;
};

}  // namespace tercet
