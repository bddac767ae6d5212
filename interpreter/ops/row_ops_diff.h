// Derivative rules of the rows in row_ops.cpp.
#pragma once
#include "interpreter/ir/differentiation.h"

namespace tercet {

void transpose_sum_rows(ReverseContext& c);
void reverse_prod_rows(ReverseContext& c);
void reverse_extreme_rows(ReverseContext& c);
void transpose_cumsum_rows(ReverseContext& c);
void reverse_running_extreme_rows(ReverseContext& c);
void reverse_sort_rows(ReverseContext& c);
void reverse_top_k_rows(ReverseContext& c);
void transpose_gather_sum_rows(ReverseContext& c);
void transpose_concat_rows(ReverseContext& c);
void transpose_dot_rows(ReverseContext& c);
void transpose_rows_at(ReverseContext& c);
/// Of `flatten`: (ragged) -> its elements.
void transpose_flatten(ReverseContext& c);

}  // namespace tercet
