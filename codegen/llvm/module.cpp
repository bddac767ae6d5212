#include "codegen/llvm/module.h"

#include <fmt/format.h>

#include <unordered_map>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/loop.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {

namespace {

KernelCode loop_code(const ProgramSet& set, const KernelCodes& codes, size_t l) {
  const LoopCode& loop = *set.loops[l];
  KernelCode out{fmt::format("l{}", l), "", nullptr, nullptr, &loop};
  std::vector<std::string> keys;
  for_each_kernel(loop.outermost, [&](const LoopCode::RunKernel& run, const LoopCode::Repeat&) {
    out.calls.push_back(codes.of[loop.parts[run.part].program->number][run.kernel]);
    const KernelCode& kernel = codes.all[out.calls.back()];
    keys.push_back(kernel.symbol + " " + kernel.key);
  });
  out.key = code_key(loop, keys);
  return out;
}

}  // namespace

KernelCodes kernel_codes(const ProgramSet& set) {
  KernelCodes out;
  std::unordered_map<std::string, size_t> known;
  for (const auto& p : set.programs) {
    out.of.emplace_back();
    for (size_t i = 0; i < p->kernels.size(); ++i) {
      poll();
      auto [at, fresh] = known.try_emplace(code_key(p->kernels[i], p->sizes), out.all.size());
      if (fresh) out.all.push_back({fmt::format("p{}_k{}", p->number, i), at->first, p.get(), &p->kernels[i]});
      out.of.back().push_back(at->second);
    }
  }
  for (size_t l = 0; l < set.loops.size(); ++l) out.all.push_back(loop_code(set, out, l));
  return out;
}

namespace {

void emit_kernel(llvm::Module& module, const KernelCode& code, const std::string& name, int simd_bits) {
  Body body(module, *code.kernel, code.program->sizes, name, simd_bits);
  switch (code.kernel->schedule) {
    case Schedule::Elementwise:
      emit_elementwise(body);
      break;
    case Schedule::Interleaved:
      emit_interleaved(body);
      break;
    case Schedule::RowReduce:
      emit_row_reduce(body);
      break;
    case Schedule::ColumnReduce:
      emit_column_reduce(body);
      break;
    case Schedule::SmallReduce:
      emit_small_reduce(body);
      break;
    case Schedule::Scatter:
      emit_scatter(body);
      break;
  }
  body.finish();
}

/// Nodes of the kernels that may stand in one loop: LLVM takes a second for so many.
constexpr size_t most_inside = 4000;

bool is_small(const KernelCodes& codes, const KernelCode& loop) {
  size_t nodes = 0;
  for (size_t k : loop.calls) nodes += codes.all[k].kernel->nodes.size();
  return nodes <= most_inside;
}

/// Emits one loop; kernels of single elements are emitted again, to stand in it, where it is to be whole.
class LoopModule {
 public:
  LoopModule(llvm::Module& module, const KernelCodes& codes, int simd_bits, bool whole)
      : module_(module), codes_(codes), simd_bits_(simd_bits), whole_(whole) {}
  void emit(const KernelCode& code) {
    std::vector<llvm::Function*> kernels;
    for (size_t k : code.calls) kernels.push_back(kernel(codes_.all[k]));
    llvm::Function* loop = emit_loop(module_, *code.loop, code.symbol, kernels);
    for (llvm::Function* f : inside_) f->eraseFromParent();
    if (whole_) optimize_loop(*loop);
  }

 private:
  llvm::Function* kernel(const KernelCode& code) {
    const bool inside = whole_ && code.kernel->loops.empty();
    const std::string name = inside ? code.symbol + "_inside" : code.symbol;
    if (llvm::Function* known = module_.getFunction(name)) return known;
    if (!inside) return llvm::Function::Create(kernel_type(module_.getContext()), llvm::GlobalValue::ExternalLinkage, name, module_);
    emit_kernel(module_, code, name, simd_bits_);
    llvm::Function* f = module_.getFunction(name);
    f->setLinkage(llvm::GlobalValue::InternalLinkage);
    inside_.push_back(f);
    return f;
  }

  llvm::Module& module_;
  const KernelCodes& codes_;
  int simd_bits_;
  bool whole_;
  std::vector<llvm::Function*> inside_;
};

}  // namespace

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const KernelCodes& codes, CodePart part, int simd_bits, bool whole_loops) {
  auto module = std::make_unique<llvm::Module>("tercet", context);
  for (size_t at = part.begin; at < part.end; ++at) {
    poll();
    const KernelCode& code = codes.all[at];
    if (code.loop) LoopModule(*module, codes, simd_bits, whole_loops && is_small(codes, code)).emit(code);
    else emit_kernel(*module, code, code.symbol, simd_bits);
  }
  return module;
}

}  // namespace tercet::codegen
