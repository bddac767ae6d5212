#include "codegen/jit/jit.h"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <thread>

#include "base/diagnostic.h"
#include "codegen/jit/program_key.h"
#include "codegen/jit/target.h"
#include "codegen/llvm/module.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {
namespace {

/// A part's kernels take some 20 ms to compile, most of the time; what has more instructions is compiled aside.
constexpr size_t nodes_of_part = 800, nodes_around = 16, most_at_once = 4000;

class Jit;
std::atomic<Jit*> compiling_aside{nullptr};   // an engine that is a static object may end after the linker

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

  ~Jit() { wait_for_helpers(), compiling_aside = nullptr; }
  void wait_for_helpers() {
    std::list<Helper> all;
    {
      std::scoped_lock lock(helpers_mutex_);
      all.swap(helpers_);
    }
    for (Helper& h : all) h.thread.join();
  }

  std::unique_ptr<llvm::MemoryBuffer> compile(llvm::Module& module, int simd_bits) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    while (!lock && !lock.try_lock()) {   // others compile
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      poll();
    }
    return compiled(module, simd_bits);
  }
  /// For what takes long, and LLVM cannot be asked to stop: on a thread of its own, which is left to itself when a poll throws.
  std::unique_ptr<llvm::MemoryBuffer> compile_aside(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module, int simd_bits) {
    struct Job {
      std::unique_ptr<llvm::LLVMContext> context;
      std::unique_ptr<llvm::Module> module;   // goes first
      std::promise<std::unique_ptr<llvm::MemoryBuffer>> result;
    };
    auto job = std::make_shared<Job>(Job{std::move(context), std::move(module), {}});
    compiling_aside = this;
    std::future<std::unique_ptr<llvm::MemoryBuffer>> result = job->result.get_future();
    auto ended = std::make_shared<std::atomic<bool>>(false);
    auto work = [this, job, ended, simd_bits] {
      try {
        std::scoped_lock lock(mutex_);
        job->result.set_value(compiled(*job->module, simd_bits));
      } catch (...) {
        job->result.set_exception(std::current_exception());
      }
      *ended = true;
    };
    {
      std::scoped_lock lock(helpers_mutex_);
      std::erase_if(helpers_, [](Helper& h) { return *h.ended && (h.thread.join(), true); });
      helpers_.push_back({std::thread(work), ended});
    }
    while (result.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) poll();
    return result.get();
  }
  llvm::orc::JITDylib& new_library() {
    auto library = linker_->createJITDylib("program" + std::to_string(next_.fetch_add(1)));
    if (!library) checked(library.takeError());
    return *library;
  }
  void add(llvm::orc::JITDylib& library, std::unique_ptr<llvm::MemoryBuffer> object) {
    checked(linker_->addObjectFile(library, std::move(object)));
  }
  KernelFunction find(llvm::orc::JITDylib& library, const std::string& name) {
    return checked(linker_->lookup(library, name)).toPtr<KernelFunction>();
  }
  void drop(llvm::orc::JITDylib& library) {
    llvm::consumeError(linker_->getExecutionSession().removeJITDylib(library));
  }

 private:
  struct Helper {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> ended;
  };
  std::unique_ptr<llvm::MemoryBuffer> compiled(llvm::Module& module, int simd_bits) {
    llvm::TargetMachine& target = machine(simd_bits);
    prepare(module, target, simd_bits);
    return checked(llvm::orc::SimpleCompiler(target)(module));
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
  std::mutex helpers_mutex_;
  std::list<Helper> helpers_;
};

/// Kernels that are compiled together: between parts there is a poll.
std::vector<std::span<const KernelCode>> parts_of(std::span<const KernelCode> all) {
  std::vector<std::span<const KernelCode>> out;
  for (size_t begin = 0, end; begin < all.size(); begin = end) {
    size_t nodes = 0;
    for (end = begin; end < all.size() && (end == begin || nodes + all[end].kernel->nodes.size() <= nodes_of_part); ++end)
      nodes += all[end].kernel->nodes.size() + nodes_around;
    out.push_back(all.subspan(begin, end - begin));
  }
  return out;
}

/// From the cache, or compiled, which clears `from_cache`.
std::unique_ptr<llvm::MemoryBuffer> object_of(Jit& jit, std::span<const KernelCode> part, int simd_bits, const ObjectCache* cache, bool& from_cache) {
  std::optional<CacheKey> key = cache ? program_key(part, simd_bits) : std::nullopt;
  if (std::optional<std::string> known = key ? cache->find(*key) : std::nullopt) return llvm::MemoryBuffer::getMemBufferCopy(*known);
  from_cache = false;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = emit_module(*context, part);
  std::unique_ptr<llvm::MemoryBuffer> object;
  if (module->getInstructionCount() > most_at_once) object = jit.compile_aside(std::move(context), std::move(module), simd_bits);
  else object = jit.compile(*module, simd_bits);
  if (key) cache->store(*key, {object->getBufferStart(), object->getBufferSize()});
  return object;
}

}  // namespace

void wait_for_compilations() {
  if (Jit* jit = compiling_aside) jit->wait_for_helpers();
}

MachineCode compile_kernels(const ProgramSet& set, int simd_bits, const ObjectCache* cache) {
  MachineCode code;
  bool any = false;
  for (const auto& p : set.programs) any |= !p->kernels.empty();
  code.kernels.resize(set.programs.size());
  if (!any) return code;
  std::shared_ptr<Jit> jit = Jit::instance();
  KernelCodes codes = kernel_codes(set);
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  code.from_cache = true;
  for (std::span<const KernelCode> part : parts_of(codes.all)) {
    poll();
    objects.push_back(object_of(*jit, part, simd_bits, cache, code.from_cache));
  }
  llvm::orc::JITDylib& library = jit->new_library();
  code.memory = std::shared_ptr<const void>(
      &library, [jit](const void* l) { jit->drop(*static_cast<llvm::orc::JITDylib*>(const_cast<void*>(l))); });
  for (auto& object : objects) jit->add(library, std::move(object));
  std::vector<KernelFunction> functions;
  for (const KernelCode& c : codes.all) {
    poll();
    functions.push_back(jit->find(library, c.symbol));
  }
  for (size_t p = 0; p < codes.of.size(); ++p)
    for (size_t at : codes.of[p]) code.kernels[p].push_back(functions[at]);
  return code;
}

std::string llvm_text(const ProgramSet& set) {
  llvm::LLVMContext context;
  std::string text;
  llvm::raw_string_ostream out(text);
  emit_module(context, kernel_codes(set).all)->print(out, nullptr);
  return text;
}

std::string assembly_text(const ProgramSet& set, int simd_bits) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = emit_module(context, kernel_codes(set).all);
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
