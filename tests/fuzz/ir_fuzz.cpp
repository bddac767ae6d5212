// Any bytes as the text of a function: reading it ends in a function, which prints as what reads back alike, or in an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/diagnostic.h"
#include "interpreter/ir/reader.h"
#include "interpreter/ops/rows.h"

using namespace tercet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FunctionPtr f;
  try {
    f = read_function({reinterpret_cast<const char*>(data), size});
  } catch (const Failure&) {
    return 0;   // a type that does not follow is `internal` here: the text is not a user's
  }
  const std::string text = print(*f);
  try {
    TERCET_CHECK(print(*read_function(text)) == text);
  } catch (const Failure& failure) {
    TERCET_CHECK(failure.diagnostics().front().kind == Kind::Unsupported);   // a handle, a long constant
  }
  return 0;
}
