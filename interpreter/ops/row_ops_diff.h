// Derivative rules of the rows in row_ops.cpp.
#pragma once
#include "interpreter/ir/differentiation.h"

namespace tercet {

void transpose_sum_rows(ReverseContext& c);
void reverse_prod_rows(ReverseContext& c);
void reverse_extreme_rows(ReverseContext& c);
void transpose_cumsum_rows(ReverseContext& c);
void reverse_cumprod_rows(ReverseContext& c);
void reverse_running_extreme_rows(ReverseContext& c);
void reverse_sort_rows(ReverseContext& c);
void reverse_top_k_rows(ReverseContext& c);
void transpose_gather_sum_rows(ReverseContext& c);
void transpose_concat_rows(ReverseContext& c);
void transpose_dot_rows(ReverseContext& c);
void transpose_rows_at(ReverseContext& c);
/// Of `flatten`: (ragged) -> its elements.
void transpose_flatten(ReverseContext& c);
/// Of (ragged, index) -> rows or one row, and of (ragged, fill) -> padded.
void transpose_take_rows(ReverseContext& c);
void transpose_ragged_row(ReverseContext& c);
void transpose_pad(ReverseContext& c);

}  // namespace tercet
