// Columns as comma-separated values, quoted as RFC 4180 has it, so that read_csv gives the same columns.
#include <charconv>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/print.h"

namespace tercet {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

/// Would a reader see the end of the field, or nothing, in it?
bool needs_quotes(std::string_view text, char separator) {
  return text.empty() || text.find_first_of("\"\r\n") != std::string_view::npos || text.find(separator) != std::string_view::npos || text.starts_with("\xEF\xBB\xBF");
}

/// Would a reader take it for something else than a text?
bool is_value(std::string_view text) {
  if (text == "true" || text == "false") return true;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

}  // namespace

std::string csv_text(const Columns& columns, char separator, bool header) {
  std::string out;
  const int64_t rows = columns.empty() ? 0 : columns[0].second.shape[0];
  for (size_t k = 0; header && k < columns.size(); ++k) {
    if (k) out += separator;
    if (needs_quotes(columns[k].first, separator)) append_quoted(out, columns[k].first);
    else out += columns[k].first;
  }
  if (header) out += '\n';
  for (int64_t i = 0; i < rows; ++i) {
    poll_at(i);
    for (size_t k = 0; k < columns.size(); ++k) {
      if (k) out += separator;
      const Array value = columns[k].second.row(i);
      if (value.dtype != DType::Str) {
        out += format(value);
        continue;
      }
      const std::string_view text = value.data<StringRef>()->view();
      if (needs_quotes(text, separator) || is_value(text)) append_quoted(out, text);
      else out += text;
    }
    out += '\n';
  }
  return out;
}

}  // namespace tercet
