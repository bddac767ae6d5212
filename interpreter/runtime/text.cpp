#include "interpreter/runtime/text.h"

#include <fmt/format.h>

#include <charconv>

#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/text_rows.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

/// ASCII letters between First and First + 25 get another case by one bit; the rest, and all other characters, stay.
template <char First> bool is_letter(char c) { return static_cast<unsigned char>(c - First) < 26; }
template <char First> char other_case(char c) { return static_cast<char>(c ^ (is_letter<First>(c) << 5)); }

template <char First, void (*append)(std::string&, std::string_view)> Array change_case(const Array& texts) {
  return map_to_text(texts, [](const StringRef& text, TextArena& arena) {
    std::string_view from = text.view();
    unsigned char wide = 0, letters = 0;   // loops that the compiler has vectors for
    in_strips(static_cast<int64_t>(from.size()), [&](int64_t begin, int64_t end) {
      for (const char* c = from.data() + begin; c < from.data() + end; ++c) wide |= static_cast<unsigned char>(*c), letters |= is_letter<First>(*c);
    });
    if (wide < 0x80 && !letters) return text;   // nothing changes: the element itself is the result
    if (wide < 0x80 && from.size() > 12) {
      char* __restrict to = arena.room(from.size());
      in_strips(static_cast<int64_t>(from.size()), [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = other_case<First>(from[static_cast<size_t>(i)]);
      });
      return StringRef{std::string_view(to, from.size())};
    }
    static thread_local std::string scratch;
    scratch.clear();
    append(scratch, from);
    return arena.add(scratch);
  });
}

/// The code point that ends at `end`.
uint32_t code_point_before(std::string_view text, size_t end, size_t* begin) {
  size_t at = end;
  do --at; while (at > 0 && (text[at] & 0xC0) == 0x80);
  *begin = at;
  return next_code_point(text, &at);
}

std::string_view stripped(std::string_view text) {
  size_t begin = 0, end = text.size();
  for (size_t at = 0; begin < end && is_space(next_code_point(text, &at));) begin = at;
  for (size_t at = end; end > begin && is_space(code_point_before(text, end, &at));) end = at;
  return text.substr(begin, end - begin);
}

[[noreturn]] void empty_part(const char* what) {
  fail(Kind::Value, {}, std::string(what) + " must not be empty", "to get single characters, use `tokenize(\"chars\")`");
}

}  // namespace

Array lower(const Array& texts) { return change_case<'A', append_lower>(texts); }
Array upper(const Array& texts) { return change_case<'a', append_upper>(texts); }

Array strip(const Array& texts) {
  return map_to_text(texts, [](const StringRef& text, TextArena&) { return StringRef(stripped(text.view())); });
}

Array replace(const Array& texts, std::string_view from, std::string_view to) {
  if (from.empty()) empty_part("the text to replace");
  return map_to_text(texts, [&](const StringRef& text, TextArena& arena) {
    std::string_view rest = text.view();
    size_t at = find_part(rest, from);
    if (at == std::string_view::npos) return text;
    std::string out;
    PollCounter polls;
    for (; at != std::string_view::npos; at = find_part(rest, from)) {
      polls.add(16);
      out.append(rest.substr(0, at)).append(to);
      rest.remove_prefix(at + from.size());
    }
    return arena.add(out.append(rest));
  });
}

Array text_lengths(const Array& texts) { return map_to_number<int64_t>(texts, count_code_points); }

namespace {

template <class T> T parse_number(std::string_view text, const char* what) {
  std::string_view digits = stripped(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  T value{};
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) fail(Kind::Value, {}, fmt::format("{} does not fit in {}", quoted(text), name_of(dtype_for<T>())));
  if (error != std::errc() || end != digits.data() + digits.size()) fail(Kind::Value, {}, fmt::format("{} is no {}", quoted(text), what), "leave such texts out first, as in texts[matches(texts, pattern)]");
  return value;
}

}  // namespace

Array parse_integers(const Array& texts) {
  return map_to_number<int64_t>(texts, [](std::string_view text) { return parse_number<int64_t>(text, "integer"); });
}
Array parse_floats(const Array& texts) {
  return map_to_number<double>(texts, [](std::string_view text) { return parse_number<double>(text, "number"); });
}

Array starts_with(const Array& texts, std::string_view prefix) {
  return map_to_number<bool>(texts, [&](std::string_view text) { return text.starts_with(prefix); });
}

Array ends_with(const Array& texts, std::string_view suffix) {
  return map_to_number<bool>(texts, [&](std::string_view text) { return text.ends_with(suffix); });
}

Array contains(const Array& texts, std::string_view part) {
  return map_to_number<bool>(texts, [&](std::string_view text) { return find_part(text, part) != std::string_view::npos; });
}

Array find(const Array& texts, std::string_view part) {
  return map_to_number<int64_t>(texts, [&](std::string_view text) -> int64_t {
    size_t at = find_part(text, part);
    return at == std::string_view::npos ? -1 : count_code_points(text.substr(0, at));
  });
}

Array split(const Array& texts, std::string_view separator) {
  if (separator.empty()) empty_part("the separator");
  return map_to_rows<StringRef>(texts, DType::Str, [&](const StringRef& text, RowBuffer<StringRef>& row) {
    std::string_view rest = text.view();
    for (size_t at = find_part(rest, separator); at != std::string_view::npos; at = find_part(rest, separator)) {
      poll_at(static_cast<int64_t>(row.size()));
      row.emplace_back(rest.substr(0, at));
      rest.remove_prefix(at + separator.size());
    }
    row.emplace_back(rest);
  });
}

Array text_bytes(const Array& texts) {
  return map_to_rows<uint8_t>(texts, DType::U8, [](const StringRef& text, RowBuffer<uint8_t>& row) {
    row.append(reinterpret_cast<const uint8_t*>(text.view().data()), text.view().size());
  });
}

Array code_points(const Array& texts) {
  return map_to_rows<int32_t>(texts, DType::I32, [](const StringRef& text, RowBuffer<int32_t>& row) {
    std::string_view bytes = text.view();
    for (size_t at = 0; at < bytes.size();) {
      if (at) poll();
      for (const size_t end = std::min(bytes.size(), at + poll_strip); at < end;) row.push_back(static_cast<int32_t>(next_code_point(bytes, &at)));
    }
  });
}

bool all_valid_utf8(const Array& texts) {
  const StringRef* in = texts.data<StringRef>();
  return std::all_of(in, in + total_elements(texts), [](const StringRef& text) { return is_valid_utf8(text.view()); });
}

}  // namespace tercet
