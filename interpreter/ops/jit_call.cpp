#include "interpreter/ops/jit_call.h"

#include <algorithm>

#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {

std::vector<ValueId> emit_jit_call(Builder& out, const std::shared_ptr<JitEntry>& entry, std::vector<ValueId> inputs, Span span) {
  const Function& f = *entry->function;
  DimMap map;
  for (size_t i = 0; i < f.params.size(); ++i) bind_sizes(f.type(f.params[i]).dims, out.type(inputs[i]).dims, map);
  std::vector<Dim> defines;
  for (const Type& type : f.result_types())
    for (const Dim& d : type.dims) {
      std::vector<uint64_t> symbols;
      d.collect_symbols(symbols);
      bool known = std::all_of(symbols.begin(), symbols.end(), [&](uint64_t s) { return map.count(s) != 0; });
      if (!known) defines.push_back(Dim::symbol("s"));
    }
  return out.emit_many(call_op, std::move(inputs), {{"jit", std::shared_ptr<const void>(entry)}, {"defines", defines}}, span, {entry->function});
}

}  // namespace tercet
