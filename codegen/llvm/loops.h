// Loops under construction. Private to codegen/llvm.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <vector>

namespace tercet::codegen {

using Values = std::vector<llvm::Value*>;

/// for (i = begin; i < end; i += step), carrying values from one iteration to the next. `body(i, carried)` emits one
/// iteration at the builder's place and returns the values for the next. Returns the values after the loop.
template <class Body>
Values counted_loop(llvm::IRBuilder<>& b, llvm::Value* begin, llvm::Value* end, int64_t step, Values carried,
                    Body body) {
  llvm::Function* f = b.GetInsertBlock()->getParent();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, f); };
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = block("loop"), *after = block("after");
  b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode* i = b.CreatePHI(begin->getType(), 2);
  i->addIncoming(begin, before);
  std::vector<llvm::PHINode*> entering;
  Values now;
  for (llvm::Value* v : carried) {
    entering.push_back(b.CreatePHI(v->getType(), 2));
    entering.back()->addIncoming(v, before);
    now.push_back(entering.back());
  }
  Values next = body(static_cast<llvm::Value*>(i), now);
  llvm::Value* following = b.CreateAdd(i, b.getInt64(static_cast<uint64_t>(step)));
  llvm::BasicBlock* last = b.GetInsertBlock();
  i->addIncoming(following, last);
  for (size_t k = 0; k < next.size(); ++k) entering[k]->addIncoming(next[k], last);
  b.CreateCondBr(b.CreateICmpSLT(following, end), loop, after);
  b.SetInsertPoint(after);
  Values out;
  for (size_t k = 0; k < carried.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(carried[k]->getType(), 2);
    phi->addIncoming(carried[k], before);
    phi->addIncoming(next[k], last);
    out.push_back(phi);
  }
  return out;
}

/// The same without carried values: body(i).
template <class Body>
void simple_loop(llvm::IRBuilder<>& b, llvm::Value* begin, llvm::Value* end, int64_t step, Body body) {
  counted_loop(b, begin, end, step, {}, [&](llvm::Value* i, const Values&) {
    body(i);
    return Values{};
  });
}

/// Emits `then` where the condition holds.
template <class Then>
void emit_if(llvm::IRBuilder<>& b, llvm::Value* condition, Then then) {
  llvm::Function* f = b.GetInsertBlock()->getParent();
  llvm::BasicBlock* yes = llvm::BasicBlock::Create(b.getContext(), "then", f);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b.getContext(), "after", f);
  b.CreateCondBr(condition, yes, after);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

/// `yes` or `no`, each of which emits code and may give a value; returns the one that comes about (null for no values).
template <class Yes, class No>
llvm::Value* emit_either(llvm::IRBuilder<>& b, llvm::Value* condition, Yes yes, No no) {
  llvm::Function* f = b.GetInsertBlock()->getParent();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, f); };
  llvm::BasicBlock *then = block("then"), *other = block("else"), *after = block("after");
  b.CreateCondBr(condition, then, other);
  b.SetInsertPoint(then);
  llvm::Value* a = yes();
  then = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(other);
  llvm::Value* c = no();
  other = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  if (!a || a->getType()->isVoidTy()) return nullptr;
  llvm::PHINode* phi = b.CreatePHI(a->getType(), 2);
  phi->addIncoming(a, then);
  phi->addIncoming(c, other);
  return phi;
}

}  // namespace tercet::codegen
