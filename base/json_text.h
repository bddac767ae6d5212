// Text as JSON strings, for what is written as JSON.
//
// Example:  append_json_string(out, "say \"no\"\n");   // "say \"no\"\n" in quotes
#pragma once
#include <string>
#include <string_view>

namespace tercet {

/// Quotes `text` (UTF-8), with what JSON does not take as it is escaped (RFC 8259, section 7).
void append_json_string(std::string& out, std::string_view text);
std::string quoted_json(std::string_view text);

}  // namespace tercet
