// Plans a function: which operations share a kernel, what lies in memory and when it is freed.
#pragma once
#include "codegen/plan/program.h"

namespace tercet::codegen {

ProgramSet plan(const FunctionPtr& function);

}  // namespace tercet::codegen
