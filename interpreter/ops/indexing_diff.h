// Derivative rules of the rows in indexing.cpp. The transpose of reading at indices adds at the same indices: into the sum
// so far, in place.
#pragma once
#include "interpreter/ir/differentiation.h"

namespace tercet {

void transpose_gather(ReverseContext& c);
void transpose_window(ReverseContext& c);
void transpose_window_update(ReverseContext& c);
void transpose_slice_update(ReverseContext& c);
void reverse_scatter(ReverseContext& c);

}  // namespace tercet
