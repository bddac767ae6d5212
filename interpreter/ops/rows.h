// The rows that other layers name: those behind syntax, passes and lowering. Every other row is found by its name.
#pragma once
#include <span>

#include "interpreter/ir/op_def.h"

namespace tercet {

// arithmetic.cpp
extern const OpDef add_op, sub_op, mul_op, div_op, floor_div_op, mod_op, pow_op, neg_op, maximum_op, minimum_op, strong_mul_op;
// comparison.cpp
extern const OpDef eq_op, ne_op, lt_op, le_op, gt_op, ge_op, select_op;
// bits.cpp
extern const OpDef bit_and_op, bit_or_op, bit_xor_op, bit_not_op, shift_left_op, shift_right_op;
// casts.cpp
extern const OpDef cast_op;
// structure.cpp
extern const OpDef constant_op, iota_op, broadcast_op, unbroadcast_op, reshape_op, transpose_op, slice_op, concat_op;
// reductions.cpp
extern const OpDef sum_op, prod_op, max_op, min_op, any_op, all_op, argmax_op, argmin_op;
extern const OpDef cumsum_op, cumprod_op, cummax_op, cummin_op;
// indexing.cpp
extern const OpDef gather_op, window_op, scatter_op, window_update_op, slice_update_op, nonzero_op;
// contraction.cpp, sorting.cpp
extern const OpDef dot_op, sort_op, argsort_op, top_k_op;
// linear_algebra.cpp
extern const OpDef cholesky_op, triangular_solve_op, solve_op, det_op, slogdet_op, qr_op, svd_op, eigh_op;
// sizes.cpp
extern const OpDef as_size_op, dim_value_op;
// effects.cpp
extern const OpDef check_index_op, check_window_op, check_nonzero_op, check_dims_op, assert_op, assert_text_op, print_op, region_begin_op, region_end_op;
// random.cpp
extern const OpDef threefry_op, unit_interval_op, key_words_op, new_keys_op, mark_keys_op, use_key_op;
// derivatives.cpp
extern const OpDef stop_gradient_op, checkpoint_op, custom_grad_op;
// control.cpp
extern const OpDef cond_op, while_op, scan_op, call_op;
// host_call.cpp, devices.cpp, collectives.cpp
extern const OpDef host_call_op;
extern const OpDef pmap_op;
extern const OpDef all_reduce_op, all_gather_op, reduce_scatter_op, all_to_all_op, permute_op, axis_index_op;

/// The rows of one family, listed at the end of its file.
using Family = std::span<const OpDef* const>;
extern const Family arithmetic_rows, comparison_rows, bit_rows, cast_rows, math_rows, structure_rows, reduction_rows,
    scan_rows, indexing_rows, contraction_rows, linear_algebra_rows, sorting_rows, size_rows, effect_rows, control_rows, text_rows, pattern_rows,
    random_rows, row_rows, derivative_rows, device_rows, collective_rows, file_rows, host_rows, search_rows;

}  // namespace tercet
