// What turns functions into something that runs: the reference evaluator, or the compiler (codegen/), which attaches
// itself from above, so that the language runs without it.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "interpreter/ir/eval.h"
#include "interpreter/ir/function.h"

namespace tercet {

/// When compiled code is optimised: Auto once it has run for a while, in the background (until then it runs as it came out of a
/// quick compilation); Always before it first runs; Never. Results are the same.
enum class Optimize : uint8_t { Auto, Always, Never };

/// When the reference evaluator hands a loop to the backend: Auto once it has run for a while; Always at once; Never.
enum class CompileLoops : uint8_t { Auto, Always, Never };

struct CompileOptions {
  int threads = 0;          // 0: as many as the process may use
  int simd_bits = 0;        // 0: the widest of this machine; 256 or 512
  int64_t block_bytes = 0;  // memory that kernels which run row by row together go through at once; 0: part of a cache
  bool fast_math = false;   // results may differ from the reference in their last bits, and in the sign of zero
  Optimize optimize = Optimize::Auto;
};

/// A function made ready to run. Immutable; any number of threads may run it.
class Executable {
 public:
  virtual ~Executable() = default;
  /// `context` is that of the caller: limits, output, effects. Its size environment is not used.
  virtual std::vector<Array> run(EvalContext& context, std::vector<Array> arguments) const = 0;
  /// Text of a stage: "kernels", "llvm", "asm". Error `value` for a stage it does not have.
  virtual std::string dump(const std::string& stage) const = 0;
  /// What a call with these arguments does, for the user: a line on how it was compiled, then lines that depend on nothing
  /// but the function, the arguments' sizes and the number of threads.
  virtual std::string explain(std::span<const Array> arguments) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::shared_ptr<const Executable> compile(FunctionPtr function, const CompileOptions& options) = 0;
  /// Of a function that is one loop, whose sizes are those of the context that it runs in: null when running it step by step is as
  /// good.
  virtual std::shared_ptr<const Executable> compile_loop(FunctionPtr function, const CompileOptions& options) = 0;
};

}  // namespace tercet
