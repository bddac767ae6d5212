#include "interpreter/ops/batch_rules.h"

#include "interpreter/ops/rows.h"

namespace tercet {

ValueId swap_front(Builder& b, ValueId v, Span span) {
  std::vector<int64_t> perm{1, 0};
  for (int k = 2; k < b.type(v).rank(); ++k) perm.push_back(k);
  return b.emit(transpose_op, {v}, {{"perm", perm}}, span);
}

}  // namespace tercet
