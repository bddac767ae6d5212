// Where an element lies: linear expressions over the loops of a kernel and over computed indices.
#pragma once
#include <string>
#include <vector>

#include "interpreter/ir/dim.h"

namespace tercet::codegen {

using NodeId = int32_t;

/// offset + sum of coefficient * loop counter + sum of coefficient * (i64 value of a node).
struct Index {
  struct Term {
    int32_t of;
    Dim coefficient;
  };  // a loop or a node; sorted by `of`, coefficients are not 0
  Dim offset;
  std::vector<Term> loops, nodes;

  static Index loop(int32_t l) { return {0, {{l, 1}}, {}}; }
  static Index node(NodeId n) { return {0, {}, {{n, 1}}}; }
  /// Coefficient of a loop, 0 when it does not occur.
  Dim of_loop(int32_t l) const;
};

Index operator+(const Index& a, const Index& b);
Index operator*(const Index& a, const Dim& factor);
bool operator==(const Index& a, const Index& b);
std::string to_string(const Index& index);  // "i0*n + i1 + %3 + 4"

/// One index per axis of a value.
using Position = std::vector<Index>;

/// How many of the first indices are loop 0, loop 1, … themselves.
int leading_loops(const Position& position);
/// Address of an element of a row-major array with these sizes.
Index linear_address(const Position& position, const std::vector<Dim>& sizes);

}  // namespace tercet::codegen
