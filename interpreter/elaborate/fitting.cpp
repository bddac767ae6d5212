#include "interpreter/elaborate/fitting.h"

#include <fmt/format.h>

#include "interpreter/ops/rows.h"

namespace tercet {

void require_fits(Elaborator& e, const std::vector<Dim>& have, const std::vector<Dim>& want, const std::string& message) {
  if (have.size() > want.size()) e.error(Kind::Shape, fmt::format("sizes {} do not fit into sizes {}", to_string(have), to_string(want)));
  for (size_t k = 0; k < have.size(); ++k) {
    const Dim &h = have[have.size() - 1 - k], &w = want[want.size() - 1 - k];
    if (h == w || h.is(1)) continue;
    if (h.not_one()) e.require_equal(h, w, message, "only a size of 1 repeats");
    else
      e.emit_effect(check_dims_op, {}, {{"left", h}, {"right", w}, {"relation", std::string("repeats")}, {"message", message}, {"help", std::string("only a size of 1 repeats")}});
  }
}

}  // namespace tercet
