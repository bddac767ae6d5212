// The types of a call's arguments, written as `tercet ir --args` takes them: types as in a signature, tuples and records of these.
//
// Example:  ArgumentTypes written("(w=f32[d], b=f32), f32[n, d]");
//           written.signature();        // "fn f(p0: f32[d], p1: f32, p2: f32[n, d]) = 0", for the grammar to read
//           written.trees(types);       // of the types of p0, p1 and p2: a record, and an array
// Error `syntax` where brackets do not fit.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/elaborate/tree.h"
#include "interpreter/ir/function.h"

namespace tercet {

class ArgumentTypes {
 public:
  explicit ArgumentTypes(std::string_view text);
  std::string signature() const;
  std::vector<Tree<Type>> trees(const std::vector<Type>& types) const;

 private:
  std::string_view rest_;
  std::vector<std::string> leaves_;           // as written
  std::vector<Tree<size_t>> arguments_;       // of places in leaves_

  void skip_spaces();
  bool takes(char c);
  Tree<size_t> item();
  Tree<size_t> group();
  Tree<size_t> type();
};

}  // namespace tercet
