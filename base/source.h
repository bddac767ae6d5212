// Source text and positions in it.
//
// A Span is a half-open byte range of one source; sources are numbered by the SourceMap that owns them.
// Example:  Span at = file.span(12, 17);  map.locate(at).line  // 1-based line, 1-based code-point column
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tercet {

/// A half-open range of bytes [begin, end) in source number `file`. file 0 means "no place in any source".
struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool known() const { return file != 0; }
  /// Stands in compiled functions for the place of the call that runs them: they serve many.
  static Span of_call() { return {UINT32_MAX, 0, 0}; }
  /// The smallest span that covers both; an unknown span is neutral.
  Span joined(Span other) const;
  friend bool operator==(const Span&, const Span&) = default;
};

/// A position for people: lines and columns count from 1, columns in code points.
struct Place {
  std::string_view name;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// One source text. Immutable; the text need not be valid UTF-8 (the lexer says where it is not).
class SourceFile {
 public:
  SourceFile(uint32_t id, std::string name, std::string text);
  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  Span span(size_t begin, size_t end) const { return {id_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}; }
  Place place(uint32_t offset) const;
  /// Text of the 1-based line, without its line break.
  std::string_view line(uint32_t number) const;
  uint32_t line_begin(uint32_t number) const;
  uint32_t line_count() const { return static_cast<uint32_t>(line_starts_.size()); }

 private:
  uint32_t id_;
  std::string name_, text_;
  std::vector<uint32_t> line_starts_;
};

/// Owns every source of a session. Adding never moves a source, so references stay valid.
class SourceMap {
 public:
  const SourceFile& add(std::string name, std::string text);
  /// The source of a span, or nullptr for an unknown one.
  const SourceFile* find(Span span) const;

 private:
  std::deque<SourceFile> files_;
};

}  // namespace tercet
