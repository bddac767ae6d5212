#include "interpreter/ir/eval.h"

namespace tercet {

int64_t EvalContext::size(const Dim& d) const {
  std::optional<int64_t> value = d.eval(dims);
  TERCET_CHECK(value.has_value());
  return *value;
}

Shape EvalContext::shape(const std::vector<Dim>& d) const {
  Shape out;
  for (const Dim& one : d) out.push_back(size(one));
  return out;
}

void EvalContext::define(const Op& op, int64_t value) { dims[op.attrs.get<Dim>("defines").symbol_id()] = value; }

}  // namespace tercet
