#include "codegen/plan/program.h"

#include <fmt/format.h>

namespace tercet::codegen {
namespace {

std::string text_of(const Program& p, const Step& step) {
  if (auto* kernel = std::get_if<KernelStep>(&step.what))
    return print(p.kernels[kernel->kernel], static_cast<int>(kernel->kernel));
  if (auto* alias = std::get_if<AliasStep>(&step.what))
    return fmt::format("value {} is value {} reshaped\n", alias->to, alias->from);
  if (auto* copy = std::get_if<CopyStep>(&step.what))
    return fmt::format("value {} is a copy of value {}\n", copy->to, copy->from);
  const Op& op = *std::get<NativeStep>(step.what).op;
  std::string out = fmt::format("native {}(", op.def->name);
  for (size_t i = 0; i < op.inputs.size(); ++i) out += fmt::format("{}{}", i ? ", " : "", op.inputs[i]);
  out += ")";
  for (uint32_t i = 0; i < op.outputs; ++i) out += fmt::format("{} {}", i ? "," : " ->", op.output(i));
  if (int loop = std::get<NativeStep>(step.what).loop; loop >= 0) out += fmt::format(", as loop code {}", loop);
  return out + "\n";
}

}  // namespace

std::vector<ValueId> read_by(const Program& program, const Step& step) {
  if (auto* kernel = std::get_if<KernelStep>(&step.what)) return program.kernels[kernel->kernel].buffers;
  if (auto* alias = std::get_if<AliasStep>(&step.what)) return {alias->from};
  if (auto* copy = std::get_if<CopyStep>(&step.what)) return {copy->from};
  return std::get<NativeStep>(step.what).op->inputs;
}

std::string print(const ProgramSet& set) {
  std::string out;
  for (const auto& p : set.programs) {
    out += fmt::format("program {} {}\n", p->number, p->function->name);
    auto band = p->bands.begin();
    for (size_t at = 0; at < p->steps.size(); ++at) {
      if (band != p->bands.end() && band->first == at) {
        out += fmt::format("band of the next {} kernels\n", band->count);
        ++band;
      }
      out += text_of(*p, p->steps[at]);
    }
  }
  for (size_t l = 0; l < set.loops.size(); ++l) out += print(*set.loops[l], l);
  return out;
}

}  // namespace tercet::codegen
