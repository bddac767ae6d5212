// Decides how a kernel walks its iteration space: which loops are one, their order, and the vector loop.
#pragma once
#include "codegen/plan/kernel.h"

namespace tercet::codegen {

/// How well a kernel's loops suit its addresses.
enum class Fit : uint8_t {
  Good,
  Awkward,  // a reduction that reads across the grain: putting its operand into memory first pays
  None      // several reduced axes that are not contiguous and no kept axis to vectorise over: it must be put there
};

/// Fills in schedule, the loops' order and the nodes' depths. `kernel.loops` come in as the axes of the iteration
/// space. Loops of size 1 vanish; adjacent loops become one where every address is linear over both.
Fit schedule(Kernel& kernel);

}  // namespace tercet::codegen
