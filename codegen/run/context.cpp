#include "codegen/run/context.h"

#include <algorithm>
#include <atomic>

#include "codegen/run/frame.h"
#include "interpreter/engine/call_place.h"
#include "interpreter/engine/evaluate.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {
namespace {

/// A call has sizes of its own: the environment is emptied for a scope.
class FreshSizes {
 public:
  explicit FreshSizes(EvalContext& context) : context_(context), before_(std::move(context.dims)) {
    context_.dims.clear();
  }
  ~FreshSizes() { context_.dims = std::move(before_); }

 private:
  EvalContext& context_;
  DimEnv before_;
};

}  // namespace

std::vector<Array> ForwardingContext::run_callee(const Op& op, std::vector<Array> arguments) {
  FreshSizes sizes(*this);
  return at_call(call_span_, op.span, [&] { return run_body(*op.bodies[0], std::move(arguments)); });
}

CompiledContext::CompiledContext(EvalContext& outer, const ProgramSet& set, TieredCode& code, const RunOptions& options)
    : ForwardingContext(outer), set_(set), code_(code), options_(options) {}
CompiledContext::~CompiledContext() = default;

std::vector<Array> CompiledContext::run(const Program& program, std::vector<Array> arguments) {
  if (frames_.empty()) frames_.resize(set_.programs.size());
  auto& free = frames_[program.number];
  std::unique_ptr<ProgramFrame> frame;
  if (free.empty()) {
    frame = std::make_unique<ProgramFrame>(set_, program, *this, code_, options_);
  } else {
    frame = std::move(free.back());
    free.pop_back();
  }
  std::vector<Array> results = frame->run(std::move(arguments));
  free.push_back(std::move(frame));
  return results;
}

namespace {

/// Nothing in it, or in what it calls, prints, uses keys, meets other devices, or is compiled on its own: its runs do not meet.
bool is_independent(const Function& f) {
  for (const Type& t : f.types)
    if (t.dtype == DType::Key) return false;
  return std::all_of(f.ops.begin(), f.ops.end(), [](const Op& op) {
    const bool marks = op.def == &region_begin_op || op.def == &region_end_op;
    if (op.def->effect == Effect::Output && !marks) return false;
    if (op.def == &call_op && op.bodies.empty()) return false;
    if (op.def == &pmap_op || op.attrs.has("over")) return false;   // devices meet in the order of lanes
    return std::all_of(op.bodies.begin(), op.bodies.end(), [](const FunctionPtr& body) { return is_independent(*body); });
  });
}

}  // namespace

bool CompiledContext::run_lanes(const Function& body, int64_t length, const std::function<std::vector<Array>(int64_t)>& arguments,
                                std::vector<std::vector<Array>>& results) {
  constexpr int64_t fewest = 8;
  if (alone_ || options_.threads < 2 || length < fewest || !is_independent(body)) return false;
  results.resize(static_cast<size_t>(length));
  RunOptions one = options_;
  one.threads = 1;   // the lanes are what runs together
  std::atomic<int64_t> marks{2 * length};   // around each lane
  in_arena(options_.threads, *this, [&] {
    parallel_chunks(length, 2, [&](int64_t, int64_t begin, int64_t end) {
      CompiledContext lanes(outer_, set_, code_, one);
      lanes.alone_ = true;
      lanes.dims = dims;
      for (int64_t i = begin; i < end; ++i) results[static_cast<size_t>(i)] = lanes.run_body(body, arguments(i));
      marks += lanes.effects_;
    });
  });
  effects_ += marks;
  return true;
}

std::vector<Array> CompiledContext::run_body(const Function& body, std::vector<Array> arguments) {
  auto found = set_.of_function.find(&body);
  TERCET_CHECK(found != set_.of_function.end());
  return run(*found->second, std::move(arguments));
}

std::vector<Array> CompiledContext::call(const Op& op, std::vector<Array> arguments) {
  return op.bodies.empty() ? outer_.call(op, std::move(arguments)) : run_callee(op, std::move(arguments));
}

/// One effect of this run, which has happened when all devices have ended.
void CompiledContext::on_devices(int count, int64_t level, const DeviceWork& work, bool silent) {
  auto compiled = [&](EvalContext& device, int rank) {
    RunOptions share = on_this_device(options_);
    CompiledContext own(device, set_, code_, share);
    work(own, rank);
  };
  outer_.on_devices(count, level, compiled, silent);
  ++effects_;
}

void RepeatingContext::on_devices(int count, int64_t level, const DeviceWork& work, bool silent) {
  auto by_reference = [&](EvalContext& device, int rank) {
    RepeatingContext own(device, 0);
    work(own, rank);
  };
  outer_.on_devices(count, level, by_reference, !fresh() || silent);
}

std::vector<Array> RepeatingContext::run_body(const Function& body, std::vector<Array> arguments) {
  return evaluate(body, *this, std::move(arguments));
}

std::vector<Array> RepeatingContext::call(const Op& op, std::vector<Array> arguments) {
  return op.bodies.empty() ? outer_.call(op, std::move(arguments)) : run_callee(op, std::move(arguments));
}

}  // namespace tercet::codegen
