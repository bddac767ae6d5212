#include "grammar/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tercet {
namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

size_t find_malformed_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (is_ascii(text[i])) {
      ++i;
      continue;
    }
    utf8proc_int32_t code = 0;
    auto n = utf8proc_iterate(bytes_of(text) + i, static_cast<utf8proc_ssize_t>(text.size() - i), &code);
    if (n <= 0) return i;
    i += static_cast<size_t>(n);
  }
  return std::string_view::npos;
}

CharacterClass character_class(std::string_view text, size_t at) {
  utf8proc_int32_t code = 0;
  utf8proc_iterate(bytes_of(text) + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  utf8proc_category_t category = utf8proc_category(code);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return CharacterClass::Letter;
  bool part = category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ND;
  return part ? CharacterClass::MarkOrDigit : CharacterClass::Other;
}

std::optional<std::string> encode_utf8(uint32_t code_point) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) return std::nullopt;
  std::array<utf8proc_uint8_t, 4> bytes{};
  auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes.data());
  return std::string(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(n));
}

std::string canonical_name(std::string_view text) {
  std::string name(text);
  if (std::all_of(text.begin(), text.end(), is_ascii)) return name;
  utf8proc_uint8_t* composed = utf8proc_NFC(bytes_of(name));
  if (!composed) return name;
  name = reinterpret_cast<const char*>(composed);
  std::free(composed);
  return name;
}

}  // namespace tercet
