// The filter between lexer and parser. It sees the whole line where the parser sees one token, and decides
//   - which line breaks and `;` end a statement (SEPARATOR),
//   - which reserved words are names: after `.`, and before `=` in calls and records,
//   - which parenthesis opens a lambda, which transform words decorate an `fn`, which comma is a trailing one,
//   - how a formatted string falls into text and holes (the tokens of a hole stand in the same list),
//   - that brackets are balanced (missing ones are invented after an error) and nested at most max_brackets deep.
// It also answers spellings of other languages that are tokens by themselves (`&&`, `True`, `'…'`) and reads on as if
// the right one stood there.
#pragma once
#include <vector>

#include "grammar/token.h"

namespace tercet {

constexpr size_t max_brackets = 200;

struct FilterResult {
  TokenList list;
  std::vector<Diagnostic> diagnostics;  // in source order, at most one a line
  bool too_deep = false;                // reading stopped at a bracket: the list is useless
  bool unclosed = false;                // a bracket is open at the end of the text
  bool open_string = false;             // a string is open at the end of the text
};

/// Lexes and filters a source that is valid UTF-8.
FilterResult filter_tokens(const SourceFile& source);

/// True for what cannot stand last in a statement, so that the next line belongs to it: `+`, `,`, `=`, `.` …
bool continues_line(TokenType last);

}  // namespace tercet
