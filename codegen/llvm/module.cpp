#include "codegen/llvm/module.h"

#include <fmt/format.h>

#include <unordered_map>

#include "codegen/llvm/emit.h"

namespace tercet::codegen {

std::vector<std::vector<std::string>> kernel_symbols(const ProgramSet& set) {
  std::vector<std::vector<std::string>> out;
  std::unordered_map<std::string, std::string> known;
  for (const auto& p : set.programs) {
    out.emplace_back();
    for (size_t i = 0; i < p->kernels.size(); ++i) {
      std::string own = fmt::format("p{}_k{}", p->number, i);
      out.back().push_back(known.try_emplace(code_key(p->kernels[i], p->sizes), own).first->second);
    }
  }
  return out;
}

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ProgramSet& set) {
  auto module = std::make_unique<llvm::Module>("tercet", context);
  std::vector<std::vector<std::string>> symbols = kernel_symbols(set);
  for (const auto& program : set.programs)
    for (size_t i = 0; i < program->kernels.size(); ++i) {
      const Kernel& kernel = program->kernels[i];
      const std::string& symbol = symbols[program->number][i];
      if (module->getFunction(symbol)) continue;
      Body body(*module, kernel, program->sizes, symbol);
      switch (kernel.schedule) {
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
