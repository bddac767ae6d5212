// Positions of the language server protocol in a text: lines and UTF-16 units from 0. Tercet counts lines and code points from 1.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tercet {

struct LspPosition {
  int64_t line = 0, character = 0;
  auto operator<=>(const LspPosition&) const = default;
};

/// A document, whose text need not be valid UTF-8: a byte that is none counts as one unit.
class LspText {
 public:
  explicit LspText(std::string text);
  const std::string& text() const { return text_; }
  LspPosition position(int64_t line, int64_t column) const;   // of Tercet's line and column
  LspPosition end() const;
  /// The byte at a position; positions behind the end of a line or of the text are that end.
  size_t offset(LspPosition p) const;

  struct Word {
    std::string name;
    size_t begin = 0, end = 0;
    bool after_dot = false;
  };
  /// The name around or before a byte; empty when there is none.
  Word word_at(size_t offset) const;
  LspPosition position_of(size_t offset) const;

 private:
  std::string_view line(size_t number) const;
  std::string text_;
  std::vector<size_t> starts_;   // of lines
};

}  // namespace tercet
