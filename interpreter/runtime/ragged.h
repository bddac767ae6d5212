// Arrays whose rows differ in length: values lying one after another, and offsets (Ragged in array.h).
//
// Example:  Array r = ragged_rows(values, {3, 0, 2});    // shape (3, *) over values of shape (5,)
//           pad_rows(r, -1, scalar_of(DType::I32, 0));   // shape (3, 3), short rows filled with 0
#pragma once
#include "interpreter/runtime/array.h"

namespace tercet {

/// Number of elements of any array, ragged ones included.
int64_t total_elements(const Array& array);

/// Rows of the given lengths over axis 0 of `values`, whose size is their sum.
Array ragged_rows(Array values, const std::vector<int64_t>& lengths);
/// Adds one innermost ragged axis: every element of `outer` (its shape only) becomes a row of `values`.
Array ragged_under(const Array& outer, Array values, const std::vector<int64_t>& lengths);

/// Row i along axis 0: the entry of a dense array, or the part of a ragged one, whose first axis is then dense.
Array row_of(const Array& array, int64_t i);
/// Rows of one dtype and rank as one array: axis k + 1 of the result is ragged where `ragged[k]` says so, and the rows
/// may then differ there. `rest` gives the sizes of the other axes when there are no rows.
Array stack_rows(DType dtype, std::vector<Array> rows, const std::vector<bool>& ragged, const Shape& rest);

/// i64 lengths of the rows of the innermost ragged axis, shaped like the axes before it (ragged where they are).
Array row_lengths(const Array& ragged);

/// A dense copy of an array [n…, *, rest…] with one ragged axis: every row cut or filled to `length`, or to the longest
/// row when length is -1. `fill` is a scalar of the same dtype. Dense arrays: their axis 1 (axis 0 of a vector).
Array pad_rows(const Array& array, int64_t length, const Array& fill);

}  // namespace tercet
