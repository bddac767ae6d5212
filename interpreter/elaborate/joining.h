// Two branches become one operation: their values are brought to common types, leaf by leaf.
#pragma once
#include "interpreter/elaborate/elaborator.h"

namespace tercet {

/// Joins values of two frames. Example:  Sym v = join.add(a, b, false);  auto out = join.finish(condition, {v});
class Joiner {
 public:
  Joiner(Elaborator& e, Frame& yes, Frame& no) : e_(e), yes_(yes), no_(no) {}
  /// The joined tree; leaves that become results are numbered in `Leaf::id` until finish(). `may_be_unset`: a side that
  /// is none takes zeros of the other's type. Error `type` when the two do not go together.
  Sym add(const Sym& a, const Sym& b, bool may_be_unset);
  /// Emits `cond` in the enclosing frame and puts its results in place.
  std::vector<Sym> finish(const Leaf& condition, const std::vector<Sym>& trees);

 private:
  Leaf join(const Leaf& a, const Leaf& b);
  Sym join_unset(const Sym& set, bool set_is_yes);
  struct Pair { std::optional<Leaf> a, b; Type type; bool weak; };
  Elaborator& e_;
  Frame &yes_, &no_;
  std::vector<Pair> pairs_;
  std::vector<Dim> defines_;
};

/// Zeros of a type; the sizes among `unknown` are 0.
Leaf placeholder_of(Elaborator& e, const Type& type, std::span<const Dim> unknown);

}  // namespace tercet
