#include "interpreter/elaborate/jit_sizes.h"

#include <algorithm>
#include <unordered_map>

namespace tercet {
namespace {

bool mentions(const Dim& d, uint64_t symbol) {
  std::vector<uint64_t> used;
  d.collect_symbols(used);
  return std::find(used.begin(), used.end(), symbol) != used.end();
}

}  // namespace

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
    uint64_t id = s.inside.symbol_id();
    return id && s.actual.constant() && (mentions(equal.a, id) || mentions(equal.b, id));
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
