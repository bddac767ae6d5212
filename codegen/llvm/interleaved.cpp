// Kernels whose results have a short last axis of known size (windows of three, pairs, points): lanes go along the axis
// before it, the elements of the last are computed one after another, and 16 rows of them are stored as one stretch.
#include <llvm/Analysis/VectorUtils.h>

#include "codegen/llvm/emit.h"

namespace tercet::codegen {
namespace {

class Interleaved {
 public:
  explicit Interleaved(Body& body)
      : body_(body), b_(body.builder()), k_(body.kernel()), column_(k_.loops.size() - 1), short_(column_ - 1), size_(k_.loops[short_].extent.constant().value()) {}

  void emit() {
    body_.emit_outermost();
    body_.outer_loops(short_, [&] {
      auto [begin, end] = body_.range(column_);
      body_.vector_loop(begin, end, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
        std::vector<Values> values(k_.stores.size());   // [store][element]
        for (int64_t e = 0; e < size_; ++e) emit_element(e, i, mask, values);
        if (!mask)
          for (size_t s = 0; s < values.size(); ++s) store(k_.stores[s], i, values[s]);
        return Values{};
      });
    });
  }

 private:
  void emit_element(int64_t element, llvm::Value* i, llvm::Value* mask, std::vector<Values>& values) {
    Body::Again again(body_);
    body_.enter(short_, b_.getInt64(static_cast<uint64_t>(element)));
    body_.emit_lanes(i, mask);
    for (size_t s = 0; s < k_.stores.size(); ++s) values[s].push_back(body_.to_memory(body_.lanes(k_.stores[s].value), k_.stores[s].dtype));
    if (mask) body_.emit_effects(mask);
  }

  /// Element e of lane j goes to place j * size + e.
  void store(const Store& to, llvm::Value* i, const Values& elements) {
    Body::Again again(body_);
    body_.enter(short_, b_.getInt64(0));
    body_.at_column(i);
    llvm::SmallVector<int> order;
    for (int64_t at = 0; at < vector_lanes * size_; ++at) order.push_back(static_cast<int>(at % size_ * vector_lanes + at / size_));
    llvm::Value* together = b_.CreateShuffleVector(llvm::concatenateVectors(b_, elements), order);
    llvm::Type* element = body_.memory_type(to.dtype, false);
    llvm::Value* pointer = b_.CreateGEP(element, body_.buffer(to.buffer), body_.address(to.address));
    b_.CreateAlignedStore(together, pointer, llvm::Align(element->getScalarSizeInBits() / 8));
  }

  Body& body_;
  llvm::IRBuilder<>& b_;
  const Kernel& k_;
  size_t column_, short_;   // numbers of the vector loop and of the loop along the short axis
  int64_t size_;
};

}  // namespace

void emit_interleaved(Body& body) { Interleaved(body).emit(); }

}  // namespace tercet::codegen
