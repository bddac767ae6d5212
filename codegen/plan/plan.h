// Plans a function: which operations share a kernel, what lies in memory and when it is freed.
#pragma once
#include "codegen/plan/program.h"

namespace tercet::codegen {

/// `fast_math`: of all its kernels.
ProgramSet plan(const FunctionPtr& function, bool fast_math = false);

}  // namespace tercet::codegen
