// Kernels without reductions: nested loops, the last one over vectors.
#include "codegen/llvm/emit.h"

namespace tercet::codegen {
namespace {

void emit_vectors(Body& body) {
  auto [begin, end] = body.range(body.kernel().loops.size() - 1);
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
    body.outer_loops(body.kernel().loops.size() - 1, [&] { emit_vectors(body); });
  else
    body.emit_effects(nullptr);
}

}  // namespace tercet::codegen
