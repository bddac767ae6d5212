// Bands: kernels that follow each other and go through the same rows. Row by row, none of them reads what another row of
// the band makes, so a block of rows may run through all of them before the next block begins: what one kernel writes is
// still in the cache when the next reads it, and what nobody needs afterwards never gets an array of its own.
#pragma once
#include "codegen/plan/program.h"

namespace tercet::codegen {

/// Finds the bands of a program whose steps are complete.
void find_bands(Program& program);

}  // namespace tercet::codegen
