#include "interpreter/ir/eval.h"

#include <algorithm>

#include "interpreter/ir/rewrite.h"

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

void EvalContext::bind_defined(const Function& f, const Op& op, std::span<const Array> results) {
  const std::vector<uint64_t> ids = defined_by(op);
  if (ids.empty()) return;
  for (uint32_t i = 0; i < op.outputs; ++i) {
    const std::vector<Dim>& sizes = f.type(op.output(i)).dims;
    for (size_t k = 0; k < sizes.size(); ++k)
      if (uint64_t id = sizes[k].symbol_id(); id && std::find(ids.begin(), ids.end(), id) != ids.end()) dims[id] = results[i].shape[k];
  }
}

}  // namespace tercet
