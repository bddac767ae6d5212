// The sizes of a compiled function's parameters. They are symbols, so that one compilation serves all sizes; yet the type
// of a result may hang on whether two of them are equal (are a loop's rows of one length?). Such a question is answered by
// the call that is elaborated, as it is where sizes are numbers: what was found equal gets one symbol, or its number.
#pragma once
#include <string>
#include <vector>

#include "interpreter/ir/dim.h"

namespace tercet {

/// Thrown where two sizes are equal in the call, and the function under elaboration does not know it yet.
struct EqualInCall { Dim a, b; };

class JitSizes {
 public:
  /// Size `axis` of the array called `leaf` inside of the function; `actual` is what the call has there.
  Dim inside(const std::string& leaf, size_t axis, const Dim& actual);
  /// Equal in the call, by sizes of parameters alone, and it can be said to the function.
  bool equal_in_call(const Dim& a, const Dim& b) const;
  /// Makes the function know it the next time it is elaborated.
  void assume(const EqualInCall& equal);

 private:
  struct Size { std::string leaf; size_t axis; Dim actual, inside; };
  std::vector<Size> sizes_;
};

}  // namespace tercet
