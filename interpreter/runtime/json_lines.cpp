// Columns as JSON objects, one a line.
#include <cmath>

#include "base/json_text.h"
#include "interpreter/runtime/files.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/number_text.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/ragged.h"

namespace tercet {
namespace {

/// Numbers that JSON has not are null.
void append_value(std::string& out, const Array& a) {
  if (a.rank() > 0) {
    out += '[';
    const int64_t n = a.shape[0];
    for (int64_t i = 0; i < n; ++i) {
      if (i) out += ',';
      append_value(out, row_of(a, i));
    }
    out += ']';
    return;
  }
  if (a.dtype == DType::Str) append_json_string(out, a.data<StringRef>()->view());
  else if (is_float(a.dtype) && !std::isfinite(a.as_double())) out += "null";
  else out += format(a);
}

}  // namespace

std::string json_lines(const Columns& columns) {
  std::string out;
  int64_t rows = columns.empty() ? 0 : columns[0].second.shape[0];
  for (int64_t i = 0; i < rows; ++i) {
    poll_at(i);
    for (size_t k = 0; k < columns.size(); ++k) {
      out += k ? ',' : '{';
      append_json_string(out, columns[k].first);
      out += ':';
      append_value(out, row_of(columns[k].second, i));
    }
    out += "}\n";
  }
  return out;
}

}  // namespace tercet
