#include "repl/lsp_text.h"

#include <algorithm>
#include <cctype>

namespace tercet {
namespace {

bool is_name_byte(char c) { return static_cast<unsigned char>(c) >= 0x80 || c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

/// Bytes of the code point that starts here, and how many UTF-16 units it has.
struct Step { size_t bytes; int64_t units; };
Step step_at(std::string_view s, size_t at) {
  const auto lead = static_cast<unsigned char>(s[at]);
  size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (at + bytes > s.size()) bytes = 1;
  for (size_t k = 1; k < bytes; ++k)
    if ((static_cast<unsigned char>(s[at + k]) & 0xC0) != 0x80) return {1, 1};
  return {bytes, bytes == 4 ? 2 : 1};
}

}  // namespace

LspText::LspText(std::string text) : text_(std::move(text)), starts_{0} {
  for (size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') starts_.push_back(i + 1);
}

std::string_view LspText::line(size_t number) const {
  const size_t begin = starts_[number], end = number + 1 < starts_.size() ? starts_[number + 1] - 1 : text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

LspPosition LspText::position(int64_t wanted, int64_t column) const {
  const size_t number = static_cast<size_t>(std::clamp<int64_t>(wanted - 1, 0, static_cast<int64_t>(starts_.size()) - 1));
  const std::string_view s = line(number);
  int64_t units = 0;
  size_t at = 0;
  for (int64_t c = 1; c < column && at < s.size(); ++c) {
    const Step step = step_at(s, at);
    at += step.bytes;
    units += step.units;
  }
  return {static_cast<int64_t>(number), units};
}

LspPosition LspText::end() const { return position_of(text_.size()); }

size_t LspText::offset(LspPosition p) const {
  if (p.line < 0) return 0;
  if (p.line >= static_cast<int64_t>(starts_.size())) return text_.size();
  const std::string_view s = line(static_cast<size_t>(p.line));
  size_t at = 0;
  for (int64_t units = 0; at < s.size() && units < p.character;) {
    const Step step = step_at(s, at);
    at += step.bytes;
    units += step.units;
  }
  return starts_[static_cast<size_t>(p.line)] + at;
}

LspPosition LspText::position_of(size_t offset) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto number = static_cast<size_t>(next - starts_.begin()) - 1;
  const std::string_view s = line(number);
  int64_t units = 0;
  for (size_t at = 0; at < s.size() && starts_[number] + at < offset;) {
    const Step step = step_at(s, at);
    at += step.bytes;
    units += step.units;
  }
  return {static_cast<int64_t>(number), units};
}

LspText::Word LspText::word_at(size_t offset) const {
  Word out;
  out.begin = out.end = std::min(offset, text_.size());
  while (out.begin > 0 && is_name_byte(text_[out.begin - 1])) --out.begin;
  while (out.end < text_.size() && is_name_byte(text_[out.end])) ++out.end;
  out.name = text_.substr(out.begin, out.end - out.begin);
  out.after_dot = out.begin > 0 && text_[out.begin - 1] == '.' && !(out.begin > 1 && text_[out.begin - 2] == '.');
  if (!out.name.empty() && std::isdigit(static_cast<unsigned char>(out.name[0]))) out.name.clear();
  return out;
}

}  // namespace tercet
