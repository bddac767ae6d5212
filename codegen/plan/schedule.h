// Decides how a kernel walks its iteration space: which loops are one, their order, and the vector loop.
#pragma once
#include "codegen/plan/kernel.h"

namespace tercet {

/// Fills in schedule, the loops' order and the nodes' depths. `kernel.loops` come in as the axes of the iteration space.
/// Loops of size 1 vanish; adjacent loops become one where every address is linear over both.
/// False when no schedule fits: a reduction over several axes that are not contiguous in its operands and with no kept
/// axis to vectorise over. Putting the operand into memory first helps.
bool schedule(Kernel& kernel);

}  // namespace tercet
