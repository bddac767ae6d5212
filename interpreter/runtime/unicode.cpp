#include "interpreter/runtime/unicode.h"

#include <fmt/format.h>

#include <simdjson.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "interpreter/runtime/case_table.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/text_rows.h"

namespace tercet {
namespace {

constexpr uint32_t replacement = 0xFFFD, capital_sigma = 0x3A3, final_sigma = 0x3C2, small_sigma = 0x3C3,
                   capital_dotted_i = 0x130, combining_dot = 0x307;

bool continues(char c) { return (c & 0xC0) == 0x80; }

/// Between two polls: some 0.1 ms of looking through text.
constexpr size_t long_part = 1 << 20;
template <class F> void in_long_parts(std::string_view text, F f) {
  for (; text.size() > long_part; text.remove_prefix(long_part), poll()) f(text.substr(0, long_part));
  f(text);
}

/// Length of the valid sequence at the start of `text`, 0 when there is none (RFC 3629, table 3-7 of Unicode).
size_t sequence_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  unsigned a = byte(0), b = byte(1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return (b & 0xC0) == 0x80 ? 2 : 0;
  unsigned low = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
  unsigned high = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
  if (a < 0xE0 || a > 0xF4 || b < low || b > high || (byte(2) & 0xC0) != 0x80) return 0;
  if (a < 0xF0) return 3;
  return (byte(3) & 0xC0) == 0x80 ? 4 : 0;
}

/// Bytes at the start of `text`, which is no valid sequence, that are replaced together.
size_t maximal_subpart(std::string_view text) {
  // Bytes are taken away from the end of what could have been a sequence until some continuation would make it one.
  for (size_t n = std::min<size_t>(3, text.size()); n > 1; --n) {
    char trial[4] = {text[0], text[1], n > 2 ? text[2] : '\x80', '\x80'};
    const size_t length = sequence_length({trial, 4});
    if (length > n) return n;
  }
  return 1;
}

enum AsciiClass : uint8_t { Other, Word, Apostrophe, NonAscii };

constexpr std::array<AsciiClass, 256> ascii_classes = [] {
  std::array<AsciiClass, 256> table{};
  for (int c = 0; c < 256; ++c) {
    bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    table[static_cast<size_t>(c)] = c >= 0x80 ? NonAscii : word ? Word : c == '\'' ? Apostrophe : Other;
  }
  return table;
}();

AsciiClass class_at(std::string_view text, size_t at) { return ascii_classes[static_cast<unsigned char>(text[at])]; }

bool stands_alone(uint32_t c) {
  return (c >= 0x3041 && c <= 0x309F) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF);
}

bool is_cased(uint32_t c) {
  auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

/// What case rules look through: marks, modifiers, apostrophes, points.
bool is_case_ignorable(uint32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN: case UTF8PROC_CATEGORY_ME: case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM: case UTF8PROC_CATEGORY_SK: return true;
    default: return c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x2019;
  }
}

/// Whether the capital sigma in text[at, after) ends a word: a cased letter before it and none after.
bool is_final_sigma(std::string_view text, size_t at, size_t after) {
  while (after < text.size()) {
    uint32_t c = next_code_point(text, &after);
    if (is_cased(c)) return false;
    if (!is_case_ignorable(c)) break;
  }
  while (at > 0) {
    do --at; while (at > 0 && continues(text[at]));
    size_t here = at;
    uint32_t c = next_code_point(text, &here);
    if (is_cased(c)) return true;
    if (!is_case_ignorable(c)) return false;
  }
  return false;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  if (text.size() <= long_part) return simdjson::validate_utf8(text.data(), text.size());
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.size(), at + long_part);
    for (int back = 0; back < 3 && end < text.size() && continues(text[end]); ++back) --end;   // to where a character begins
    if (!simdjson::validate_utf8(text.data() + at, end - at)) return false;
    at = end;
    poll();
  }
  return true;
}

size_t find_part(std::string_view text, std::string_view part, size_t from) {
  for (; text.size() - std::min(from, text.size()) > long_part + part.size(); from += long_part, poll())
    if (const size_t at = text.substr(from, long_part + part.size() - 1).find(part); at != std::string_view::npos) return from + at;
  return text.find(part, from);
}

int compare_texts(std::string_view a, std::string_view b) {
  size_t at = 0;
  for (; std::min(a.size(), b.size()) - at > long_part; at += long_part, poll())
    if (const int order = std::memcmp(a.data() + at, b.data() + at, long_part)) return order;
  return a.substr(at).compare(b.substr(at));
}

size_t find_invalid_utf8(std::string_view text) {
  if (is_valid_utf8(text)) return std::string_view::npos;
  for (size_t at = 0; at < text.size();) {
    size_t n = sequence_length(text.substr(at));
    if (n == 0) return at;
    at += n;
  }
  return std::string_view::npos;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (size_t at = 0; at < text.size();) {
    const size_t bad = find_invalid_utf8(text.substr(at, 1 << 16));   // in pieces: each is searched to its end
    const size_t good = std::min(bad, std::min<size_t>(text.size() - at, 1 << 16));
    out.append(text.substr(at, good));
    at += good;
    if (at == text.size()) break;
    if (const size_t n = sequence_length(text.substr(at))) {          // a piece ended inside it
      out.append(text.substr(at, n));
      at += n;
      continue;
    }
    append_code_point(out, replacement);
    at += maximal_subpart(text.substr(at));
  }
  return out;
}

int64_t count_code_points(std::string_view text) {
  int64_t n = 0;
  in_long_parts(text, [&](std::string_view part) {
    for (char c : part) n += !continues(c);
  });
  return n;
}

uint32_t next_code_point(std::string_view text, size_t* at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[*at + i]); };
  uint32_t c = byte(0);
  if (c < 0x80) return ++*at, c;
  size_t n = sequence_length(text.substr(*at));
  if (n == 0) return ++*at, replacement;
  c &= n == 2 ? 0x1F : n == 3 ? 0x0F : 0x07;
  for (size_t i = 1; i < n; ++i) c = (c << 6) | (byte(i) & 0x3F);
  *at += n;
  return c;
}

void append_code_point(std::string& out, uint32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = replacement;
  utf8proc_uint8_t bytes[4];
  auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
}

bool is_ascii(std::string_view text) {
  char any = 0;
  in_long_parts(text, [&](std::string_view part) {
    for (char c : part) any |= c;
  });
  return static_cast<unsigned char>(any) < 0x80;
}

/// Appends the ASCII characters from `at` on, with letters from First to First + 25 in the other case; where they end.
template <char First> size_t append_ascii(std::string& out, std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && static_cast<unsigned char>(text[end]) < 0x80) ++end;
  const size_t before = out.size(), count = end - at;
  out.resize(before + count);
  char* __restrict to = out.data() + before;
  const char* from = text.data() + at;
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<char>(from[i] ^ ((static_cast<unsigned char>(from[i] - First) < 26) << 5));
  return end;
}

void append_lower(std::string& out, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (at = append_ascii<'A'>(out, text, at); at == text.size()) return;
    size_t begin = at;
    uint32_t c = next_code_point(text, &at);
    if (c == capital_dotted_i) append_code_point(out, 'i'), append_code_point(out, combining_dot);
    else if (c == capital_sigma) append_code_point(out, is_final_sigma(text, begin, at) ? final_sigma : small_sigma);
    else append_code_point(out, static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

void append_upper(std::string& out, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (at = append_ascii<'a'>(out, text, at); at == text.size()) return;
    uint32_t c = next_code_point(text, &at);
    auto less = [](const LongUpperCase& row, uint32_t key) { return row.from < key; };
    auto row = std::lower_bound(std::begin(long_upper_cases), std::end(long_upper_cases), c, less);
    if (row != std::end(long_upper_cases) && row->from == c) {
      for (uint32_t to : row->to)
        if (to) append_code_point(out, to);
    } else append_code_point(out, static_cast<uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

bool is_space(uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == 0x85 || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_word_character(uint32_t c) {
  if (c < 0x80) return ascii_classes[c] == Word;
  auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;   // letters, marks, numbers
}

/// A word of ASCII letters and digits alone, which ends at another ASCII character: found without looking at code points.
/// Leaves *at before anything else, and the answer empty.
std::string_view next_plain_word(std::string_view text, size_t* at) {
  size_t i = *at;
  while (i < text.size() && (class_at(text, i) == Other || class_at(text, i) == Apostrophe)) ++i;
  *at = i;
  while (i < text.size() && class_at(text, i) == Word) ++i;
  if (i < text.size() && class_at(text, i) != Other) return {};
  std::string_view word = text.substr(*at, i - *at);
  *at = i;
  return word;
}

std::string_view next_word(std::string_view text, size_t* at) {
  if (std::string_view word = next_plain_word(text, at); !word.empty()) return word;
  size_t begin = std::string_view::npos, i = *at;
  while (i < text.size()) {
    size_t here = i;
    AsciiClass kind = class_at(text, i);
    uint32_t c = kind == NonAscii ? next_code_point(text, &i) : static_cast<unsigned char>(text[i++]);
    bool apostrophe = kind == Apostrophe || c == 0x2019;
    bool word = kind == Word || (kind == NonAscii && is_word_character(c));
    if (begin == std::string_view::npos) {
      if (!word) continue;
      begin = here;
      if (stands_alone(c)) return *at = i, text.substr(begin, i - begin);
      continue;
    }
    bool joins = word && !stands_alone(c);
    if (apostrophe && i < text.size()) {
      size_t after = i;
      uint32_t next = next_code_point(text, &after);
      joins = is_word_character(next) && !stands_alone(next);
    }
    if (!joins) return *at = here, text.substr(begin, here - begin);
  }
  *at = text.size();
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

void append_normalized(std::string& out, std::string_view text, utf8proc_option_t options) {
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()), &made, options);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> held(made, std::free);
  if (size < 0) fail(Kind::Limit, {}, fmt::format("a text cannot be normalised: {}", utf8proc_errmsg(size)));
  out.append(reinterpret_cast<const char*>(made), static_cast<size_t>(size));
}

Array normalize(const Array& texts, std::string_view form) {
  const bool compose = form == "NFC" || form == "NFKC", compatible = form == "NFKC" || form == "NFKD";
  if (!compose && !compatible && form != "NFD")
    fail(Kind::Value, {}, fmt::format("\"{}\" is no normalisation form", form), "the forms are NFC, NFD, NFKC and NFKD");
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) | (compatible ? UTF8PROC_COMPAT : 0));
  return map_to_text(texts, [&](const StringRef& text, TextArena& arena) {
    std::string_view all = text.view();
    if (is_ascii(all)) return text;
    // In parts that begin at an ASCII character: those combine with nothing before them.
    constexpr size_t part = 16 << 10;
    std::string out;
    for (size_t at = 0; at < all.size(); poll()) {
      size_t end = std::min(all.size(), at + part);
      while (end < all.size() && static_cast<unsigned char>(all[end]) >= 0x80) ++end;
      append_normalized(out, all.substr(at, end - at), options);
      at = end;
    }
    return arena.add(out);
  });
}

}  // namespace tercet
