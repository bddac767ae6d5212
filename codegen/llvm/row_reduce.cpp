// Reductions along the vector loop: per row, blocks of 4096 elements; in a block, element i goes to lane i mod 16 of an
// accumulator, and the lanes combine as a tree. Blocks combine pairwise through a binary counter: total b joins the
// totals waiting at levels 0, 1, … for as long as the bits of b are 1. Order: interpreter/runtime/reduce.h.
#include "codegen/llvm/emit.h"
#include "codegen/llvm/reducer.h"
#include "codegen/plan/kernel_abi.h"
#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

constexpr uint64_t counter_levels = 52;   // 2^51 blocks are more than fit in memory

class RowReduce {
 public:
  explicit RowReduce(Body& body) : body_(body), b_(body.builder()), k_(body.kernel()), row_(k_.loops.size() - 1) {
    for (const Reduction& r : k_.reductions)
      reducers_.emplace_back(body.numbers(), b_, r.kind, k_.nodes[static_cast<size_t>(r.value)].dtype);
    for (Reducer& r : reducers_)
      for (size_t p = 0; p < r.parts(); ++p) waiting_.push_back(body.scratch(r.type(p, 1), counter_levels));
  }

  void emit() {
    body_.emit_outermost();
    emit_kept(0);
  }

 private:
  void emit_kept(size_t loop) {
    if (loop == row_) return emit_row();
    auto [begin, end] = body_.range(loop);
    simple_loop(b_, begin, end, 1, [&](llvm::Value* i) {
      body_.enter(loop, i);
      emit_kept(loop + 1);
    });
  }

  /// Each block's total is combined at once, or given to the caller, who combines the blocks that others do.
  void emit_row() {
    auto [begin, end] = body_.range(row_);
    llvm::Value* totals = body_.totals();
    llvm::Value* to_caller = b_.CreateIsNotNull(totals);
    simple_loop(b_, begin, end, 1, [&](llvm::Value* block) {
      std::vector<Values> total = emit_block(block);
      emit_either(b_, to_caller, [&]() -> llvm::Value* { give(totals, block, total); return nullptr; },
                  [&]() -> llvm::Value* { join(block, total); return nullptr; });
    });
    emit_if(b_, b_.CreateNot(to_caller), [&] { store_results(end); });
  }

  std::vector<Values> emit_block(llvm::Value* block) {
    llvm::Value* begin = b_.CreateMul(block, b_.getInt64(reduce_block));
    llvm::Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, b_.getInt64(reduce_block)),
                                                body_.size(k_.loops[row_].extent));
    Values carried;
    for (Reducer& r : reducers_)
      for (llvm::Value* v : r.absent(vector_lanes)) carried.push_back(v);
    carried = body_.vector_loop(begin, end, carried, [&](llvm::Value* i, llvm::Value* mask, const Values& before) {
      body_.emit_lanes(i, mask);
      body_.emit_effects(mask);
      Values next;
      for_each(before, [&](size_t r, const Values& state) {
        Values fresh = reducers_[r].of(body_.lanes(k_.reductions[r].value), position(i));
        Values combined = reducers_[r].combine(state, fresh);
        for (llvm::Value* v : mask ? reducers_[r].select(mask, combined, state) : combined) next.push_back(v);
      });
      return next;
    });
    std::vector<Values> totals;
    for_each(carried, [&](size_t r, const Values& state) { totals.push_back(reducers_[r].across_lanes(state)); });
    return totals;
  }
  llvm::Value* position(llvm::Value* i) {
    llvm::Value* first = b_.CreateVectorSplat(vector_lanes, b_.CreateTrunc(i, b_.getInt32Ty()));
    return b_.CreateAdd(first, Body::lane_numbers(b_.getInt32Ty()));
  }
  /// Calls f(r, parts of reduction r) for states lying one after another.
  template <class F> void for_each(const Values& flat, F f) {
    size_t at = 0;
    for (size_t r = 0; r < reducers_.size(); ++r) {
      auto from = flat.begin() + static_cast<std::ptrdiff_t>(at);
      f(r, Values(from, from + static_cast<std::ptrdiff_t>(reducers_[r].parts())));
      at += reducers_[r].parts();
    }
  }

  void give(llvm::Value* totals, llvm::Value* block, const std::vector<Values>& total) {
    for (size_t r = 0; r < reducers_.size(); ++r)
      for (size_t p = 0; p < total[r].size(); ++p) {
        llvm::Value* slot = b_.CreateConstGEP1_64(b_.getPtrTy(), totals, r * totals_per_reduction + p);
        llvm::Value* stored = body_.to_memory(total[r][p], reducers_[r].part(p));
        b_.CreateStore(stored, b_.CreateGEP(stored->getType(), b_.CreateLoad(b_.getPtrTy(), slot), block));
      }
  }

  void join(llvm::Value* block, const std::vector<Values>& total) {
    llvm::Value* next = b_.CreateAdd(block, b_.getInt64(1));
    llvm::Value* ones = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, next, b_.getTrue());
    Values carried;
    for (const Values& state : total) carried.insert(carried.end(), state.begin(), state.end());
    carried = counted_loop(b_, b_.getInt64(0), ones, 1, carried, [&](llvm::Value* level, const Values& now) {
      return joined_with(level, now);
    });
    for (size_t p = 0; p < carried.size(); ++p) b_.CreateStore(carried[p], waiting(p, ones, carried[p]->getType()));
  }
  /// The totals waiting at `level` stand before the ones at hand.
  Values joined_with(llvm::Value* level, const Values& now) {
    Values out;
    size_t at = 0;
    for_each(now, [&](size_t r, const Values& state) {
      Values earlier;
      for (llvm::Value* v : state) earlier.push_back(b_.CreateLoad(v->getType(), waiting(at++, level, v->getType())));
      for (llvm::Value* v : reducers_[r].combine(earlier, state)) out.push_back(v);
    });
    return out;
  }
  llvm::Value* waiting(size_t part, llvm::Value* level, llvm::Type* type) { return b_.CreateGEP(type, waiting_[part], level); }

  /// Combines what waits: at the levels of the bits of the number of blocks, from the lowest up.
  void store_results(llvm::Value* blocks) {
    Values carried;
    size_t part = 0;
    llvm::Value* none = b_.CreateICmpEQ(blocks, b_.getInt64(0));
    llvm::Value* lowest = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, blocks, b_.getFalse());
    lowest = b_.CreateSelect(none, b_.getInt64(0), lowest);
    for (Reducer& r : reducers_)
      for (llvm::Value* v : r.empty(1))
        carried.push_back(b_.CreateSelect(none, v, b_.CreateLoad(v->getType(), waiting(part++, lowest, v->getType()))));
    llvm::Value* levels = b_.CreateSub(b_.getInt64(64), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, blocks, b_.getFalse()));
    carried = counted_loop(b_, b_.CreateAdd(lowest, b_.getInt64(1)), levels, 1, carried, [&](llvm::Value* level, const Values& now) {
      llvm::Value* bit = b_.CreateAnd(b_.CreateLShr(blocks, level), b_.getInt64(1));
      llvm::Value* waits = b_.CreateICmpNE(bit, b_.getInt64(0));
      Values combined = joined_with(level, now), out;
      for (size_t p = 0; p < now.size(); ++p) out.push_back(b_.CreateSelect(waits, combined[p], now[p]));
      return out;
    });
    for_each(carried, [&](size_t r, const Values& state) {
      const Reduction& to = k_.reductions[r];
      body_.store_single(reducers_[r].result(state), to.dtype, to.buffer, body_.address(to.address));
    });
  }

  Body& body_;
  llvm::IRBuilder<>& b_;
  const Kernel& k_;
  size_t row_;                           // number of the reduced loop
  std::vector<Reducer> reducers_;
  Values waiting_;                       // per part of each state: totals by level of the counter
};

}  // namespace

void emit_row_reduce(Body& body) { RowReduce(body).emit(); }

}  // namespace tercet
