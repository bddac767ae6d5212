// Reductions across the vector loop: each lane is a result of its own. Columns go in strips narrow enough for the 16
// partial rows of a block to stay in the first-level cache; element i of a block is combined into partial row i mod 16,
// and the rows combine as a tree, so that every column sees the order of interpreter/runtime/reduce.h. Totals of blocks
// go to the driver when there are several.
#include "codegen/llvm/emit.h"
#include "codegen/llvm/reducer.h"
#include "codegen/plan/kernel_abi.h"
#include "interpreter/runtime/reduce.h"

namespace tercet::codegen {
namespace {

constexpr int64_t partial_bytes = 16 << 10;  // of all partial rows of a strip

class ColumnReduce {
 public:
  explicit ColumnReduce(Body& body)
      : body_(body), b_(body.builder()), k_(body.kernel()), column_(k_.loops.size() - 1), first_reduced_(k_.first_reduced()), reducers_(reducers_of(k_, body.numbers(), b_)) {
    int64_t bytes = 0;
    for (const Reducer& r : reducers_)
      for (size_t p = 0; p < r.parts(); ++p) bytes += static_cast<int64_t>(size_of(r.part(p)));
    width_ = std::max<int64_t>(vector_lanes, partial_bytes / (reduce_partials * bytes) / vector_lanes * vector_lanes);
    for (Reducer& r : reducers_)
      for (size_t p = 0; p < r.parts(); ++p) {
        llvm::Type* element = body_.memory_type(r.part(p), false);
        rows_.push_back({element, body.scratch(element, static_cast<uint64_t>(width_ * reduce_partials))});
      }
  }

  void emit() {
    body_.emit_outermost();
    body_.outer_loops(first_reduced_, [&] {
      auto [begin, end] = body_.range(first_reduced_);
      simple_loop(b_, begin, end, 1, [&](llvm::Value* block) { emit_strips(block); });
    });
  }

 private:
  struct Rows {  // of one part of a state: [16][width]
    llvm::Type* element;
    llvm::Value* memory;
  };

  void emit_strips(llvm::Value* block) {
    llvm::Value* total = b_.getInt64(1);
    for (const Loop& l : k_.loops)
      if (l.reduced) total = b_.CreateMul(total, body_.size(l.extent));
    llvm::Value* first = b_.CreateMul(block, b_.getInt64(reduce_block));
    llvm::Value* last =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(first, b_.getInt64(reduce_block)), total);
    auto [begin, end] = body_.range(column_);
    llvm::Value* columns = end;
    simple_loop(b_, begin, end, width_, [&](llvm::Value* from) {
      llvm::Value* to = b_.CreateAdd(from, b_.getInt64(static_cast<uint64_t>(width_)));
      strip_ = {from, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, columns)};
      simple_loop(b_, first, last, 1, [&](llvm::Value* element) { emit_row(element, b_.CreateSub(element, first)); });
      combine_partials(b_.CreateSub(last, first));
      store(block);
    });
  }

  /// One element of every column's sequence.
  void emit_row(llvm::Value* element, llvm::Value* in_block) {
    body_.enter_sequence(element);
    llvm::Value* is_first = b_.CreateICmpSLT(in_block, b_.getInt64(reduce_partials));
    llvm::Value* row = row_at(b_.CreateAnd(in_block, b_.getInt64(reduce_partials - 1)));
    llvm::Value* position = b_.CreateVectorSplat(vector_lanes, b_.CreateTrunc(element, b_.getInt32Ty()));
    body_.vector_loop(strip_.first, strip_.second, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
      body_.emit_lanes(i, mask);
      body_.emit_effects(mask);
      llvm::Value* slot = b_.CreateAdd(row, b_.CreateSub(i, strip_.first));
      for_each([&](size_t r, size_t part) {
        Values fresh = reducers_[r].of(body_.lanes(k_.reductions[r].value), position);
        save(r, part, slot, reducers_[r].select(is_first, fresh, reducers_[r].append(load(r, part, slot), fresh)));
      });
      return Values{};
    });
  }
  /// The tree over the partial rows that there are: p[j] with p[j + 8], then + 4, + 2, + 1.
  void combine_partials(llvm::Value* elements) {
    llvm::Value* filled = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, elements, b_.getInt64(reduce_partials));
    simple_loop(b_, b_.getInt64(0), b_.getInt64(4), 1, [&](llvm::Value* level) {
      llvm::Value* half = b_.CreateLShr(b_.getInt64(reduce_partials / 2), level);
      llvm::Value* pairs = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, half, b_.CreateSub(filled, half));
      simple_loop(b_, b_.getInt64(0), pairs, 1,
                  [&](llvm::Value* j) { combine_rows(row_at(j), row_at(b_.CreateAdd(j, half))); });
    });
  }
  /// earlier = earlier combined with later, column by column; the last vector may reach past the strip's end.
  void combine_rows(llvm::Value* earlier, llvm::Value* later) {
    body_.numbers().set_lanes(vector_lanes);
    simple_loop(b_, b_.getInt64(0), b_.CreateSub(strip_.second, strip_.first), vector_lanes, [&](llvm::Value* c) {
      for_each([&](size_t r, size_t part) {
        llvm::Value* at = b_.CreateAdd(earlier, c);
        save(r, part, at, reducers_[r].combine(load(r, part, at), load(r, part, b_.CreateAdd(later, c))));
      });
    });
    body_.numbers().set_lanes(1);
  }

  void store(llvm::Value* block) {
    body_.vector_loop(strip_.first, strip_.second, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
      body_.at_column(i);
      const Index& address = k_.reductions[0].address;  // the same for all
      llvm::Value *at = body_.address(address), *slot = b_.CreateSub(i, strip_.first);
      llvm::Value* is_result = b_.CreateIsNull(body_.totals());
      for_each([&](size_t r, size_t part) {
        Values total = reducers_[r].total(load(r, part, slot));
        const Reduction& to = k_.reductions[r];
        emit_either(
            b_, is_result,
            [&]() -> llvm::Value* {
              body_.store_lanes(total.back(), to.dtype, body_.buffer(to.buffer), at,
                                body_.stride(address), mask);
              return nullptr;
            },
            [&]() -> llvm::Value* {
              llvm::Value* place = b_.CreateAdd(b_.CreateMul(block, body_.outputs()), at);
              for (size_t p = 0; p < total.size(); ++p)
                body_.store_lanes(total[p], reducers_[r].total_part(p), body_.total(r * totals_per_reduction + p), place,
                                  body_.stride(address), mask);
              return nullptr;
            });
      });
      return Values{};
    });
  }

  // ---- rows of the strip ----
  llvm::Value* row_at(llvm::Value* number) { return b_.CreateMul(number, b_.getInt64(static_cast<uint64_t>(width_))); }
  /// Calls f(reduction, number of its first part).
  template <class F>
  void for_each(F f) {
    size_t part = 0;
    for (size_t r = 0; r < reducers_.size(); part += reducers_[r++].parts()) f(r, part);
  }
  Values load(size_t r, size_t part, llvm::Value* at) {
    Values out;
    for (size_t p = 0; p < reducers_[r].parts(); ++p) {
      const Rows& rows = rows_[part + p];
      llvm::Type* vector = llvm::FixedVectorType::get(rows.element, vector_lanes);
      llvm::Value* v = b_.CreateAlignedLoad(vector, b_.CreateGEP(rows.element, rows.memory, at), llvm::Align(1));
      out.push_back(body_.from_memory(v, reducers_[r].part(p)));
    }
    return out;
  }
  void save(size_t r, size_t part, llvm::Value* at, const Values& state) {
    for (size_t p = 0; p < state.size(); ++p) {
      const Rows& rows = rows_[part + p];
      b_.CreateAlignedStore(body_.to_memory(state[p], reducers_[r].part(p)),
                            b_.CreateGEP(rows.element, rows.memory, at), llvm::Align(1));
    }
  }

  Body& body_;
  llvm::IRBuilder<>& b_;
  const Kernel& k_;
  size_t column_, first_reduced_;  // numbers of the vector loop and of the first reduced one
  int64_t width_;                      // columns of a strip
  std::vector<Reducer> reducers_;
  std::vector<Rows> rows_;
  std::pair<llvm::Value*, llvm::Value*> strip_{};  // columns [first, second)
};

}  // namespace

void emit_column_reduce(Body& body) { ColumnReduce(body).emit(); }

}  // namespace tercet::codegen
