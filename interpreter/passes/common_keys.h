// Random keys in lanes that run one after another, where no operation tells which values the lanes share.
#pragma once
#include "interpreter/ir/function.h"

namespace tercet {

/// The same function; a key that it makes of values that all lanes share (`mapped` tells of each parameter whether they do
/// not) is marked as being the same in every lane, so that drawing from it is an error.
/// Example:  k: key, x: f32[n] mapped     %2: key = new_keys(%1) {}   becomes   new_keys(%1) {common=true}
/// What loops and branches that get a value of the lane make of such keys is not seen: there, splitting one is an error too.
/// `level`: that of the axis, whose axis_index and other collectives with attr "differs" give each lane its own.
FunctionPtr mark_common_keys(const Function& f, const std::vector<bool>& mapped, int64_t level = -1);

/// Marks keys at the border of such lanes: "common" or "opaque" where they enter it, and are the same in all lanes; "own"
/// where they leave it. Values of other types, and rows of different length, stay as they are.
ValueId mark_at_border(Builder& b, ValueId value, const char* mark, Span span);

}  // namespace tercet
