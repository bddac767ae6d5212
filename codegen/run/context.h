// The contexts that compiled programs run in: both stand between a program and the caller's context.
#pragma once
#include "codegen/jit/tiers.h"
#include "codegen/plan/program.h"
#include "codegen/run/threads.h"
#include "interpreter/ir/eval.h"

namespace tercet::codegen {

class ProgramFrame;

/// Thrown when a check fails in compiled code. What failed, and where, the reference evaluator finds out.
struct CheckFailed {};

/// Passes effects on to the caller's context.
class ForwardingContext : public EvalContext {
 public:
  explicit ForwardingContext(EvalContext& outer) : outer_(outer) {}
  void poll() override { outer_.poll(); }
  LaneIndex running_lane() const override { return outer_.running_lane(); }
  KeyLedger& keys() override { return outer_.keys(); }
  Communicator* communicator(int64_t level) override { return outer_.communicator(level); }

 protected:
  /// Runs the body of a call: with sizes of its own, and what fails without a place is placed at the call.
  std::vector<Array> run_callee(const Op& op, std::vector<Array> arguments);

  EvalContext& outer_;
  Span call_span_ = Span::of_call();   // of the call that runs, where it is one of this run's own
};

/// The context of a compiled run: bodies and callees run as compiled programs, effects are counted.
class CompiledContext final : public ForwardingContext {
 public:
  CompiledContext(EvalContext& outer, const ProgramSet& set, TieredCode& code, const RunOptions& options);
  ~CompiledContext() override;

  std::vector<Array> run(const Program& program, std::vector<Array> arguments);
  bool run_lanes(const Function& body, int64_t length, const std::function<std::vector<Array>(int64_t)>& arguments,
                 std::vector<std::vector<Array>>& results) override;
  /// Lanes that ran as one piece of code: a run by the reference marks where each begins and ends.
  void passed_lanes(int64_t count) { effects_ += 2 * count; }
  /// Prints and marks so far: those that a run by the reference comes by up to here.
  int64_t effects() const { return effects_; }
  /// Whether this device has met others in this run: it cannot be repeated on its own then.
  bool met_others() const { return met_; }

  std::vector<Array> run_body(const Function& body, std::vector<Array> arguments) override;
  std::vector<Array> call(const Op& op, std::vector<Array> arguments) override;
  void report(Diagnostic, LaneIndex) override { throw CheckFailed{}; }
  void print(std::string text, LaneIndex lane) override { ++effects_, outer_.print(std::move(text), std::move(lane)); }
  void begin_region() override { if (++effects_, !alone_) outer_.begin_region(); }
  void end_region() override { if (++effects_, !alone_) outer_.end_region(); }
  void push_lane(int64_t lane) override { if (++effects_, !alone_) outer_.push_lane(lane); }
  void pop_lane() override { if (++effects_, !alone_) outer_.pop_lane(); }
  Communicator* communicator(int64_t level) override { return met_ = true, outer_.communicator(level); }
  void on_devices(int count, int64_t level, const DeviceWork& work, bool silent) override;

 private:
  const ProgramSet& set_;
  TieredCode& code_;
  const RunOptions& options_;
  std::vector<std::vector<std::unique_ptr<ProgramFrame>>> frames_;   // by program; those that do not run: a loop's body takes them again
  int64_t effects_ = 0;
  bool met_ = false;
  bool alone_ = false;   // of some lanes on a thread of their own: a check that fails ends all of it, so that marks are only counted
};

/// The context of the reference run that follows a failed check: it comes by the same effects in the same order, so the
/// first `done` of them, which have happened, are left out.
class RepeatingContext final : public ForwardingContext {
 public:
  RepeatingContext(EvalContext& outer, int64_t done) : ForwardingContext(outer), done_(done) {}

  std::vector<Array> run_body(const Function& body, std::vector<Array> arguments) override;
  std::vector<Array> call(const Op& op, std::vector<Array> arguments) override;
  void report(Diagnostic diagnostic, LaneIndex lane) override {
    set_call_span(diagnostic, call_span_);
    outer_.report(std::move(diagnostic), std::move(lane));
  }
  void print(std::string text, LaneIndex lane) override {
    if (fresh()) outer_.print(std::move(text), std::move(lane));
  }
  void begin_region() override {
    if (fresh()) outer_.begin_region();
  }
  void end_region() override {
    if (fresh()) outer_.end_region();
  }
  void push_lane(int64_t lane) override {
    if (fresh()) outer_.push_lane(lane);
  }
  void pop_lane() override {
    if (fresh()) outer_.pop_lane();
  }
  void on_devices(int count, int64_t level, const DeviceWork& work, bool silent) override;

 private:
  bool fresh() { return done_ == 0 || (--done_, false); }
  int64_t done_;
};

}  // namespace tercet::codegen
