// Text -> tokens, and the regular expressions of `matches`.
#include <fmt/format.h>
#include <re2/re2.h>

#include "interpreter/runtime/text.h"
#include "interpreter/runtime/text_rows.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

/// RE2 matches in time linear in the text, whatever the pattern; its memory is bounded.
struct Pattern {
  explicit Pattern(std::string_view text) : expression(re2::StringPiece(text.data(), text.size()), options()) {
    if (!expression.ok())
      fail(Kind::Value, {}, fmt::format("`{}` is not a regular expression: {}", text, expression.error()),
           "the syntax is RE2's; a raw string r\"\\d+\" keeps backslashes as they are");
  }
  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    return options;
  }
  RE2 expression;
};

void append_words(const StringRef& text, std::vector<StringRef>& row) {
  std::string_view all = text.view();
  size_t at = 0;
  for (std::string_view word = next_word(all, &at); !word.empty(); word = next_word(all, &at)) {
    row.emplace_back(word);
    poll_at(static_cast<int64_t>(row.size()));
  }
}

void append_chars(const StringRef& text, std::vector<StringRef>& row) {
  std::string_view all = text.view();
  for (size_t at = 0; at < all.size();) {
    size_t begin = at;
    next_code_point(all, &at);
    row.emplace_back(all.substr(begin, at - begin));
    poll_at(static_cast<int64_t>(row.size()));
  }
}

void append_matches(const RE2& expression, const StringRef& text, std::vector<StringRef>& row) {
  std::string_view all = text.view();
  const re2::StringPiece piece(all.data(), all.size());
  re2::StringPiece groups[2];
  int wanted = expression.NumberOfCapturingGroups() > 0 ? 2 : 1;
  for (size_t at = 0; at <= all.size();) {
    if (!expression.Match(piece, at, all.size(), RE2::UNANCHORED, groups, wanted)) return;
    poll_at(static_cast<int64_t>(row.size()));
    auto end = static_cast<size_t>(groups[0].data() - all.data()) + groups[0].size();
    const re2::StringPiece& token = groups[wanted - 1];
    if (!token.empty()) row.emplace_back(std::string_view(token.data(), token.size()));
    if (!groups[0].empty()) at = end;
    else if (end < all.size()) next_code_point(all, &(at = end));   // step over an empty match
    else return;
  }
}

}  // namespace

Array tokenize(const Array& texts, std::string_view kind) {
  if (kind == "words") return map_to_rows<StringRef>(texts, DType::Str, append_words);
  if (kind == "chars") return map_to_rows<StringRef>(texts, DType::Str, append_chars);
  if (kind == "bytes") return text_bytes(texts);
  Pattern pattern(kind);
  return map_to_rows<StringRef>(texts, DType::Str, [&](const StringRef& text, std::vector<StringRef>& row) {
    append_matches(pattern.expression, text, row);
  });
}

Array matches(const Array& texts, std::string_view text) {
  Pattern pattern(text);
  return map_to_number<bool>(texts, [&](std::string_view t) {
    return RE2::PartialMatch(re2::StringPiece(t.data(), t.size()), pattern.expression);
  });
}

}  // namespace tercet
