#include "codegen/llvm/module.h"

#include <fmt/format.h>

#include "codegen/llvm/emit.h"

namespace tercet::codegen {

std::string kernel_symbol(size_t program, size_t kernel) { return fmt::format("p{}_k{}", program, kernel); }

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ProgramSet& set) {
  auto module = std::make_unique<llvm::Module>("tercet", context);
  for (const auto& program : set.programs)
    for (size_t i = 0; i < program->kernels.size(); ++i) {
      const Kernel& kernel = program->kernels[i];
      Body body(*module, kernel, program->sizes, kernel_symbol(program->number, i));
      switch (kernel.schedule) {
        case Schedule::Elementwise:
          emit_elementwise(body);
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
