// Scatters: values combined into elements whose places are computed, in the order of the loops. Loops over lanes of a
// batch may run on several threads, as their elements are apart; the vector loop, where there is one, runs over the
// elements that one index moves together.
#include "codegen/llvm/emit.h"

namespace tercet::codegen {
namespace {

class ScatterEmitter {
 public:
  explicit ScatterEmitter(Body& body) : body_(body), b_(body.builder()), k_(body.kernel()), s_(*k_.scatter) {
    in_lanes_ = !k_.loops.empty() && !k_.loops.back().reduced;
    for (const Scatter::Bound& bound : s_.bounds)
      in_lanes_ &= k_.nodes[static_cast<size_t>(bound.clamped)].depth < body.depth();
  }
  void emit() {
    body_.emit_outermost();
    body_.outer_loops(k_.loops.size() - in_lanes_, [&] {
      emit_if(b_, in_range(), [&] { in_lanes_ ? emit_lanes() : emit_single(); });
    });
  }

 private:
  llvm::Value* in_range() {
    llvm::Value* all = b_.getTrue();
    for (const Scatter::Bound& bound : s_.bounds) {
      Num index = body_.numbers().wrap(body_.single(bound.index), k_.nodes[static_cast<size_t>(bound.index)].dtype);
      llvm::Value* wide = LlvmNumbers::value(cast<int64_t>(index));
      all = b_.CreateAnd(all, b_.CreateICmpEQ(wide, body_.single(bound.clamped)));
      // Of an axis of size 0 nothing is in range.
      llvm::Value* last = body_.size(k_.nodes[static_cast<size_t>(bound.clamped)].bound);
      all = b_.CreateAnd(all, b_.CreateICmpSGE(last, b_.getInt64(0)));
    }
    return all;
  }

  void emit_single() {
    llvm::Value* at = body_.address(s_.address);
    llvm::Value* value = body_.single(s_.value);
    if (s_.mode != Scatter::Set) value = combined(body_.load_single(s_.dtype, s_.buffer, at), value);
    body_.store_single(value, s_.dtype, s_.buffer, at);
  }

  void emit_lanes() {
    auto [begin, end] = body_.range(k_.loops.size() - 1);
    body_.vector_loop(begin, end, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
      body_.emit_lanes(i, mask);
      llvm::Value* at = body_.address(s_.address);
      Dim stride = body_.stride(s_.address);
      llvm::Value* value = body_.lanes(s_.value);
      if (s_.mode != Scatter::Set)
        value = combined(body_.load_lanes(s_.dtype, body_.buffer(s_.buffer), at, stride, mask), value);
      body_.store_lanes(value, s_.dtype, body_.buffer(s_.buffer), at, stride, mask);
      return Values{};
    });
  }

  llvm::Value* combined(llvm::Value* old, llvm::Value* value) {
    DType dtype = compute_dtype(s_.dtype);
    Num a = body_.numbers().wrap(old, dtype), b = body_.numbers().wrap(value, dtype);
    Num c = s_.mode == Scatter::Add   ? wrap_add(a, b)
            : s_.mode == Scatter::Mul ? wrap_mul(a, b)
            : s_.mode == Scatter::Max ? maximum(a, b)
                                      : minimum(a, b);
    return body_.numbers().rounded(LlvmNumbers::value(c), s_.dtype);
  }

  Body& body_;
  llvm::IRBuilder<>& b_;
  const Kernel& k_;
  const Scatter& s_;
  bool in_lanes_;  // the last loop runs in lanes
};

}  // namespace

void emit_scatter(Body& body) { ScatterEmitter(body).emit(); }

}  // namespace tercet::codegen
