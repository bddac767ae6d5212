#include "interpreter/runtime/progress.h"

namespace tercet {
namespace {

constexpr int levels = 2;
struct State {
  ProgressListener* listener = nullptr;
  int depth = 0;          // loops that run, those beyond `levels` too
  LoopProgress loops[levels];
};
thread_local State state;

void tell() { state.listener->advanced(state.loops[0], state.depth > 1 ? &state.loops[1] : nullptr); }

}  // namespace

ProgressScope::ProgressScope(ProgressListener* listener) { state = {listener, 0, {}}; }
ProgressScope::~ProgressScope() { state = {}; }

LoopSteps::LoopSteps(int64_t total) {
  if (!state.listener) return;
  level_ = state.depth++;
  if (level_ < levels) state.loops[level_] = {0, total, -1};
}

LoopSteps::~LoopSteps() {
  if (level_ < 0 || !state.listener) return;
  state.depth = level_;
  if (level_ == 0) state.listener->ended();
}

void LoopSteps::advance(int64_t steps) {
  if (level_ < 0 || level_ >= levels) return;
  state.loops[level_].done += steps;
  tell();
}

void LoopSteps::expect(int64_t total) {
  if (level_ >= 0 && level_ < levels) state.loops[level_].total = total;
}

void note_share_read(double share) {
  if (state.listener && state.depth > 0 && state.depth <= levels) state.loops[state.depth - 1].share = share;
}

}  // namespace tercet
