// What the grammar needs to know of Unicode: well-formed UTF-8, letters, canonical names. (The only user of utf8proc
// here.)
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tercet {

/// Offset of the first byte that is not valid UTF-8, or npos.
size_t find_malformed_utf8(std::string_view text);

enum class CharacterClass : uint8_t { Letter, MarkOrDigit, Other };

/// The class of the code point that starts at `at` of valid UTF-8.
CharacterClass character_class(std::string_view text, size_t at);

/// The UTF-8 form of a code point; nothing for surrogates and numbers above 0x10ffff.
std::optional<std::string> encode_utf8(uint32_t code_point);

/// A name in its canonical form (NFC), so that both ways to write `é` are one name.
std::string canonical_name(std::string_view text);

}  // namespace tercet
