// Reductions along the vector loop. In a block of 4096 elements, element i goes to lane i mod 16 of an accumulator, and
// the lanes combine as a tree. A sequence of one block is done then; else the totals of blocks go to the driver, who
// combines them. Order: interpreter/runtime/reduce.h.
#include "codegen/llvm/emit.h"
#include "codegen/llvm/reducer.h"
#include "codegen/plan/kernel_abi.h"
#include "interpreter/runtime/reduce.h"

namespace tercet::codegen {
namespace {

class RowReduce {
 public:
  explicit RowReduce(Body& body)
      : body_(body), b_(body.builder()), k_(body.kernel()), row_(k_.loops.size() - 1), reducers_(reducers_of(k_, body.numbers(), b_)) {}

  void emit() {
    body_.emit_outermost();
    body_.outer_loops(row_, [&] {
      auto [begin, end] = body_.range(row_);
      simple_loop(b_, begin, end, 1, [&](llvm::Value* block) { store(block, emit_block(block)); });
    });
  }

 private:
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
        Values fresh =
            reducers_[r].of(body_.lanes(k_.reductions[r].value), reducers_[r].with_position() ? position(i) : nullptr);
        Values combined = reducers_[r].append(state, fresh);
        for (llvm::Value* v : mask ? reducers_[r].select(mask, combined, state) : combined) next.push_back(v);
      });
      return next;
    });
    std::vector<Values> totals;
    for_each(carried, [&](size_t r, const Values& state) { totals.push_back(reducers_[r].total(reducers_[r].across_lanes(state))); });
    return totals;
  }
  llvm::Value* position(llvm::Value* i) {
    llvm::Value* first = b_.CreateVectorSplat(vector_lanes, b_.CreateTrunc(i, b_.getInt32Ty()));
    return b_.CreateAdd(first, Body::lane_numbers(b_.getInt32Ty()));
  }
  /// Calls f(r, parts of reduction r) for states lying one after another.
  template <class F>
  void for_each(const Values& flat, F f) {
    size_t at = 0;
    for (size_t r = 0; r < reducers_.size(); ++r) {
      auto from = flat.begin() + static_cast<std::ptrdiff_t>(at);
      f(r, Values(from, from + static_cast<std::ptrdiff_t>(reducers_[r].parts())));
      at += reducers_[r].parts();
    }
  }

  void store(llvm::Value* block, const std::vector<Values>& total) {
    llvm::Value* at =
        body_.address(k_.reductions[0].address);  // the results' sizes, and so addresses, are all the same
    emit_either(
        b_, b_.CreateIsNull(body_.totals()),
        [&]() -> llvm::Value* {
          for (size_t r = 0; r < reducers_.size(); ++r)
            body_.store_single(total[r].back(), k_.reductions[r].dtype, k_.reductions[r].buffer, at);
          return nullptr;
        },
        [&]() -> llvm::Value* {
          llvm::Value* slot = b_.CreateAdd(b_.CreateMul(block, body_.outputs()), at);
          for (size_t r = 0; r < reducers_.size(); ++r)
            for (size_t p = 0; p < total[r].size(); ++p) {
              llvm::Value* stored = body_.to_memory(total[r][p], reducers_[r].total_part(p));
              b_.CreateStore(stored, b_.CreateGEP(stored->getType(), body_.total(r * totals_per_reduction + p), slot));
            }
          return nullptr;
        });
  }

  Body& body_;
  llvm::IRBuilder<>& b_;
  const Kernel& k_;
  size_t row_;  // number of the reduced loop
  std::vector<Reducer> reducers_;
};

}  // namespace

void emit_row_reduce(Body& body) { RowReduce(body).emit(); }

}  // namespace tercet::codegen
