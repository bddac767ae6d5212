#include "codegen/run/context.h"

#include "codegen/run/frame.h"
#include "interpreter/engine/evaluate.h"

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

std::vector<Array> CompiledContext::run(const Program& program, std::vector<Array> arguments) {
  return ProgramFrame(program, *this, code_.kernels[program.number], options_).run(std::move(arguments));
}

std::vector<Array> CompiledContext::run_body(const Function& body, std::vector<Array> arguments) {
  auto found = set_.of_function.find(&body);
  TERCET_CHECK(found != set_.of_function.end());
  return run(*found->second, std::move(arguments));
}

std::vector<Array> CompiledContext::call(const Op& op, std::vector<Array> arguments) {
  if (op.bodies.empty()) return outer_.call(op, std::move(arguments));
  FreshSizes sizes(*this);
  return run_body(*op.bodies[0], std::move(arguments));
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
  if (op.bodies.empty()) return outer_.call(op, std::move(arguments));
  FreshSizes sizes(*this);
  return run_body(*op.bodies[0], std::move(arguments));
}

}  // namespace tercet::codegen
