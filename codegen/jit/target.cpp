#include "codegen/jit/target.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>
#include <string>

#include "base/diagnostic.h"
#include "codegen/jit/jit.h"

namespace tercet::codegen {
namespace {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Kernels have simple addresses already; loop strength reduction costs a quarter of the compile time for nothing.
    if (llvm::cl::Option* lsr = llvm::cl::getRegisteredOptions().lookup("disable-lsr"))
      lsr->addOccurrence(0, "disable-lsr", "true");
  });
}

}  // namespace

int widest_simd() {
  static const int bits = [] {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    for (const char* needed : {"avx512f", "avx512vl", "avx512bw", "avx512dq"})
      if (!features.lookup(needed)) return 256;
    return 512;
  }();
  return bits;
}

llvm::orc::JITTargetMachineBuilder target_of_host(int simd_bits, Tier tier) {
  initialize_llvm();
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  TERCET_CHECK(static_cast<bool>(host));
  llvm::orc::JITTargetMachineBuilder target = std::move(*host);
  target.setCodeModel(llvm::CodeModel::Small);
  target.setRelocationModel(llvm::Reloc::PIC_);
  // The emitter has done what a level above Less would do again: kernels run as fast, and compile in two thirds of the time.
  // None compiles in a third of that, and runs between as fast and three times slower.
  target.setCodeGenOptLevel(tier == Tier::First ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Less);
  target.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  if (simd_bits == 512) {
    target.getFeatures().AddFeature("prefer-256-bit", false);
  } else {
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      if (feature.getKey().starts_with("avx512") || feature.getKey().starts_with("avx10"))
        target.getFeatures().AddFeature(feature.getKey(), false);
  }
  return target;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(int simd_bits, Tier tier) {
  auto machine = target_of_host(simd_bits, tier).createTargetMachine();
  TERCET_CHECK(static_cast<bool>(machine));
  return std::move(*machine);
}

void prepare(llvm::Module& module, llvm::TargetMachine& target, int simd_bits) {
#ifndef NDEBUG
  std::string wrong;
  llvm::raw_string_ostream out(wrong);
  if (llvm::verifyModule(module, &out)) fail(Kind::Internal, {}, "code generation: " + wrong);
#endif
  module.setTargetTriple(target.getTargetTriple().str());
  module.setDataLayout(target.createDataLayout());
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("prefer-vector-width", std::to_string(simd_bits));
    f.addFnAttr("min-legal-vector-width", std::to_string(simd_bits));
  }
}

}  // namespace tercet::codegen
