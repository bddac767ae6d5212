#include "interpreter/elaborate/jit_sizes.h"

#include <unordered_map>

namespace tercet {
Dim JitSizes::inside(const std::string& leaf, size_t axis, const Dim& actual) {
  for (const Size& s : sizes_)
    if (s.leaf == leaf && s.axis == axis) return s.inside;
  sizes_.push_back({leaf, axis, actual, Dim::symbol(leaf)});
  return sizes_.back().inside;
}

bool JitSizes::equal_in_call(const Dim& a, const Dim& b) const {
  std::unordered_map<uint64_t, Dim> actual;
  for (const Size& s : sizes_)
    if (uint64_t id = s.inside.symbol_id(); id && s.actual.constant()) actual.emplace(id, s.actual);
  return a.substitute(actual) == b.substitute(actual);
}

void JitSizes::assume(const EqualInCall& equal) {
  auto asked = [&](const Size& s) {
    return s.actual.constant() && (equal.a.mentions(s.inside) || equal.b.mentions(s.inside));
  };
  bool joined = false;
  for (Size& s : sizes_)
    for (const Size& first : sizes_) {
      if (&first == &s) break;
      if (!asked(s) || !asked(first) || s.inside == first.inside || !(s.actual == first.actual)) continue;
      s.inside = first.inside;
      joined = true;
    }
  if (joined) return;
  for (Size& s : sizes_)
    if (asked(s)) s.inside = s.actual;
}

}  // namespace tercet
