#include "base/json_text.h"

#include <fmt/format.h>

namespace tercet {

void append_json_string(std::string& out, std::string_view text) {
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

std::string quoted_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace tercet
