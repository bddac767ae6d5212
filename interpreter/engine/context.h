// How a session runs functions: effects in order, calls to compiled code, limits.
#pragma once
#include "interpreter/engine/hot_loops.h"
#include "interpreter/engine/session.h"

namespace tercet {

class Session::Context final : public EvalContext {
 public:
  explicit Context(Session& session) : session_(session), keys_(&session.keys_), seen_interrupts_(session.seen_interrupts_), deadline_(session.deadline_) {}
  /// Of a call that other threads may make at the same time: with bounds and keys of its own.
  Context(Session& session, uint64_t seen_interrupts, std::optional<std::chrono::steady_clock::time_point> deadline)
      : session_(session), keys_(&own_keys_), seen_interrupts_(seen_interrupts), deadline_(deadline) {}
  /// Of one device of a pmap that `parent` runs. What it prints is kept; `by_reference`: nothing is compiled.
  Context(const Context& parent, Communicator& devices, int64_t level, bool by_reference);
  Context(const Context&) = delete;
  std::vector<Array> run_body(const Function& body, std::vector<Array> arguments) override;
  std::optional<std::vector<Array>> run_loop(const Function& f, const Op& op, std::span<Array> operands, int64_t steps) override;
  std::vector<Array> call(const Op& op, std::vector<Array> arguments) override;
  void report(Diagnostic diagnostic, LaneIndex lane) override;
  void print(std::string text, LaneIndex lane) override;
  void begin_region() override;
  void end_region() override;
  void push_lane(int64_t lane) override { lanes_.push_back(lane); }
  void pop_lane() override { lanes_.pop_back(); }
  LaneIndex running_lane() const override;
  KeyLedger& keys() override { return *keys_; }
  Communicator* communicator(int64_t level) override { return devices_ && level == level_ ? devices_ : nullptr; }
  void on_devices(int count, int64_t level, const DeviceWork& work, bool silent) override;
  void poll() override;
  static std::shared_ptr<HotLoops> new_hot_loops(const Session& s) {
    return std::make_shared<HotLoops>(s.options_.backend.get(), s.options_.compile, s.options_.compile_loops);
  }
  /// Counts loops with those of other runs.
  void share_hot_loops(std::shared_ptr<HotLoops> loops) { hot_loops_ = std::move(loops); }
  /// The variant of an entry for arguments of these sizes, compiled when there is none.
  std::shared_ptr<const Executable> compiled(JitEntry& entry, std::span<const Array> arguments);

 private:
  struct Line { LaneIndex lane; std::string text; };
  LaneIndex whole_lane(LaneIndex inner) const;
  std::vector<Array> run_callee(const Op& op, std::vector<Array> arguments);
  std::vector<Array> call_compiled(JitEntry& entry, std::vector<Array> arguments);
  void output(Line line);
  void run_devices(int count, int64_t level, const DeviceWork& work, bool by_reference, std::vector<std::unique_ptr<Context>>& contexts);
  void device_failed(Diagnostic diagnostic, int rank);
  std::string explanation(const Op& op, std::span<const Array> arguments);

  Session& session_;
  std::shared_ptr<HotLoops> hot_loops_;   // null before the first loop
  KeyLedger own_keys_, *keys_;
  uint64_t seen_interrupts_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  LaneIndex lanes_;               // lanes that run one after another around the current operation
  int region_depth_ = 0;
  std::vector<Line> lines_;       // of the region, in program order
  std::optional<Diagnostic> failure_;   // of the region: lowest lane, first in program order
  size_t failure_at_ = 0;         // lines before it in program order
  int call_depth_ = 0;
  Span call_span_;                // of the call that runs
  // On a device:
  Communicator* devices_ = nullptr;
  int64_t level_ = -1;
  bool by_reference_ = false;
  LaneIndex around_;              // lanes around the pmap, and the rank
  std::vector<Line> printed_;     // for the parent to print
};

}  // namespace tercet
