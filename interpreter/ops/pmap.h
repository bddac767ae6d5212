// Emission of `pmap`: a body that runs on several devices.
#pragma once
#include <optional>

#include "interpreter/ir/function.h"

namespace tercet {

/// What becomes of a result of all devices: a new axis 0, one after another along axis 0, or that of one, which all have.
enum class PmapJoin : int64_t { Stack, Concat, First };

struct PmapAttrs {
  Dim devices;                  // how many
  std::optional<Dim> share;     // split: the symbol that the body has for the length of its chunk
  Dim length;                   // of axis 0 of the first `consumed` operands; it is `devices` where it is not split
  int64_t consumed = 0;         // operands that are dealt out; all devices share the others
  int64_t level = 0;            // of the axis: attr "over" of collectives in the body
  std::vector<int64_t> joins;   // a PmapJoin for each result
};

/// Emits it; the body's parameters are a device's part of the operands. Sizes that only a run tells get new names.
std::vector<ValueId> emit_pmap(Builder& out, FunctionPtr body, std::vector<ValueId> inputs, const PmapAttrs& attrs, Span span);

}  // namespace tercet
