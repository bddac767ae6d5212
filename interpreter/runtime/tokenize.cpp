// Text -> tokens, and the regular expressions of `matches`.
#include <fmt/format.h>
#include <re2/re2.h>

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "interpreter/runtime/ascii_runs.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/text_rows.h"
#include "interpreter/runtime/unicode.h"

#include <algorithm>

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

/// A pattern that is one class of characters, n times or more: `\w+`, `\w\w+`, `[a-z]{2,}`. Its matches are the runs of such
/// characters that are long enough, which needs no automaton.
class RunPattern {
 public:
  /// Nullopt where the pattern is another.
  static std::optional<RunPattern> read(std::string_view pattern) {
    size_t length = class_length(pattern);
    if (!length) return std::nullopt;
    std::string_view one = pattern.substr(0, length), rest = pattern.substr(length);
    int64_t least = 1;
    while (rest.size() > length && rest.substr(0, length) == one) rest.remove_prefix(length), ++least;
    if (rest.size() > 3 && rest.front() == '{' && rest.substr(rest.size() - 2) == ",}" && rest.size() < 6) {
      std::string_view digits = rest.substr(1, rest.size() - 3);
      if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
      least += std::stoll(std::string(digits)) - 1;
    } else if (rest != "+") {
      return std::nullopt;
    }
    if (least < 1) return std::nullopt;
    return RunPattern(one, least);
  }

  void append(const StringRef& text, RowBuffer<StringRef>& row) const {
    std::string_view all = text.view();
    if (is_ascii(all))
      return plain_.each_run(all, [&](size_t begin, size_t end) {
        if (static_cast<int64_t>(end - begin) < least_) return;
        row.push_back(part_of(all, begin, end));
        poll_at(static_cast<int64_t>(row.size()));
      });
    const size_t n = all.size();
    auto kind = [&](size_t i) { return ascii_[static_cast<unsigned char>(all[i])]; };
    for (size_t i = 0; i < n;) {
      while (i < n && kind(i) == No) ++i;
      const size_t begin = i;
      while (i < n && kind(i) == Yes) ++i;
      auto length = static_cast<int64_t>(i - begin);
      while (i < n) {   // from the first character that is not ASCII on
        size_t after = i + 1;
        if (kind(i) == No || (kind(i) == Wide && !contains(all, i, &after))) break;
        i = after, ++length;
      }
      if (length >= least_) {
        row.emplace_back(all.substr(begin, i - begin));
        poll_at(static_cast<int64_t>(row.size()));
      }
      if (i < n) next_code_point(all, &i);   // the one that ended the run
    }
  }

 private:
  RunPattern(std::string_view one, int64_t least)
      : expression_(std::make_unique<Pattern>(one)), number_(next_number_.fetch_add(1)), least_(least) {
    ascii_.fill(Wide);
    for (int c = 0; c < 0x80; ++c) {
      char text = static_cast<char>(c);
      ascii_[static_cast<size_t>(c)] = RE2::FullMatch(re2::StringPiece(&text, 1), expression_->expression) ? Yes : No;
    }
    plain_ = AsciiClass128([&](char c) { return ascii_[static_cast<unsigned char>(c)] == Yes; });
  }

  /// Bytes of the class that the pattern begins with, 0 when it does not begin with one.
  static size_t class_length(std::string_view p) {
    if (p.size() > 2 && p[0] == '\\' && std::string_view("wdsWDS").find(p[1]) != std::string_view::npos) return 2;
    if (p.empty() || p[0] != '[') return 0;
    const size_t first = p.size() > 1 && p[1] == '^' ? 2 : 1;
    for (size_t i = first; i < p.size(); ++i) {
      if (p[i] == '\\') ++i;
      else if (p[i] == '[') return 0;   // [:alpha:] and its like
      else if (p[i] == ']' && i > first) return i + 1;
    }
    return 0;
  }

  /// Is the character at `at`, which is not ASCII, of the class? Answers are kept by thread.
  bool contains(std::string_view text, size_t at, size_t* after) const {
    *after = at;
    const uint32_t c = next_code_point(text, after);
    struct Known { int64_t of = 0; uint32_t c = 0; bool yes = false; };
    thread_local std::array<Known, 1024> cache;
    Known& known = cache[c % cache.size()];
    if (known.of != number_ || known.c != c)
      known = {number_, c, RE2::FullMatch(re2::StringPiece(text.data() + at, *after - at), expression_->expression)};
    return known.yes;
  }

  static inline std::atomic<int64_t> next_number_{1};   // tells patterns apart in the caches
  std::unique_ptr<Pattern> expression_;
  int64_t number_, least_;
  enum Kind : uint8_t { No, Yes, Wide };
  std::array<Kind, 256> ascii_{};
  AsciiClass128 plain_{[](char) { return false; }};
};

/// A pattern that is ready for use: by the automaton, or without.
struct Compiled {
  explicit Compiled(std::string_view text) : pattern(text), runs(RunPattern::read(text)) {}
  Pattern pattern;
  std::optional<RunPattern> runs;
};

/// Patterns are written in programs, so that they are few: the last ones stay compiled, with what their automata have learned.
/// Making one takes longer than matching a thousand short texts.
std::shared_ptr<const Compiled> compiled(std::string_view text) {
  constexpr size_t kept = 32;
  static std::mutex mutex;
  static std::list<std::pair<std::string, std::shared_ptr<const Compiled>>> recent;
  {
    std::scoped_lock lock(mutex);
    for (auto at = recent.begin(); at != recent.end(); ++at)
      if (at->first == text) {
        recent.splice(recent.begin(), recent, at);
        return at->second;
      }
  }
  auto made = std::make_shared<const Compiled>(text);
  std::scoped_lock lock(mutex);
  recent.emplace_front(std::string(text), made);
  if (recent.size() > kept) recent.pop_back();
  return made;
}

void append_words(const StringRef& text, RowBuffer<StringRef>& row) {
  std::string_view all = text.view();
  static const AsciiClass128 letters([](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  if (is_ascii(all) && all.find('\'') == std::string_view::npos)   // no apostrophe, which may stand inside a word
    return letters.each_run(all, [&](size_t begin, size_t end) {
      row.push_back(part_of(all, begin, end));
      poll_at(static_cast<int64_t>(row.size()));
    });
  size_t at = 0;
  for (std::string_view word = next_word(all, &at); !word.empty(); word = next_word(all, &at)) {
    row.emplace_back(word);
    poll_at(static_cast<int64_t>(row.size()));
  }
}

void append_chars(const StringRef& text, RowBuffer<StringRef>& row) {
  std::string_view all = text.view();
  for (size_t at = 0; at < all.size();) {
    size_t begin = at;
    next_code_point(all, &at);
    row.emplace_back(all.substr(begin, at - begin));
    poll_at(static_cast<int64_t>(row.size()));
  }
}

void append_matches(const RE2& expression, const StringRef& text, RowBuffer<StringRef>& row) {
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
  const std::shared_ptr<const Compiled> pattern = compiled(kind);
  if (const std::optional<RunPattern>& runs = pattern->runs)
    return map_to_rows<StringRef>(texts, DType::Str, [&](const StringRef& text, RowBuffer<StringRef>& row) { runs->append(text, row); });
  return map_to_rows<StringRef>(texts, DType::Str, [&](const StringRef& text, RowBuffer<StringRef>& row) {
    append_matches(pattern->pattern.expression, text, row);
  });
}

size_t count_groups(std::string_view text) { return static_cast<size_t>(std::max(1, compiled(text)->pattern.expression.NumberOfCapturingGroups())); }

std::vector<Array> extract(const Array& texts, std::string_view text) {
  const std::shared_ptr<const Compiled> ready = compiled(text);
  const RE2& expression = ready->pattern.expression;
  const int groups = expression.NumberOfCapturingGroups(), wanted = groups + 1;
  const StringRef* in = texts.data<StringRef>();
  std::vector<Array> out;
  for (int g = 0; g < std::max(1, groups); ++g) {
    out.push_back(like_texts(texts, DType::Str));
    share_owners(out.back(), texts);
  }
  parallel_chunks(total_elements(texts), text_grain, [&](int64_t, int64_t begin, int64_t end) {
    std::vector<re2::StringPiece> found(static_cast<size_t>(wanted));
    for (int64_t i = begin; i < end; ++i) {
      poll_at(i);
      std::string_view all = in[i].view();
      bool yes = expression.Match(re2::StringPiece(all.data(), all.size()), 0, all.size(), RE2::UNANCHORED, found.data(), wanted);
      for (size_t g = 0; g < out.size(); ++g) {
        const re2::StringPiece& part = found[groups ? g + 1 : 0];
        out[g].data<StringRef>()[i] = yes && part.data() ? StringRef(std::string_view(part.data(), part.size())) : StringRef();
      }
    }
  });
  return out;
}

namespace {

/// The first match from `at` on that may be empty; `at` goes behind it (by a code point when it is empty, which ends at the text's end).
/// False when there is none. `found` are the match and its groups.
bool next_match(const RE2& expression, std::string_view all, size_t* at, std::vector<re2::StringPiece>& found) {
  if (*at > all.size()) return false;
  if (!expression.Match(re2::StringPiece(all.data(), all.size()), *at, all.size(), RE2::UNANCHORED, found.data(), static_cast<int>(found.size()))) return false;
  *at = static_cast<size_t>(found[0].data() - all.data()) + found[0].size();
  if (!found[0].empty()) return true;
  if (*at < all.size()) next_code_point(all, at);
  else ++*at;
  return true;
}

}  // namespace

Array replace_matches(const Array& texts, std::string_view text, std::string_view to) {
  const std::shared_ptr<const Compiled> ready = compiled(text);
  const RE2& expression = ready->pattern.expression;
  const re2::StringPiece form(to.data(), to.size());
  std::string wrong;
  if (!expression.CheckRewriteString(form, &wrong))
    fail(Kind::Value, {}, fmt::format("`{}` does not fit the pattern: {}", to, wrong), "\\1 is what the first group captured, \\0 the match, and \\\\ a backslash; raw strings keep backslashes: r\"\\1\"");
  return map_to_text(texts, [&](const StringRef& element, TextArena& arena) {
    const std::string_view all = element.view();
    std::vector<re2::StringPiece> found(static_cast<size_t>(1 + expression.NumberOfCapturingGroups()));
    std::string out;
    size_t at = 0, kept = 0;   // what lies before `kept` is in `out`
    bool any = false;
    for (PollCounter polls; next_match(expression, all, &at, found); any = true) {
      polls.add(16);
      const auto begin = static_cast<size_t>(found[0].data() - all.data());
      if (found[0].empty() && any && begin == kept) continue;   // directly behind a match
      out.append(all.substr(kept, begin - kept));
      expression.Rewrite(&out, form, found.data(), static_cast<int>(found.size()));
      kept = begin + found[0].size();
    }
    return any ? arena.add(out.append(all.substr(kept))) : element;
  });
}

Array split_matches(const Array& texts, std::string_view text) {
  const std::shared_ptr<const Compiled> ready = compiled(text);
  return map_to_rows<StringRef>(texts, DType::Str, [&](const StringRef& element, RowBuffer<StringRef>& row) {
    const std::string_view all = element.view();
    std::vector<re2::StringPiece> found(1);
    size_t at = 0, kept = 0;
    while (next_match(ready->pattern.expression, all, &at, found)) {
      poll_at(static_cast<int64_t>(row.size()));
      if (found[0].empty()) continue;
      const auto begin = static_cast<size_t>(found[0].data() - all.data());
      row.emplace_back(all.substr(kept, begin - kept));
      kept = begin + found[0].size();
    }
    row.emplace_back(all.substr(kept));
  });
}

Array matches(const Array& texts, std::string_view text) {
  const std::shared_ptr<const Compiled> ready = compiled(text);
  return map_to_number<bool>(texts, [&](std::string_view t) {
    return RE2::PartialMatch(re2::StringPiece(t.data(), t.size()), ready->pattern.expression);
  });
}

}  // namespace tercet
