#include "codegen/jit/jit.h"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <atomic>
#include <mutex>

#include "base/diagnostic.h"
#include "codegen/jit/program_key.h"
#include "codegen/jit/target.h"
#include "codegen/llvm/module.h"

namespace tercet::codegen {
namespace {

template <class T>
T checked(llvm::Expected<T> value) {
  if (!value) fail(Kind::Internal, {}, "code generation: " + llvm::toString(value.takeError()));
  return std::move(*value);
}
void checked(llvm::Error error) {
  if (error) fail(Kind::Internal, {}, "code generation: " + llvm::toString(std::move(error)));
}

/// The process's one linker and a target machine per vector width. Programs live in libraries of their own, so that
/// each can be dropped alone.
class Jit {
 public:
  static std::shared_ptr<Jit> instance() {
    static std::shared_ptr<Jit> jit = std::make_shared<Jit>();
    return jit;
  }
  Jit() { linker_ = checked(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target_of_host(256)).create()); }

  std::unique_ptr<llvm::MemoryBuffer> compile(llvm::Module& module, int simd_bits) {
    std::lock_guard lock(mutex_);
    llvm::TargetMachine& target = machine(simd_bits);
    prepare(module, target, simd_bits);
    return checked(llvm::orc::SimpleCompiler(target)(module));
  }
  llvm::orc::JITDylib& link(std::unique_ptr<llvm::MemoryBuffer> object) {
    auto& library = checked<std::reference_wrapper<llvm::orc::JITDylib>>(new_library()).get();
    checked(linker_->addObjectFile(library, std::move(object)));
    return library;
  }
  KernelFunction find(llvm::orc::JITDylib& library, const std::string& name) {
    return checked(linker_->lookup(library, name)).toPtr<KernelFunction>();
  }
  void drop(llvm::orc::JITDylib& library) {
    llvm::consumeError(linker_->getExecutionSession().removeJITDylib(library));
  }

 private:
  llvm::Expected<std::reference_wrapper<llvm::orc::JITDylib>> new_library() {
    auto library = linker_->createJITDylib("program" + std::to_string(next_.fetch_add(1)));
    if (!library) return library.takeError();
    return std::ref(*library);
  }
  llvm::TargetMachine& machine(int simd_bits) {
    auto& slot = machines_[simd_bits == 512];
    if (!slot) slot = make_target_machine(simd_bits);
    return *slot;
  }

  std::mutex mutex_;
  std::unique_ptr<llvm::orc::LLJIT> linker_;
  std::array<std::unique_ptr<llvm::TargetMachine>, 2> machines_;
  std::atomic<uint64_t> next_{0};
};

}  // namespace

MachineCode compile_kernels(const ProgramSet& set, int simd_bits, const ObjectCache* cache) {
  MachineCode code;
  bool any = false;
  for (const auto& p : set.programs) any |= !p->kernels.empty();
  code.kernels.resize(set.programs.size());
  if (!any) return code;
  std::shared_ptr<Jit> jit = Jit::instance();
  KernelCodes codes = kernel_codes(set);
  std::optional<CacheKey> key = cache ? program_key(codes, simd_bits) : std::nullopt;
  std::optional<std::string> known = key ? cache->find(*key) : std::nullopt;
  code.from_cache = known.has_value();
  std::unique_ptr<llvm::MemoryBuffer> object;
  if (known) {
    object = llvm::MemoryBuffer::getMemBufferCopy(*known);
  } else {
    llvm::LLVMContext context;
    object = jit->compile(*emit_module(context, codes), simd_bits);
    if (key) cache->store(*key, {object->getBufferStart(), object->getBufferSize()});
  }
  llvm::orc::JITDylib& library = jit->link(std::move(object));
  code.memory = std::shared_ptr<const void>(
      &library, [jit](const void* l) { jit->drop(*static_cast<llvm::orc::JITDylib*>(const_cast<void*>(l))); });
  std::vector<KernelFunction> functions;
  for (const KernelCode& c : codes.all) functions.push_back(jit->find(library, c.symbol));
  for (size_t p = 0; p < codes.of.size(); ++p)
    for (size_t at : codes.of[p]) code.kernels[p].push_back(functions[at]);
  return code;
}

std::string llvm_text(const ProgramSet& set) {
  llvm::LLVMContext context;
  std::string text;
  llvm::raw_string_ostream out(text);
  emit_module(context, kernel_codes(set))->print(out, nullptr);
  return text;
}

std::string assembly_text(const ProgramSet& set, int simd_bits) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = emit_module(context, kernel_codes(set));
  std::unique_ptr<llvm::TargetMachine> target = make_target_machine(simd_bits);
  prepare(*module, *target, simd_bits);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  TERCET_CHECK(!target->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile));
  passes.run(*module);
  return std::string(text);
}

}  // namespace tercet::codegen
