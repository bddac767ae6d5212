#include "codegen/backend.h"

#include <fmt/format.h>

#include <chrono>

#include "codegen/explain.h"
#include "codegen/jit/headroom.h"
#include "codegen/jit/object_cache.h"
#include "codegen/plan/equal_sizes.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/select_branches.h"
#include "codegen/plan/single_parts.h"
#include "codegen/run/context.h"
#include "codegen/run/threads.h"
#include "interpreter/engine/evaluate.h"
#include "interpreter/passes/expand.h"
#include "interpreter/passes/hoist_products.h"
#include "interpreter/passes/unroll_windows.h"

namespace tercet::codegen {
namespace {

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// What is handed to LLVM: instructions of one kernel, of which its time grows faster than in proportion, and of all kernels
// together. Larger programs are written by programs; they run on the reference evaluator.
constexpr size_t most_of_kernel = 5'000, most_in_all = 50'000;

bool is_too_large(const ProgramSet& set) {
  size_t all = 0;
  for (const auto& p : set.programs)
    for (const Kernel& k : p->kernels) {
      if (k.nodes.size() > most_of_kernel) return true;
      all += k.nodes.size();
    }
  return all > most_in_all || !has_memory_to_compile(all);
}

std::shared_ptr<const ProgramSet> planned(const FunctionPtr& f, const CompileOptions& options) {
  return std::make_shared<const ProgramSet>(plan(unroll_windows(hoist_products(select_branches(read_single_parts(expand(f))))), options.fast_math));
}

/// A program that is one loop, as one piece of code.
bool is_one_piece(const ProgramSet& set) {
  const std::vector<Step>& steps = set.programs[0]->steps;
  const auto* loop = steps.size() == 1 ? std::get_if<NativeStep>(&steps[0].what) : nullptr;
  return loop && loop->loop >= 0;
}

class LlvmExecutable final : public Executable {
 public:
  /// `alone`: the function is a loop that was taken out of another one.
  LlvmExecutable(FunctionPtr function, const CompileOptions& options, std::shared_ptr<const ObjectCache> cache, std::shared_ptr<const ProgramSet> alone = nullptr)
      : function_(std::move(function)),
        sizes_(alone ? EqualSizes{function_, {}} : with_equal_sizes(function_)),
        set_(alone ? alone : planned(sizes_.function, options)),
        inherits_sizes_(alone != nullptr),
        plan_ms_(milliseconds_since(begun_)),
        run_{thread_count(options.threads), options.block_bytes},
        fast_math_(options.fast_math),
        simd_bits_(options.simd_bits ? std::min(options.simd_bits, widest_simd()) : widest_simd()),
        code_(is_too_large(*set_) ? nullptr : TieredCode::make(set_, simd_bits_, options.optimize, std::move(cache))),
        all_ms_(milliseconds_since(begun_)) {}

  std::vector<Array> run(EvalContext& outer, std::vector<Array> arguments) const override {
    if (!code_ || !sizes_.hold(arguments)) {   // or a check will fail
      RepeatingContext reference(outer, 0);
      if (inherits_sizes_) reference.dims = outer.dims;
      return evaluate(*function_, reference, std::move(arguments));
    }
    RunOptions run = on_this_device(run_);
    CompiledContext context(outer, *set_, *code_, run);
    if (inherits_sizes_) context.dims = outer.dims;
    if (!set_->may_fail) return context.run(*set_->programs[0], std::move(arguments));
    std::vector<Array> kept = arguments;  // shared, so that nothing overwrites them
    try {
      KeyAttempt attempt(outer.keys());
      std::vector<Array> results = context.run(*set_->programs[0], std::move(arguments));
      attempt.keep();
      return results;
    } catch (const CheckFailed&) {
      if (context.met_others()) throw RepeatByReference{};
    }
    RepeatingContext again(outer, context.effects());
    if (inherits_sizes_) again.dims = outer.dims;
    return evaluate(*function_, again, std::move(kept));
  }

  std::string dump(const std::string& stage) const override {
    if (stage == "kernels") return print(*set_);
    if (!code_ && (stage == "llvm" || stage == "asm")) fail(Kind::Limit, {}, "this function is too large to be compiled", "it runs on the interpreter; make functions smaller");
    if (stage == "llvm") return llvm_text(*set_, simd_bits_);
    if (stage == "asm") return assembly_text(*set_, simd_bits_);
    fail(Kind::Value, {}, "compiled code has no stage `" + stage + "`", "it has kernels, llvm and asm");
  }

  std::string explain(std::span<const Array> arguments) const override {
    if (!code_) return "too large to be compiled: it runs on the interpreter\n";
    const MachineCode& code = code_->now();
    return fmt::format("{} in {:.2g} ms (planning {:.2g} ms), {}; vectors of {} bits, {} thread{} at most{}\n",
                       code.from_cache ? "code found in the cache on disk" : "compiled", all_ms_, plan_ms_,
                       code.tier == Tier::Optimized ? "optimised" : "not optimised yet", simd_bits_, run_.threads, run_.threads == 1 ? "" : "s", fast_math_ ? "; math=\"fast\": products and sums fuse, other bits than the interpreter's" : "") +
           codegen::explain(*set_, run_, arguments);
  }

 private:
  Clock::time_point begun_ = Clock::now();
  FunctionPtr function_;
  EqualSizes sizes_;
  std::shared_ptr<const ProgramSet> set_;
  bool inherits_sizes_;
  double plan_ms_;
  RunOptions run_;
  bool fast_math_;
  int simd_bits_;
  std::shared_ptr<TieredCode> code_;   // null: too large
  double all_ms_;
};

class LlvmBackend final : public Backend {
 public:
  explicit LlvmBackend(const std::string& cache) {
    if (!cache.empty()) cache_ = std::make_shared<const ObjectCache>(cache);
  }
  ~LlvmBackend() override {
    stop_optimizing();
    wait_for_compilations();
  }
  std::shared_ptr<const Executable> compile(FunctionPtr function, const CompileOptions& options) override {
    return std::make_shared<LlvmExecutable>(std::move(function), options, cache_);
  }
  std::shared_ptr<const Executable> compile_loop(FunctionPtr function, const CompileOptions& options) override {
    std::shared_ptr<const ProgramSet> set = planned(function, options);
    if (!is_one_piece(*set)) return nullptr;
    return std::make_shared<LlvmExecutable>(std::move(function), options, cache_, std::move(set));
  }

 private:
  std::shared_ptr<const ObjectCache> cache_;
};

}  // namespace
}  // namespace tercet::codegen

namespace tercet {

std::unique_ptr<Backend> make_llvm_backend(const std::string& cache) {
  return std::make_unique<codegen::LlvmBackend>(cache);
}

CacheInfo cache_info(const std::string& directory) {
  codegen::ObjectCache::Info info = codegen::ObjectCache(directory).info();
  return {info.entries, info.bytes, codegen::ObjectCache::default_bytes, info.unusable};
}

int64_t clear_cache(const std::string& directory) { return codegen::ObjectCache(directory).clear(); }

}  // namespace tercet
