#include "codegen/backend.h"

#include "codegen/plan/plan.h"
#include "codegen/run/context.h"
#include "codegen/run/threads.h"
#include "interpreter/engine/evaluate.h"

namespace tercet::codegen {
namespace {

class LlvmExecutable final : public Executable {
 public:
  LlvmExecutable(FunctionPtr function, const CompileOptions& options)
      : function_(std::move(function)),
        set_(plan(function_)),
        run_{thread_count(options.threads), options.block_bytes},
        simd_bits_(options.simd_bits ? std::min(options.simd_bits, widest_simd()) : widest_simd()),
        code_(compile_kernels(set_, simd_bits_)) {}

  std::vector<Array> run(EvalContext& outer, std::vector<Array> arguments) const override {
    CompiledContext context(outer, set_, code_, run_);
    if (!set_.may_fail) return context.run(*set_.programs[0], std::move(arguments));
    std::vector<Array> kept = arguments;  // shared, so that nothing overwrites them
    try {
      KeyAttempt attempt(outer.keys());
      std::vector<Array> results = context.run(*set_.programs[0], std::move(arguments));
      attempt.keep();
      return results;
    } catch (const CheckFailed&) {
    }
    RepeatingContext again(outer, context.effects());
    return evaluate(*function_, again, std::move(kept));
  }

  std::string dump(const std::string& stage) const override {
    if (stage == "kernels") return print(set_);
    if (stage == "llvm") return llvm_text(set_);
    if (stage == "asm") return assembly_text(set_, simd_bits_);
    fail(Kind::Value, {}, "compiled code has no stage `" + stage + "`", "it has kernels, llvm and asm");
  }

 private:
  FunctionPtr function_;
  ProgramSet set_;
  RunOptions run_;
  int simd_bits_;
  MachineCode code_;
};

class LlvmBackend final : public Backend {
 public:
  std::shared_ptr<const Executable> compile(FunctionPtr function, const CompileOptions& options) override {
    return std::make_shared<LlvmExecutable>(std::move(function), options);
  }
};

}  // namespace
}  // namespace tercet::codegen

std::unique_ptr<tercet::Backend> tercet::make_llvm_backend() { return std::make_unique<codegen::LlvmBackend>(); }
