#include "grammar/formatted.h"

namespace tercet {
namespace {

/// Offset just past the escape sequence at `at`.
size_t skip_escape(std::string_view text, size_t at) {
  if (text.substr(at, 3) == "\\u{") {
    size_t close = text.find('}', at);
    return close == std::string_view::npos ? text.size() : close + 1;
  }
  return at + 2;
}

/// The first `:` of a hole outside of its brackets, or the hole's end.
size_t find_format(std::string_view text, size_t begin, size_t end) {
  int depth = 0;
  for (size_t i = begin; i < end; ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (text[i] == ':' && depth <= 0) return i;
  }
  return end;
}

}  // namespace

FormattedString split_formatted(std::string_view text) {
  FormattedString out;
  auto fault = [&](std::string error, std::string help, size_t begin, size_t end) {
    out.error = std::move(error), out.help = std::move(help), out.error_begin = begin, out.error_end = end;
  };
  size_t start = 0, at = 0;
  auto flush = [&] {
    if (at > start) out.pieces.push_back({false, start, at, at});
  };
  while (at < text.size()) {
    char c = text[at];
    if (c == '\\') {
      at = skip_escape(text, at);
    } else if ((c == '{' || c == '}') && text.substr(at + 1, 1) == text.substr(at, 1)) {
      at += 2;
    } else if (c == '}') {
      fault("a single `}` in a formatted string", "write `}}` for the character", at, at + 1);
      return out;
    } else if (c == '{') {
      flush();
      size_t close = text.find_first_of("{}", at + 1);
      if (close == std::string_view::npos || text[close] == '{') {
        fault("this hole of the formatted string is not closed",
              "close it with `}`, or write `{{` for the character; a hole holds no `{` and no `\"", at, at + 1);
        return out;
      }
      out.pieces.push_back({true, at + 1, close, find_format(text, at + 1, close)});
      start = at = close + 1;
    } else {
      ++at;
    }
  }
  at = text.size();
  flush();
  return out;
}

}  // namespace tercet
