#include "codegen/llvm/module.h"

#include <fmt/format.h>

#include <unordered_map>

#include "codegen/llvm/emit.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {

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
  return out;
}

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, std::span<const KernelCode> codes, int simd_bits) {
  auto module = std::make_unique<llvm::Module>("tercet", context);
  for (const KernelCode& code : codes) {
    poll();
    Body body(*module, *code.kernel, code.program->sizes, code.symbol, simd_bits);
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
  return module;
}

}  // namespace tercet::codegen
