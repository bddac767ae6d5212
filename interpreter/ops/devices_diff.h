// Derivative rules of collectives.cpp and devices.cpp. The values of all lanes or devices count together: the cotangent of
// what is the same for all is the sum of everyone's.
#pragma once
#include "interpreter/ir/differentiation.h"

namespace tercet {

void reverse_all_reduce(ReverseContext& c);
void transpose_all_gather(ReverseContext& c);
void transpose_reduce_scatter(ReverseContext& c);
void transpose_all_to_all(ReverseContext& c);
void transpose_permute(ReverseContext& c);
void reverse_pmap(ReverseContext& c);

}  // namespace tercet
