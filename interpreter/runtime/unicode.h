// UTF-8 text: checking, code points, case, word boundaries. Properties come from utf8proc.
//
// All functions but the checks expect valid UTF-8, which every string value is: text is checked where it comes in.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tercet {

/// Offset of the first byte that is not part of valid UTF-8, or npos. No overlong forms, surrogates, or > U+10FFFF.
size_t find_invalid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);
/// Valid UTF-8: every byte that begins no valid sequence, together with those behind it that a longer sequence could begin with
/// (the "maximal subpart" of The Unicode Standard, section 3.9), becomes one U+FFFD. What Python and browsers do.
/// Example: "a\xE4\xBD\xFFz" becomes "a\uFFFD\uFFFDz".
std::string replace_invalid_utf8(std::string_view text);

/// Number of code points.
int64_t count_code_points(std::string_view text);
/// text.find(part, from), and a.compare(b); both poll within long texts.
size_t find_part(std::string_view text, std::string_view part, size_t from = 0);
int compare_texts(std::string_view a, std::string_view b);
/// Reads the code point at `*at` and moves `*at` behind it. A malformed byte reads as U+FFFD.
uint32_t next_code_point(std::string_view text, size_t* at);
void append_code_point(std::string& out, uint32_t code_point);

/// Appends the text in lower or upper case (full mappings: ß becomes SS; a final Σ becomes ς), in no one's language.
void append_lower(std::string& out, std::string_view text);
void append_upper(std::string& out, std::string_view text);
bool is_ascii(std::string_view text);

/// White space as Unicode has it (property White_Space).
bool is_space(uint32_t code_point);
/// Letter, mark or digit of any script.
bool is_word_character(uint32_t code_point);

/// The next word at or after `*at`, moved behind it; empty at the end of the text.
///
/// A word is a run of letters, marks and digits, with single apostrophes (' or ’) between two of them: don't.
/// Ideographs and Hiragana, which are written without spaces, are words of one code point each.
/// Example: words of "It's 中文, e-mail" are It's, 中, 文, e, mail.
std::string_view next_word(std::string_view text, size_t* at);

}  // namespace tercet
