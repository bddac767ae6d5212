// How far the loops of this thread are, for whoever shows it. Loops say so by a LoopSteps; without a listener it costs a look
// at a thread's variable. Only the two outermost loops count: those inside are done many times.
//
// Example:  ProgressScope listening(&listener);      // then, in a loop:  LoopSteps steps(100);  … steps.advance();
#pragma once
#include <cstdint>

namespace tercet {

/// One loop: `done` of `total` steps (-1: nobody knows), or by the share of a file that was read.
struct LoopProgress {
  int64_t done = 0, total = -1;
  double share = -1;      // of the work that is done; -1: by steps
};

class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  /// A step of a loop ended. `inner`: the loop inside it, or null.
  virtual void advanced(const LoopProgress& outer, const LoopProgress* inner) = 0;
  /// The outermost loop ended.
  virtual void ended() = 0;
};

/// Loops that this thread runs tell the listener, for a scope.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressListener* listener);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
};

class LoopSteps {
 public:
  explicit LoopSteps(int64_t total = -1);
  ~LoopSteps();
  LoopSteps(const LoopSteps&) = delete;
  /// More steps are done.
  void advance(int64_t steps = 1);
  /// The number of steps became known, or what is left of them.
  void expect(int64_t total);

 private:
  int level_ = -1;        // -1: nobody listens, or too deep inside
};

/// The innermost loop of this thread reads a file, of which this share is done.
void note_share_read(double share);

}  // namespace tercet
