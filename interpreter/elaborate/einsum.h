// einsum, with NumPy's grammar of subscripts.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interpreter/elaborate/elaborator.h"

namespace tercet {

/// An axis's letter; axes that `...` stands for are numbered from the last one: ellipsis_label + 0, + 1, …
using Label = int;
inline constexpr Label ellipsis_label = 256;

struct Subscripts {
  std::vector<std::vector<Label>> operands;
  std::vector<Label> result;
};

/// Reads "ij,jk->ik" for operands of these ranks; what is wrong is told in `problem`, and nullopt returned. Without an
/// arrow the result has the axes of `...` and then, in the order of the alphabet, the letters that occur once.
std::optional<Subscripts> read_subscripts(const std::string& text, const std::vector<int>& ranks, std::string* problem);

/// The sum of products that the subscripts name; operands of one dtype.
Leaf einsum(Elaborator& e, const std::string& subscripts, std::vector<Leaf> operands);

}  // namespace tercet
