// The reductions there are: a word shared by the routine that does them, the rows, and the compiler.
#pragma once
#include <cstdint>

namespace tercet {

enum class ReduceKind : uint8_t { Sum, Prod, Max, Min, Any, All, ArgMax, ArgMin };

}  // namespace tercet
