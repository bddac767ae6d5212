// Reductions across the vector loop: each lane is a result of its own. Columns go in strips narrow enough for the 16
// partial rows of a block to stay in the first-level cache; element i of the reduced sequence is added to partial row
// i mod 16, the rows combine as a tree when the block is full, and blocks combine through a binary counter of rows, so
// that every column sees the order of interpreter/runtime/reduce.h.
#include "codegen/llvm/emit.h"
#include "codegen/llvm/reducer.h"
#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

constexpr uint64_t counter_levels = 52;
constexpr int64_t partial_bytes = 16 << 10;   // of all partial rows of a strip

class ColumnReduce {
 public:
  explicit ColumnReduce(Body& body) : body_(body), b_(body.builder()), k_(body.kernel()), column_(k_.loops.size() - 1) {
    int64_t bytes = 0;
    for (const Reduction& r : k_.reductions) {
      reducers_.emplace_back(body.numbers(), b_, r.kind, k_.nodes[static_cast<size_t>(r.value)].dtype);
      for (size_t p = 0; p < reducers_.back().parts(); ++p) bytes += static_cast<int64_t>(size_of(reducers_.back().part(p)));
    }
    width_ = std::max<int64_t>(vector_lanes, partial_bytes / (reduce_partials * bytes) / vector_lanes * vector_lanes);
    for (Reducer& r : reducers_)
      for (size_t p = 0; p < r.parts(); ++p) {
        llvm::Type* element = body_.memory_type(r.part(p), false);
        rows_.push_back({element, body.scratch(element, static_cast<uint64_t>(width_ * reduce_partials)),
                         body.scratch(element, static_cast<uint64_t>(width_) * counter_levels)});
      }
    sequence_ = body.scratch(b_.getInt64Ty(), 1);
  }

  void emit() {
    body_.emit_outermost();
    emit_kept(0);
  }

 private:
  struct Rows {                          // of one part of a state
    llvm::Type* element;
    llvm::Value *partial, *waiting;      // [16][width], [levels][width]
  };

  void emit_kept(size_t loop) {
    if (loop == column_ || k_.loops[loop].reduced) return emit_strips(loop);
    auto [begin, end] = body_.range(loop);
    simple_loop(b_, begin, end, 1, [&](llvm::Value* i) {
      body_.enter(loop, i);
      emit_kept(loop + 1);
    });
  }

  void emit_strips(size_t first_reduced) {
    auto [begin, end] = body_.range(column_);
    llvm::Value* last = end;
    total_ = b_.getInt64(1);
    for (const Loop& l : k_.loops)
      if (l.reduced) total_ = b_.CreateMul(total_, body_.size(l.extent));
    simple_loop(b_, begin, end, width_, [&](llvm::Value* from) {
      strip_ = {from, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(from, b_.getInt64(static_cast<uint64_t>(width_))), last)};
      b_.CreateStore(b_.getInt64(0), sequence_);
      emit_reduced(first_reduced);
      store_results();
    });
  }

  void emit_reduced(size_t loop) {
    if (loop == column_) return emit_row();
    simple_loop(b_, b_.getInt64(0), body_.size(k_.loops[loop].extent), 1, [&](llvm::Value* i) {
      body_.enter(loop, i);
      emit_reduced(loop + 1);
    });
  }

  /// One element of every column's sequence.
  void emit_row() {
    llvm::Value* at = b_.CreateLoad(b_.getInt64Ty(), sequence_);
    llvm::Value* in_block = b_.CreateAnd(at, b_.getInt64(reduce_block - 1));
    llvm::Value* is_first = b_.CreateICmpSLT(in_block, b_.getInt64(reduce_partials));
    llvm::Value* row = b_.CreateMul(b_.CreateAnd(at, b_.getInt64(reduce_partials - 1)), b_.getInt64(static_cast<uint64_t>(width_)));
    llvm::Value* position = b_.CreateVectorSplat(vector_lanes, b_.CreateTrunc(at, b_.getInt32Ty()));
    body_.vector_loop(strip_.first, strip_.second, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
      body_.emit_lanes(i, mask);
      body_.emit_effects(mask);
      llvm::Value* slot = b_.CreateAdd(row, b_.CreateSub(i, strip_.first));
      for_each([&](size_t r, size_t part) {
        Values fresh = reducers_[r].of(body_.lanes(k_.reductions[r].value), position);
        Values before = load(r, part, &Rows::partial, slot);
        save(r, part, &Rows::partial, slot, reducers_[r].select(is_first, fresh, reducers_[r].combine(before, fresh)));
      });
      return Values{};
    });
    llvm::Value* next = b_.CreateAdd(at, b_.getInt64(1));
    b_.CreateStore(next, sequence_);
    llvm::Value* full = b_.CreateICmpEQ(b_.CreateAnd(next, b_.getInt64(reduce_block - 1)), b_.getInt64(0));
    emit_if(b_, b_.CreateOr(full, b_.CreateICmpEQ(next, total_)), [&] { end_block(at, in_block); });
  }

  /// The partial rows of a block become one total, which joins the counter. `last`: number of the block's last element,
  /// `last_in_block` the same within the block.
  void end_block(llvm::Value* last, llvm::Value* last_in_block) {
    llvm::Value* filled = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(last_in_block, b_.getInt64(1)), b_.getInt64(reduce_partials));
    simple_loop(b_, b_.getInt64(0), b_.getInt64(4), 1, [&](llvm::Value* level) {   // p[j] with p[j + 8], then + 4, + 2, + 1
      llvm::Value* half = b_.CreateLShr(b_.getInt64(reduce_partials / 2), level);
      llvm::Value* pairs = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, half, b_.CreateSub(filled, half));
      simple_loop(b_, b_.getInt64(0), pairs, 1, [&](llvm::Value* j) {
        combine_rows(&Rows::partial, row_at(j), &Rows::partial, row_at(b_.CreateAdd(j, half)), &Rows::partial, row_at(j));
      });
    });
    llvm::Value* block = b_.CreateLShr(last, b_.getInt64(12));
    static_assert(reduce_block == 1 << 12);
    llvm::Value* ones = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateAdd(block, b_.getInt64(1)), b_.getTrue());
    llvm::Value* first = b_.getInt64(0);
    simple_loop(b_, first, ones, 1, [&](llvm::Value* level) {
      combine_rows(&Rows::waiting, row_at(level), &Rows::partial, first, &Rows::partial, first);
    });
    each_vector([&](llvm::Value* c) {
      for_each([&](size_t r, size_t part) {
        save(r, part, &Rows::waiting, b_.CreateAdd(row_at(ones), c), load(r, part, &Rows::partial, c));
      });
    });
  }

  void store_results() {
    llvm::Value* blocks = b_.CreateLShr(b_.CreateAdd(total_, b_.getInt64(reduce_block - 1)), b_.getInt64(12));
    llvm::Value* none = b_.CreateICmpEQ(blocks, b_.getInt64(0));
    llvm::Value* lowest = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, blocks, b_.getFalse());
    lowest = b_.CreateSelect(none, b_.getInt64(0), lowest);
    llvm::Value* levels = b_.CreateSub(b_.getInt64(64), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, blocks, b_.getFalse()));
    simple_loop(b_, b_.CreateAdd(lowest, b_.getInt64(1)), levels, 1, [&](llvm::Value* level) {
      llvm::Value* bit = b_.CreateAnd(b_.CreateLShr(blocks, level), b_.getInt64(1));
      emit_if(b_, b_.CreateICmpNE(bit, b_.getInt64(0)), [&] {
        combine_rows(&Rows::waiting, row_at(level), &Rows::waiting, row_at(lowest), &Rows::waiting, row_at(lowest));
      });
    });
    body_.vector_loop(strip_.first, strip_.second, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
      body_.at_column(i);
      llvm::Value* slot = b_.CreateAdd(row_at(lowest), b_.CreateSub(i, strip_.first));
      for_each([&](size_t r, size_t part) {
        Values state = load(r, part, &Rows::waiting, slot);
        llvm::Value* v = reducers_[r].result(reducers_[r].select(none, reducers_[r].empty(vector_lanes), state));
        const Reduction& to = k_.reductions[r];
        body_.store_lanes(v, to.dtype, to.buffer, body_.address(to.address), body_.stride(to.address), mask);
      });
      return Values{};
    });
  }

  // ---- rows of the strip ----
  using RowsMember = llvm::Value* Rows::*;
  llvm::Value* row_at(llvm::Value* number) { return b_.CreateMul(number, b_.getInt64(static_cast<uint64_t>(width_))); }
  /// Calls f(reduction, number of its first part).
  template <class F> void for_each(F f) {
    size_t part = 0;
    for (size_t r = 0; r < reducers_.size(); part += reducers_[r++].parts()) f(r, part);
  }
  /// Calls f(column within the strip) for every vector; the last one may reach past the strip's end, within the rows.
  template <class F> void each_vector(F f) {
    simple_loop(b_, b_.getInt64(0), b_.CreateSub(strip_.second, strip_.first), vector_lanes, f);
  }
  Values load(size_t r, size_t part, RowsMember where, llvm::Value* at) {
    Values out;
    for (size_t p = 0; p < reducers_[r].parts(); ++p) {
      const Rows& rows = rows_[part + p];
      llvm::Type* vector = llvm::FixedVectorType::get(rows.element, vector_lanes);
      llvm::Value* v = b_.CreateAlignedLoad(vector, b_.CreateGEP(rows.element, rows.*where, at), llvm::Align(1));
      out.push_back(body_.from_memory(v, reducers_[r].part(p)));
    }
    return out;
  }
  void save(size_t r, size_t part, RowsMember where, llvm::Value* at, const Values& state) {
    for (size_t p = 0; p < state.size(); ++p) {
      const Rows& rows = rows_[part + p];
      b_.CreateAlignedStore(body_.to_memory(state[p], reducers_[r].part(p)), b_.CreateGEP(rows.element, rows.*where, at), llvm::Align(1));
    }
  }
  /// to = earlier combined with later, column by column.
  void combine_rows(RowsMember earlier, llvm::Value* earlier_at, RowsMember later, llvm::Value* later_at, RowsMember to, llvm::Value* to_at) {
    body_.numbers().set_lanes(vector_lanes);
    each_vector([&](llvm::Value* c) {
      for_each([&](size_t r, size_t part) {
        Values a = load(r, part, earlier, b_.CreateAdd(earlier_at, c)), b = load(r, part, later, b_.CreateAdd(later_at, c));
        save(r, part, to, b_.CreateAdd(to_at, c), reducers_[r].combine(a, b));
      });
    });
    body_.numbers().set_lanes(1);
  }

  Body& body_;
  llvm::IRBuilder<>& b_;
  const Kernel& k_;
  size_t column_;                                    // number of the vector loop
  int64_t width_;                                    // columns of a strip
  std::vector<Reducer> reducers_;
  std::vector<Rows> rows_;
  llvm::Value* sequence_;                            // i64 in memory: elements of the reduced sequence so far
  llvm::Value* total_ = nullptr;                     // elements of the whole sequence
  std::pair<llvm::Value*, llvm::Value*> strip_{};    // columns [first, second)
};

}  // namespace

void emit_column_reduce(Body& body) { ColumnReduce(body).emit(); }

}  // namespace tercet
