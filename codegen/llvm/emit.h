// One emitter per schedule: makes the loops of a kernel around what Body emits. Private to codegen/llvm.
#pragma once
#include "codegen/llvm/body.h"

namespace tercet::codegen {

void emit_elementwise(Body& body);
void emit_interleaved(Body& body);
void emit_row_reduce(Body& body);
void emit_column_reduce(Body& body);
void emit_small_reduce(Body& body);
void emit_scatter(Body& body);

}  // namespace tercet::codegen
