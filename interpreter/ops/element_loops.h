// Loops that work on single elements and write some into arrays: tables of dynamic programming, counters, stacks.
//
// In a batch their lanes run one by one. All lanes a step at a time would be gathers and scatters with a stride of a lane's whole
// memory; one lane's memory stays in the cache, the loop is one piece of machine code, and lanes go to all threads.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// Whether each step of a `while` or `scan` reads and makes a few numbers, and some step writes into an array.
bool writes_elements(const Op& loop);

}  // namespace tercet
