#include "interpreter/ops/loop_steps.h"

#include <algorithm>

namespace tercet {

int64_t steps_to_count(const Op& op, std::span<const Array> in) {
  auto number = [&](const char* name) -> const Array* {
    const int64_t i = op.attrs.get_or<int64_t>(name, -1);
    if (i < 0 || i >= static_cast<int64_t>(in.size())) return nullptr;
    const Array& a = in[static_cast<size_t>(i)];
    return a.rank() == 0 && is_int(a.dtype) ? &a : nullptr;
  };
  const Array *from = number("counter"), *to = number("counter_end");
  return from && to ? std::max<int64_t>(0, to->as_int() - from->as_int()) : -1;
}

}  // namespace tercet
