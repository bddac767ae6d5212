// Columns as JSON objects, one a line.
#include <fmt/format.h>

#include <cmath>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/number_text.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/ragged.h"

namespace tercet {
namespace {

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text)
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else out += c;
  out += '"';
}

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
  if (a.dtype == DType::Str) append_text(out, a.data<StringRef>()->view());
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
      append_text(out, columns[k].first);
      out += ':';
      append_value(out, row_of(columns[k].second, i));
    }
    out += "}\n";
  }
  return out;
}

}  // namespace tercet
