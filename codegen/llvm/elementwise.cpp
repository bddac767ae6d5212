// Kernels without reductions: nested loops, the last one over vectors.
#include "codegen/llvm/emit.h"

namespace tercet::codegen {
namespace {

void emit_loop(Body& body, size_t loop) {
  auto [begin, end] = body.range(loop);
  if (loop + 1 < body.kernel().loops.size()) {
    simple_loop(body.builder(), begin, end, 1, [&](llvm::Value* i) {
      body.enter(loop, i);
      emit_loop(body, loop + 1);
    });
    return;
  }
  auto vectors = [&, begin = begin, end = end] {
    body.vector_loop(begin, end, {}, [&](llvm::Value* i, llvm::Value* mask, const Values&) {
      body.emit_lanes(i, mask);
      body.emit_effects(mask);
      return Values{};
    });
  };
  if (!body.can_stream()) return vectors();
  emit_either(
      body.builder(), body.should_stream(begin),
      [&]() -> llvm::Value* {
        body.set_streaming(true);
        vectors();
        body.set_streaming(false);
        return nullptr;
      },
      [&]() -> llvm::Value* {
        vectors();
        return nullptr;
      });
}

}  // namespace

void emit_elementwise(Body& body) {
  body.emit_outermost();
  if (body.depth() > 0)
    emit_loop(body, 0);
  else
    body.emit_effects(nullptr);
}

}  // namespace tercet::codegen
