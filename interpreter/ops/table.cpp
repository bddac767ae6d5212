// The table: the rows of every family, by name.
#include <algorithm>
#include <string>

#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

std::vector<const OpDef*> collect() {
  std::vector<const OpDef*> all;
  for (Family family : {arithmetic_rows, comparison_rows, bit_rows, cast_rows, math_rows, structure_rows, reduction_rows,
                        scan_rows, indexing_rows, contraction_rows, linear_algebra_rows, sorting_rows, size_rows, effect_rows, control_rows,
                        text_rows, pattern_rows, random_rows, row_rows, derivative_rows, device_rows, collective_rows, file_rows, host_rows,
                        search_rows})
    all.insert(all.end(), family.begin(), family.end());
  std::sort(all.begin(), all.end(),
            [](const OpDef* a, const OpDef* b) { return std::string_view(a->name) < std::string_view(b->name); });
  return all;
}

}  // namespace

std::span<const OpDef* const> op_table() {
  static const std::vector<const OpDef*> table = collect();
  return table;
}

const OpDef* find_op(std::string_view name) {
  auto table = op_table();
  auto at = std::lower_bound(table.begin(), table.end(), name,
                             [](const OpDef* d, std::string_view n) { return std::string_view(d->name) < n; });
  return at != table.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace tercet
