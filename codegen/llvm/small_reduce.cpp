// Reductions of a few elements whose number is known, across the vector loop: every lane is a result, the elements of its
// sequence are computed one after another in registers. Order: interpreter/runtime/reduce.h, of which 16 elements or less
// need only the tree.
#include "codegen/llvm/emit.h"
#include "codegen/llvm/reducer.h"

namespace tercet::codegen {
namespace {

class SmallReduce {
 public:
  explicit SmallReduce(Body& body)
      : body_(body), b_(body.builder()), k_(body.kernel()), column_(k_.loops.size() - 1), reducers_(reducers_of(k_, body.numbers(), b_)) {
    for (const Loop& l : k_.loops)
      if (l.reduced) count_ *= l.extent.constant().value();
  }

  void emit() {
    body_.emit_outermost();
    body_.outer_loops(k_.first_reduced(), [&] {
      auto [begin, end] = body_.range(column_);
      body_.vector_loop(begin, end, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
        std::vector<std::vector<Values>> states(reducers_.size());   // [reduction][element]
        for (int64_t e = 0; e < count_; ++e) emit_element(e, i, mask, states);
        for (size_t r = 0; r < reducers_.size(); ++r) store(r, i, mask, combined(r, std::move(states[r])));
        return Values{};
      });
    });
  }

 private:
  void emit_element(int64_t element, llvm::Value* i, llvm::Value* mask, std::vector<std::vector<Values>>& states) {
    Body::Again again(body_);
    body_.enter_sequence(b_.getInt64(static_cast<uint64_t>(element)));
    body_.emit_lanes(i, mask);
    body_.emit_effects(mask);
    llvm::Value* position = b_.CreateVectorSplat(vector_lanes, b_.getInt32(static_cast<uint32_t>(element)));
    for (size_t r = 0; r < reducers_.size(); ++r)
      states[r].push_back(reducers_[r].of(body_.lanes(k_.reductions[r].value), position));
  }

  /// The tree: p[j] with p[j + 8], then + 4, + 2, + 1, of those that there are.
  Values combined(size_t r, std::vector<Values> p) {
    for (size_t half = vector_lanes / 2; half > 0; half /= 2)
      for (size_t j = 0; j < half && j + half < p.size(); ++j) p[j] = reducers_[r].combine(p[j], p[j + half]);
    return p[0];
  }

  void store(size_t r, llvm::Value* i, llvm::Value* mask, const Values& state) {
    const Reduction& to = k_.reductions[r];
    body_.at_column(i);
    body_.store_lanes(reducers_[r].total(state).back(), to.dtype, body_.buffer(to.buffer), body_.address(to.address),
                      body_.stride(to.address), mask);
  }

  Body& body_;
  llvm::IRBuilder<>& b_;
  const Kernel& k_;
  size_t column_;      // number of the vector loop
  int64_t count_ = 1;  // elements of a sequence
  std::vector<Reducer> reducers_;
};

}  // namespace

void emit_small_reduce(Body& body) { SmallReduce(body).emit(); }

}  // namespace tercet::codegen
