// What a compiled function does when it is called, as text for its user: kernels and what they compute, what lies in
// memory and why, bytes moved beside the least that would do, threads, checks.
//
// Example:  f(f32[1000, 64]) …
//   1. kernel, row by row: subtract, exp, sum
//      for i0 < 1000, i1 < 64 summed up in vectors
//      reads 256 kB, writes 4 kB; 1 thread
#pragma once
#include <span>
#include <string>

#include "codegen/plan/program.h"
#include "codegen/run/threads.h"

namespace tercet::codegen {

/// For a call with these arguments. The text depends on nothing else: the same on every machine with as many threads.
std::string explain(const ProgramSet& set, const RunOptions& options, std::span<const Array> arguments);

}  // namespace tercet::codegen
