#include "codegen/jit/jit.h"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <thread>

#include "base/diagnostic.h"
#include "codegen/jit/polled_lock.h"
#include "codegen/jit/program_key.h"
#include "codegen/jit/target.h"
#include "codegen/llvm/module.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {
namespace {

/// A part's kernels take some 10 ms to compile, most of the time; what has more instructions is compiled aside.
constexpr size_t most_at_once = 4000, nodes_around = 16;
constexpr size_t nodes_of_part(Tier tier) { return tier == Tier::First ? 800 : 200; }

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

/// The process's one linker and a target machine per vector width and tier. Programs live in libraries of their own, so that
/// each can be dropped alone.
class Jit {
 public:
  static std::shared_ptr<Jit> instance() {
    static std::shared_ptr<Jit> jit = std::make_shared<Jit>();
    return jit;
  }
  Jit() { linker_ = checked(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target_of_host(256, Tier::First)).create()); }

  ~Jit() { wait_for_helpers(), compiling_aside = nullptr; }
  void wait_for_helpers() {
    std::list<Helper> all;
    {
      std::scoped_lock lock(helpers_mutex_);
      all.swap(helpers_);
    }
    for (Helper& h : all) h.thread.join();
  }

  std::unique_ptr<llvm::MemoryBuffer> compile(llvm::Module& module, int simd_bits, Tier tier) {
    Machine& machine = machine_of(simd_bits, tier);
    const std::unique_lock<std::mutex> lock = polled_lock(machine.mutex);
    return machine.compiled(module);
  }
  /// For what takes long, and LLVM cannot be asked to stop: on a thread of its own, which is left to itself when a poll throws.
  std::unique_ptr<llvm::MemoryBuffer> compile_aside(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module, int simd_bits, Tier tier) {
    struct Job {
      std::unique_ptr<llvm::LLVMContext> context;
      std::unique_ptr<llvm::Module> module;   // goes first
      std::promise<std::unique_ptr<llvm::MemoryBuffer>> result;
    };
    auto job = std::make_shared<Job>(Job{std::move(context), std::move(module), {}});
    compiling_aside = this;
    std::future<std::unique_ptr<llvm::MemoryBuffer>> result = job->result.get_future();
    auto ended = std::make_shared<std::atomic<bool>>(false);
    auto work = [&machine = machine_of(simd_bits, tier), job, ended] {
      try {
        std::scoped_lock lock(machine.mutex);
        job->result.set_value(machine.compiled(*job->module));
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
  template <class F> F find(llvm::orc::JITDylib& library, const std::string& name) {
    return checked(linker_->lookup(library, name)).toPtr<F>();
  }
  void drop(llvm::orc::JITDylib& library) {
    llvm::consumeError(linker_->getExecutionSession().removeJITDylib(library));
  }

 private:
  struct Helper {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> ended;
  };
  /// One thread at a time.
  struct Machine {
    std::mutex mutex;
    std::unique_ptr<llvm::TargetMachine> target;
    int simd_bits;
    Tier tier;

    std::unique_ptr<llvm::MemoryBuffer> compiled(llvm::Module& module) {
      if (!target) target = make_target_machine(simd_bits, tier);
      prepare(module, *target, simd_bits);
      return checked(llvm::orc::SimpleCompiler(*target)(module));
    }
  };
  Machine& machine_of(int simd_bits, Tier tier) {
    for (Machine& m : machines_)
      if (m.simd_bits == simd_bits && m.tier == tier) return m;
    TERCET_CHECK(false);
  }

  std::unique_ptr<llvm::orc::LLJIT> linker_;
  std::array<Machine, 4> machines_{{{{}, {}, 256, Tier::First}, {{}, {}, 256, Tier::Optimized}, {{}, {}, 512, Tier::First}, {{}, {}, 512, Tier::Optimized}}};
  std::atomic<uint64_t> next_{0};
  std::mutex helpers_mutex_;
  std::list<Helper> helpers_;
};

size_t weight(const Kernel& k) { return k.nodes.size() + nodes_around; }
/// A loop is its calls, or, optimised, its kernels.
size_t weight(const KernelCode& code, const KernelCodes& codes, Tier tier) {
  if (!code.loop) return weight(*code.kernel);
  size_t nodes = nodes_around;
  for (size_t k : code.calls) nodes += tier == Tier::First ? nodes_around / 2 : weight(*codes.all[k].kernel);
  return nodes;
}

/// What is compiled together: between parts there is a poll.
std::vector<CodePart> parts_of(const KernelCodes& codes, Tier tier) {
  std::vector<CodePart> out;
  for (size_t begin = 0, end; begin < codes.all.size(); begin = end) {
    size_t nodes = 0;
    for (end = begin; end < codes.all.size(); ++end) {
      nodes += weight(codes.all[end], codes, tier);
      if (end > begin && nodes > nodes_of_part(tier) + nodes_around) break;
    }
    out.push_back({begin, end});
  }
  return out;
}

using Object = std::unique_ptr<llvm::MemoryBuffer>;

Object find(const std::optional<CacheKey>& key, const ObjectCache* cache) {
  std::optional<std::string> known = key ? cache->find(*key) : std::nullopt;
  return known ? llvm::MemoryBuffer::getMemBufferCopy(*known) : nullptr;
}

/// From the cache, or compiled, which clears `from_cache`.
Object object_of(Jit& jit, const KernelCodes& codes, CodePart part, int simd_bits, Tier tier, const ObjectCache* cache, bool& from_cache) {
  std::optional<CacheKey> key = cache ? program_key(codes, part, simd_bits, tier) : std::nullopt;
  if (Object known = find(key, cache)) return known;
  from_cache = false;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = emit_module(*context, codes, part, simd_bits, tier == Tier::Optimized);
  Object object;
  if (module->getInstructionCount() > most_at_once) object = jit.compile_aside(std::move(context), std::move(module), simd_bits, tier);
  else object = jit.compile(*module, simd_bits, tier);
  if (key) cache->store(*key, {object->getBufferStart(), object->getBufferSize()});
  return object;
}

/// Links what was compiled.
MachineCode loaded(const std::shared_ptr<Jit>& jit, std::vector<Object> objects, const KernelCodes& codes) {
  MachineCode code;
  llvm::orc::JITDylib& library = jit->new_library();
  code.memory = std::shared_ptr<const void>(
      &library, [jit](const void* l) { jit->drop(*static_cast<llvm::orc::JITDylib*>(const_cast<void*>(l))); });
  for (Object& object : objects) jit->add(library, std::move(object));
  std::vector<KernelFunction> functions;
  for (const KernelCode& c : codes.all) {
    poll();
    if (c.loop) code.loops.push_back(jit->find<LoopFunction>(library, c.symbol));
    else functions.push_back(jit->find<KernelFunction>(library, c.symbol));
  }
  for (const std::vector<size_t>& program : codes.of) {
    code.kernels.emplace_back();
    for (size_t at : program) code.kernels.back().push_back(functions[at]);
  }
  return code;
}

bool has_code(const ProgramSet& set) {
  return !set.loops.empty() || std::any_of(set.programs.begin(), set.programs.end(), [](const auto& p) { return !p->kernels.empty(); });
}
MachineCode nothing(const ProgramSet& set) {
  MachineCode code;
  code.kernels.resize(set.programs.size());
  return code;
}

}  // namespace

void wait_for_compilations() {
  if (Jit* jit = compiling_aside) jit->wait_for_helpers();
}

MachineCode compile_kernels(const ProgramSet& set, int simd_bits, Tier tier, const ObjectCache* cache) {
  if (!has_code(set)) return nothing(set);
  std::shared_ptr<Jit> jit = Jit::instance();
  KernelCodes codes = kernel_codes(set);
  std::vector<Object> objects;
  bool from_cache = true;
  for (CodePart part : parts_of(codes, tier)) {
    poll();
    objects.push_back(object_of(*jit, codes, part, simd_bits, tier, cache, from_cache));
  }
  MachineCode code = loaded(jit, std::move(objects), codes);
  code.tier = tier;
  code.from_cache = from_cache;
  return code;
}

std::optional<MachineCode> find_kernels(const ProgramSet& set, int simd_bits, Tier tier, const ObjectCache& cache) {
  if (!has_code(set)) return nothing(set);
  KernelCodes codes = kernel_codes(set);
  std::vector<Object> objects;
  for (CodePart part : parts_of(codes, tier)) {
    objects.push_back(find(program_key(codes, part, simd_bits, tier), &cache));
    if (!objects.back()) return std::nullopt;
  }
  MachineCode code = loaded(Jit::instance(), std::move(objects), codes);
  code.tier = tier;
  code.from_cache = true;
  return code;
}

int64_t optimizing_cost(const ProgramSet& set) {
  size_t nodes = 0;
  for (const auto& p : set.programs)
    for (const Kernel& k : p->kernels) nodes += weight(k);
  for (const auto& loop : set.loops)
    for_each_kernel(loop->outermost, [&](const LoopCode::RunKernel& run, const LoopCode::Repeat&) {
      nodes += weight(loop->parts[run.part].program->kernels[run.kernel]);
    });
  return static_cast<int64_t>(nodes);
}

namespace {

std::unique_ptr<llvm::Module> whole_module(llvm::LLVMContext& context, const ProgramSet& set, int simd_bits) {
  const KernelCodes codes = kernel_codes(set);
  return emit_module(context, codes, {0, codes.all.size()}, simd_bits, true);
}

}  // namespace

std::string llvm_text(const ProgramSet& set, int simd_bits) {
  llvm::LLVMContext context;
  std::string text;
  llvm::raw_string_ostream out(text);
  whole_module(context, set, simd_bits)->print(out, nullptr);
  return text;
}

std::string assembly_text(const ProgramSet& set, int simd_bits) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = whole_module(context, set, simd_bits);
  std::unique_ptr<llvm::TargetMachine> target = make_target_machine(simd_bits, Tier::Optimized);
  prepare(*module, *target, simd_bits);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  TERCET_CHECK(!target->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile));
  passes.run(*module);
  return std::string(text);
}

}  // namespace tercet::codegen
