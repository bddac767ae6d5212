// Sums over short windows, written out.
//
// A sum over the places of windows whose length is known and small, as of a moving mean, reads each element several times. Written as
// additions, element by element in the tree of interpreter/runtime/reduce.h, it is an elementwise expression like others, and what is
// computed from it shares its loop: a division needs no pass of its own. The bits are those of the sum.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// The same function with such sums written out, inside its bodies too; f itself when there are none.
FunctionPtr unroll_windows(const FunctionPtr& f);

}  // namespace tercet
