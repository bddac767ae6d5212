// Derivative rules of rows that work on values cut into rows (row_ops.h), and of those between values and ragged arrays.
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
void transpose_concat_whole(ReverseContext& c);
void transpose_dot_rows(ReverseContext& c);
void transpose_rows_at(ReverseContext& c);
void transpose_take_rows(ReverseContext& c);
void transpose_flatten(ReverseContext& c);
void transpose_ragged(ReverseContext& c);
void transpose_ragged_row(ReverseContext& c);
void transpose_pad(ReverseContext& c);

}  // namespace tercet
