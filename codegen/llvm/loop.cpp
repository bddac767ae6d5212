// The code of a whole loop: a function of LoopFunction's type that calls the kernels' functions. Optimised, kernels of single
// elements stand in it instead of calls, and cells are registers.
#include "codegen/llvm/loop.h"

#include <llvm/Transforms/Utils/Cloning.h>

#include "base/diagnostic.h"
#include "codegen/llvm/loops.h"
#include "codegen/plan/kernel_abi.h"
#include "codegen/plan/loop_abi.h"
#include "codegen/plan/program.h"

namespace tercet::codegen {
namespace {

class LoopEmitter {
 public:
  LoopEmitter(llvm::Module& module, const LoopCode& loop, const std::string& name, std::span<llvm::Function* const> kernels)
      : loop_(loop), kernels_(kernels), b_(module.getContext()), entry_(module.getContext()) {
    auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy()}, false);
    f_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    f_->addFnAttr(llvm::Attribute::NoUnwind);
    context_ = f_->getArg(0);
    auto* entry = block("entry");
    auto* start = block("start");
    entry_.SetInsertPoint(llvm::BranchInst::Create(start, entry));
    b_.SetInsertPoint(start);
  }

  llvm::Function* emit() {
    sizes_ = field(offsetof(LoopContext, sizes), entry_.getPtrTy());
    failed_ = entry_.CreateAlloca(entry_.getInt8Ty());
    budget_ = entry_.CreateAlloca(entry_.getInt64Ty());
    done_ = entry_.CreateAlloca(entry_.getInt64Ty());
    entry_.CreateStore(entry_.getInt8(0), failed_);
    entry_.CreateStore(field(offsetof(LoopContext, budget), entry_.getInt64Ty()), budget_);
    entry_.CreateStore(field(offsetof(LoopContext, done), entry_.getInt64Ty()), done_);
    take_in();
    leave_ = block("leave");
    end_ = llvm::PHINode::Create(b_.getInt64Ty(), 4, "", leave_);
    outermost();
    b_.SetInsertPoint(leave_);
    give_out();
    b_.CreateRet(end_);
    return f_;
  }
  /// Calls of kernels, for putting their code in their place.
  const std::vector<llvm::CallInst*>& calls() const { return calls_; }

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, f_); }
  llvm::Value* field(unsigned byte_offset, llvm::Type* type) { return entry_.CreateLoad(type, entry_.CreateConstGEP1_64(entry_.getInt8Ty(), context_, byte_offset)); }
  /// Element k of a table of the context. What does not change while the loop runs is loaded once.
  llvm::Value* known(unsigned table, size_t k) {
    return entry_.CreateLoad(entry_.getInt64Ty(), entry_.CreateConstGEP1_64(entry_.getInt64Ty(), field(table, entry_.getPtrTy()), k));
  }
  llvm::Value* bytes(int32_t pointer) { return known(offsetof(LoopContext, bytes), static_cast<size_t>(pointer)); }
  llvm::Type* type_of_cell(int32_t cell) { return b_.getIntNTy(static_cast<unsigned>(8 * size_of(loop_.cells[static_cast<size_t>(cell)]))); }
  llvm::Value* cell(int32_t c) { return cells_[static_cast<size_t>(c)]; }
  llvm::Value* load_cell(int32_t c) { return b_.CreateLoad(type_of_cell(c), cell(c)); }
  llvm::Value* pointer(int32_t p) { return pointers_[static_cast<size_t>(p)]; }
  llvm::Value* load_pointer(int32_t p) { return b_.CreateLoad(b_.getPtrTy(), pointer(p)); }
  llvm::Value* address(Place p) { return p.kind == Place::Cell ? cell(p.number) : load_pointer(p.number); }

  // ---- in and out ----
  llvm::Value* outside_cell(llvm::IRBuilder<>& b, int32_t c) { return b.CreateConstGEP1_64(b.getInt64Ty(), outside_cells_, static_cast<uint64_t>(c)); }
  void take_in() {
    outside_cells_ = field(offsetof(LoopContext, cells), entry_.getPtrTy());
    outside_pointers_ = field(offsetof(LoopContext, pointers), entry_.getPtrTy());
    for (size_t c = 0; c < loop_.cells.size(); ++c) cells_.push_back(entry_.CreateAlloca(type_of_cell(static_cast<int32_t>(c))));
    for (size_t p = 0; p < loop_.pointers.size(); ++p) {
      pointers_.push_back(entry_.CreateAlloca(entry_.getPtrTy()));
      entry_.CreateStore(entry_.CreateLoad(entry_.getPtrTy(), entry_.CreateConstGEP1_64(entry_.getPtrTy(), outside_pointers_, p)), pointers_[p]);
    }
    for (Place p : loop_.operands)
      if (p.kind == Place::Cell) entry_.CreateStore(entry_.CreateLoad(type_of_cell(p.number), outside_cell(entry_, p.number)), cell(p.number));
    for (auto [c, bits] : loop_.cell_constants) entry_.CreateStore(llvm::ConstantInt::get(type_of_cell(c), bits), cell(c));
  }
  void give_out() {
    for (Place p : loop_.results)
      if (p.kind == Place::Cell) b_.CreateStore(load_cell(p.number), outside_cell(b_, p.number));
    for (size_t p = 0; p < pointers_.size(); ++p)
      b_.CreateStore(load_pointer(static_cast<int32_t>(p)), b_.CreateConstGEP1_64(b_.getPtrTy(), outside_pointers_, p));
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), done_), b_.CreateConstGEP1_64(b_.getInt8Ty(), context_, offsetof(LoopContext, done)));
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), budget_), b_.CreateConstGEP1_64(b_.getInt8Ty(), context_, offsetof(LoopContext, budget)));
  }
  void leave(LoopEnd end) {
    end_->addIncoming(b_.getInt64(static_cast<uint64_t>(end)), b_.GetInsertBlock());
    b_.CreateBr(leave_);
  }
  void leave_if(llvm::Value* condition, LoopEnd end) {
    auto* on = block("on");
    end_->addIncoming(b_.getInt64(static_cast<uint64_t>(end)), b_.GetInsertBlock());
    b_.CreateCondBr(condition, leave_, on);
    b_.SetInsertPoint(on);
  }

  // ---- loops ----
  void outermost() {
    const LoopCode::Repeat& r = loop_.outermost;
    repeat(r, done_, [&] {
      llvm::Value* asked = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), context_, offsetof(LoopContext, leave)));
      leave_if(b_.CreateOr(spent(r), b_.CreateIsNotNull(asked)), LoopEnd::Again);
    });
    leave(LoopEnd::Done);
  }
  void inner(const LoopCode::Repeat& r) {
    llvm::Value* step = entry_.CreateAlloca(entry_.getInt64Ty());
    b_.CreateStore(b_.getInt64(0), step);
    repeat(r, step, [&] {
      emit_if(b_, spent(r), [&] {
        auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy()}, false);
        llvm::Value* fresh = b_.CreateCall(type, field(offsetof(LoopContext, poll), entry_.getPtrTy()), {context_});
        b_.CreateStore(fresh, budget_);
        leave_if(b_.CreateIsNull(fresh), LoopEnd::Stopped);
      });
    });
  }
  /// The steps of a repetition, of which `step` counts those that are done. between() stands before each.
  template <class Between> void repeat(const LoopCode::Repeat& r, llvm::Value* step, const Between& between) {
    auto *head = block("head"), *body = block("body"), *after = block("after");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    between();
    b_.CreateCondBr(r.test >= 0 ? holds(r) : b_.CreateICmpSLT(b_.CreateLoad(b_.getInt64Ty(), step), length(r)), body, after);
    b_.SetInsertPoint(body);
    llvm::Value* at = nullptr;
    if (r.test < 0) at = begin_row(r, step);
    emit(r.body, r);
    if (r.test < 0) end_row(r, at);
    emit_item(r.next, r);
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), step), b_.getInt64(1), "", true, true), step);
    b_.CreateBr(head);
    b_.SetInsertPoint(after);
  }
  llvm::Value* length(const LoopCode::Repeat& r) { return known(offsetof(LoopContext, lengths), r.number); }
  llvm::Value* holds(const LoopCode::Repeat& r) {
    emit(r.condition, r);
    return b_.CreateIsNotNull(load_cell(r.test));
  }
  /// Takes the cost of a step off the budget.
  llvm::Value* spent(const LoopCode::Repeat& r) {
    llvm::Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), budget_), known(offsetof(LoopContext, costs), r.number));
    b_.CreateStore(left, budget_);
    return b_.CreateICmpSLT(left, b_.getInt64(0));
  }

  // ---- rows of scans ----
  llvm::Value* row_bytes(Place row) {
    if (row.kind == Place::Pointer) return bytes(row.number);
    return b_.getInt64(size_of(loop_.cells[static_cast<size_t>(row.number)]));
  }
  llvm::Value* row_address(const LoopCode::Row& row, llvm::Value* at) {
    return b_.CreateGEP(b_.getInt8Ty(), load_pointer(row.pointer), b_.CreateMul(at, row_bytes(row.place)));
  }
  llvm::Value* begin_row(const LoopCode::Repeat& r, llvm::Value* step) {
    llvm::Value* at = b_.CreateLoad(b_.getInt64Ty(), step);
    if (r.reverse) at = b_.CreateSub(b_.CreateSub(length(r), b_.getInt64(1)), at);
    b_.CreateStore(at, cell(r.index));
    for (const LoopCode::Row& row : r.rows) {
      llvm::Value* from = row_address(row, at);
      if (row.place.kind == Place::Pointer) b_.CreateStore(from, pointer(row.place.number));
      else b_.CreateStore(b_.CreateLoad(type_of_cell(row.place.number), from), cell(row.place.number));
    }
    return at;
  }
  void end_row(const LoopCode::Repeat& r, llvm::Value* at) {
    for (const LoopCode::Row& row : r.stacked) {
      llvm::Value* to = row_address(row, at);
      if (row.place.kind == Place::Pointer) copy(to, load_pointer(row.place.number), row_bytes(row.place));
      else b_.CreateStore(load_cell(row.place.number), to);
    }
  }
  void copy(llvm::Value* to, llvm::Value* from, llvm::Value* count) { b_.CreateMemCpy(to, llvm::MaybeAlign(1), from, llvm::MaybeAlign(1), count); }

  // ---- what stands in a step ----
  void emit(const LoopCode::Block& items, const LoopCode::Repeat& r) {
    for (const LoopCode::Item& item : items) std::visit([&](const auto& x) { emit_item(x, r); }, item);
  }
  void emit_item(const std::unique_ptr<LoopCode::Repeat>& r, const LoopCode::Repeat&) { inner(*r); }
  void emit_item(const std::unique_ptr<LoopCode::Choose>& c, const LoopCode::Repeat& r) {
    emit_either(
        b_, b_.CreateIsNotNull(load_cell(c->condition)), [&]() -> llvm::Value* { return emit(c->yes, r), nullptr; },
        [&]() -> llvm::Value* { return emit(c->no, r), nullptr; });
  }
  void emit_item(const LoopCode::Assign& a, const LoopCode::Repeat&) {
    std::vector<llvm::Value*> values;
    for (auto [to, from] : a.cells) values.push_back(load_cell(from));
    for (size_t k = 0; k < values.size(); ++k) b_.CreateStore(values[k], cell(a.cells[k].first));
    for (const LoopCode::Assign::Move& m : a.pointers) {
      llvm::Value *to = load_pointer(m.to), *from = load_pointer(m.from);
      if (!m.swap) {
        copy(to, from, bytes(m.to));
        continue;
      }
      b_.CreateStore(from, pointer(m.to));
      b_.CreateStore(to, pointer(m.from));
    }
  }
  void emit_item(const LoopCode::RunKernel& run, const LoopCode::Repeat&) {
    const Kernel& k = loop_.parts[run.part].program->kernels[run.kernel];
    llvm::Value* buffers = entry_.CreateAlloca(entry_.getPtrTy(), entry_.getInt64(std::max<size_t>(1, run.buffers.size())));
    for (size_t i = 0; i < run.buffers.size(); ++i) b_.CreateStore(address(run.buffers[i]), b_.CreateConstGEP1_64(b_.getPtrTy(), buffers, i));
    calls_.push_back(b_.CreateCall(kernels_[calls_.size()], {kernel_context(run, buffers), ranges(run, k)}));
    if (!k.checks.empty()) leave_if(b_.CreateIsNotNull(b_.CreateLoad(b_.getInt8Ty(), failed_)), LoopEnd::Failed);
  }
  llvm::Value* kernel_context(const LoopCode::RunKernel& run, llvm::Value* buffers) {
    llvm::Value* out = entry_.CreateAlloca(entry_.getInt64Ty(), entry_.getInt64(sizeof(KernelContext) / 8));
    auto set = [&](unsigned offset, llvm::Value* value) { entry_.CreateStore(value, entry_.CreateConstGEP1_64(entry_.getInt8Ty(), out, offset)); };
    set(offsetof(KernelContext, buffers), buffers);
    set(offsetof(KernelContext, sizes), entry_.CreateConstGEP1_64(entry_.getInt64Ty(), sizes_, loop_.parts[run.part].first_size));
    set(offsetof(KernelContext, failed), failed_);
    set(offsetof(KernelContext, totals), llvm::ConstantPointerNull::get(entry_.getPtrTy()));
    set(offsetof(KernelContext, outputs), entry_.getInt64(0));
    set(offsetof(KernelContext, stream), entry_.getInt8(0));
    return out;
  }
  /// All of each loop; of reduced ones one block.
  llvm::Value* ranges(const LoopCode::RunKernel& run, const Kernel& k) {
    llvm::Value* out = entry_.CreateAlloca(entry_.getInt64Ty(), entry_.getInt64(2 * k.loops.size() + 2));
    for (size_t l = 0; l < k.loops.size(); ++l) {
      const bool blocks = !k.reductions.empty() && l == k.first_reduced();
      const size_t size = loop_.parts[run.part].first_size + static_cast<size_t>(run.extents[l]);
      llvm::Value* end = blocks ? entry_.getInt64(1) : static_cast<llvm::Value*>(entry_.CreateLoad(entry_.getInt64Ty(), entry_.CreateConstGEP1_64(entry_.getInt64Ty(), sizes_, size)));
      entry_.CreateStore(entry_.getInt64(0), entry_.CreateConstGEP1_64(entry_.getInt64Ty(), out, 2 * l));
      entry_.CreateStore(end, entry_.CreateConstGEP1_64(entry_.getInt64Ty(), out, 2 * l + 1));
    }
    return out;
  }

  const LoopCode& loop_;
  std::span<llvm::Function* const> kernels_;   // in the order of their calls
  llvm::Function* f_;
  llvm::IRBuilder<> b_, entry_;   // entry_: what is done once, before everything else
  llvm::Value *context_, *sizes_ = nullptr, *failed_ = nullptr, *budget_ = nullptr, *done_ = nullptr;
  llvm::Value *outside_cells_ = nullptr, *outside_pointers_ = nullptr;
  std::vector<llvm::Value*> cells_, pointers_;   // memory of the function itself
  llvm::BasicBlock* leave_ = nullptr;
  llvm::PHINode* end_ = nullptr;
  std::vector<llvm::CallInst*> calls_;
};

}  // namespace

llvm::Function* emit_loop(llvm::Module& module, const LoopCode& loop, const std::string& name, std::span<llvm::Function* const> kernels) {
  LoopEmitter emitter(module, loop, name, kernels);
  llvm::Function* f = emitter.emit();
  for (llvm::CallInst* call : emitter.calls())
    if (call->getCalledFunction()->hasInternalLinkage()) {
      llvm::InlineFunctionInfo info;
      TERCET_CHECK(llvm::InlineFunction(*call, info).isSuccess());
    }
  return f;
}

}  // namespace tercet::codegen
