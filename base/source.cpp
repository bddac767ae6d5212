#include "base/source.h"

#include <algorithm>

namespace tercet {

Span Span::joined(Span other) const {
  if (!known()) return other;
  if (!other.known() || other.file != file) return *this;
  return {file, std::min(begin, other.begin), std::max(end, other.end)};
}

SourceFile::SourceFile(uint32_t id, std::string name, std::string text)
    : id_(id), name_(std::move(name)), text_(std::move(text)), line_starts_{0} {
  for (size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
}

Place SourceFile::place(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  auto line = static_cast<uint32_t>(next - line_starts_.begin());
  uint32_t column = 1;
  for (uint32_t i = line_starts_[line - 1]; i < offset; ++i)
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
  return {name_, line, column};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > line_count()) return {};
  size_t begin = line_starts_[number - 1];
  size_t end = number < line_count() ? line_starts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

uint32_t SourceFile::line_begin(uint32_t number) const { return line_starts_[number - 1]; }

const SourceFile& SourceMap::add(std::string name, std::string text) {
  return files_.emplace_back(static_cast<uint32_t>(files_.size() + 1), std::move(name), std::move(text));
}

const SourceFile* SourceMap::find(Span span) const {
  return span.file == 0 || span.file > files_.size() ? nullptr : &files_[span.file - 1];
}

}  // namespace tercet
