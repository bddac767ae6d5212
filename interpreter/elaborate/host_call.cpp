// Calls of functions of the host.
#include <fmt/format.h>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/ir/host_function.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {

Sym Elaborator::call_host(const Handle& handle, std::vector<CallArgument> arguments, Span span) {
  const HostFunction& host = *static_cast<const HostFunction*>(handle.object.get());
  SpanScope at(*this, span);
  if (arguments.size() != host.parameters.size())
    error(Kind::Type, fmt::format("`{}` of the host takes {} argument{}, and this call gives {}", host.name, host.parameters.size(), host.parameters.size() == 1 ? "" : "s", arguments.size()));
  std::vector<ValueId> inputs;
  DimMap sizes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].name.empty()) error(Kind::Type, fmt::format("`{}` of the host takes arguments by position only", host.name));
    const Type& type = host.parameters[i];
    Leaf x = array(arguments[i].value, host.name.c_str());
    bool widens = x.weak && x.type.dtype <= DType::F64 && type.dtype <= DType::F64 && !(is_float(x.type.dtype) && !is_float(type.dtype));
    if (x.type.rank() != type.rank() || x.type.is_ragged() || (x.type.dtype != type.dtype && !widens))
      error(Kind::Type, fmt::format("argument {} of `{}` is {}, and this is {}", i + 1, host.name, host.texts[i], describe(x)));
    bind_sizes(type.dims, x.type.dims, sizes);
    for (size_t k = 0; k < type.dims.size(); ++k)
      require_equal(x.type.dims[k], type.dims[k].substitute(sizes), fmt::format("axis {} of argument {} of `{}` has size {{left}}, and its signature says {{right}}", k, i + 1, host.name));
    inputs.push_back(use(cast(x, type.dtype)));
  }
  std::vector<Leaf> out = emit_many(host_call_op, std::move(inputs), {{"host", handle.object}});
  if (out.empty()) return Sym::unit();
  return out[0];
}

}  // namespace tercet
