// Rows that work on values cut into rows by offsets: what flat code for lanes of different length is made of.
// `offsets` is i64[n + 1], ascending from 0; row r of the values is offsets[r] .. offsets[r + 1] along axis 0.
#pragma once
#include "interpreter/ir/op_def.h"

namespace tercet {

/// (ragged) -> offsets of its first ragged axis.
extern const OpDef row_offsets_op;
/// (values, offsets) -> the ragged array.
extern const OpDef rows_at_op;
/// (values, ragged) -> the values in the rows of the other array, at any number of levels.
extern const OpDef rows_as_op;
/// (offsets, offsets): error `shape` naming the first row whose lengths differ; attrs "left", "right" say whose they are.
extern const OpDef check_rows_op;
/// (ragged, index i64[m]) -> the rows of these numbers, which are in range.
extern const OpDef take_rows_op;
/// (lengths) -> offsets; attr "defines": their sum. A negative length counts as 0.
extern const OpDef offsets_of_op;
/// (offsets), attr "total" -> i64[total], the row of each element.
extern const OpDef row_ids_op;
/// (lengths[, live]) -> the same, and an error for a negative one: as_size of every lane.
extern const OpDef lane_sizes_op;
/// What a dense row does along axis 0, done in each row: (x, offsets), of reductions (attr "axes": how many leading axes are
/// reduced; in the order of the dense row), cumsum and its like, sort, argsort, top_k. Null where there is none.
const OpDef* rows_version(const OpDef& dense);
/// (table[n, d], ids[total], offsets) -> the sums of the table's rows that each row names; as a gather and a sum.
extern const OpDef gather_sum_rows_op;
/// (mask, offsets) -> places within their rows where it is true, their offsets; attr "defines".
extern const OpDef nonzero_rows_op;
/// (x, offsets of x, y, offsets of y, …, offsets of the result), attr "total" -> rows one after another.
extern const OpDef concat_rows_op;
/// (ragged or dense arrays…) -> their rows one after another, whichever axes are ragged.
extern const OpDef concat_whole_op;
/// (a, b, offsets) -> a's row times b's row, contracted along axis 0 of both.
extern const OpDef dot_rows_op;

}  // namespace tercet
