#include "grammar/foreign.h"

#include <fmt/format.h>

#include <array>

namespace tercet {
namespace {

struct Row {
  std::string_view foreign;
  TokenType instead;
  std::string_view help;
};

constexpr std::array symbols{
    Row{"&&", TokenType::AND, "write `and` (`&` for arrays)"},
    Row{"||", TokenType::OR, "write `or` (`|` for arrays)"},
    Row{"!", TokenType::NOT, "write `not` (`~` for arrays)"},
};

constexpr std::array values{
    Row{"True", TokenType::TRUE, "write `true`"}, Row{"False", TokenType::FALSE, "write `false`"},
    Row{"None", TokenType::NONE, "write `none`"}, Row{"null", TokenType::NONE, "write `none`"},
    Row{"nil", TokenType::NONE, "write `none`"},  Row{"undefined", TokenType::NONE, "write `none`"},
};

constexpr std::array characters{
    Row{"?", TokenType::END, "a choice is written `if c { a } else { b }`"},
    Row{"$", TokenType::END, "names consist of letters, digits and `_`"},
    Row{"`", TokenType::END, "strings are written with `\"`"},
    Row{"'", TokenType::END, "strings are written with `\"`"},
    Row{"\\", TokenType::END, "a line goes on after an operator or inside ( ) and [ ]"},
    Row{"\u201c", TokenType::END, "use the plain quote `\"`"},
    Row{"\u201d", TokenType::END, "use the plain quote `\"`"},
    Row{"\u201e", TokenType::END, "use the plain quote `\"`"},
    Row{"\u2018", TokenType::END, "use the plain quote `\"`"},
    Row{"\u2019", TokenType::END, "use the plain quote `\"`"},
    Row{"\u2212", TokenType::MINUS, "use the plain minus sign `-`"},
    Row{"\u2013", TokenType::MINUS, "use the plain minus sign `-`"},
    Row{"\u00d7", TokenType::STAR, "write `*`"},
    Row{"\u00b7", TokenType::STAR, "write `*`"},
    Row{"\u00f7", TokenType::SLASH, "write `/`"},
    Row{"\u2264", TokenType::LESS_EQUAL, "write `<=`"},
    Row{"\u2265", TokenType::GREATER_EQUAL, "write `>=`"},
    Row{"\u2260", TokenType::NOT_EQUAL, "write `!=`"},
    Row{"\u2192", TokenType::ARROW, "write `->` for a result type and `=>` for a lambda"},
    Row{"\u21d2", TokenType::FAT_ARROW, "write `=>`"},
    Row{"\u2026", TokenType::ELLIPSIS, "write three dots `...`"},
    Row{"\u00a0", TokenType::END, "this is a no-break space: replace it by a plain one"},
    Row{"\u3000", TokenType::END, "this is a wide space: replace it by a plain one"},
    Row{"\u200b", TokenType::END, "this character is invisible: delete it"},
    Row{"\ufeff", TokenType::END, "this byte order mark is invisible: delete it"},
};

constexpr std::array statements{
    Row{"def", TokenType::END, "a function is written `fn name(x) = …` or `fn name(x) { … }`"},
    Row{"function", TokenType::END, "a function is written `fn name(x) = …` or `fn name(x) { … }`"},
    Row{"func", TokenType::END, "a function is written `fn name(x) = …` or `fn name(x) { … }`"},
    Row{"fun", TokenType::END, "a function is written `fn name(x) = …` or `fn name(x) { … }`"},
    Row{"lambda", TokenType::END, "a lambda is written `x => …` or `(x, y) => …`"},
    Row{"elif", TokenType::ELSE_IF, "write `else if`, on the line of the closing `}` or the next"},
    Row{"elsif", TokenType::ELSE_IF, "write `else if`"},
    Row{"elseif", TokenType::ELSE_IF, "write `else if`"},
    Row{"const", TokenType::END, "write `let`"},
    Row{"val", TokenType::END, "write `let`"},
    Row{"auto", TokenType::END, "write `let`"},
    Row{"mut", TokenType::END, "a variable that changes is written `var x = …`"},
    Row{"class", TokenType::END, "there are no classes: use a record `(a=1, b=2)` and functions"},
    Row{"struct", TokenType::END, "use a record `(a=1, b=2)`"},
    Row{"type", TokenType::END, "types are found; only parameters may be annotated"},
    Row{"from", TokenType::END, "write `import text` and then `text.name`"},
    Row{"with", TokenType::END, "there is no `with`; files are read whole by `read_text` and others"},
    Row{"try", TokenType::END, "there are no exceptions to catch; test before, or use a mode such as `mode=\"fill\"`"},
    Row{"raise", TokenType::END, "write `assert(condition, \"message\")`"},
    Row{"throw", TokenType::END, "write `assert(condition, \"message\")`"},
    Row{"assert", TokenType::END, "`assert` is a function: `assert(condition, \"message\")`"},
    Row{"print", TokenType::END, "`print` is a function: `print(a, b)`"},
    Row{"yield", TokenType::END, "there are no generators: build an array `[e for x in xs]`"},
    Row{"del", TokenType::END, "values are freed by themselves"},
    Row{"global", TokenType::END, "globals are seen everywhere"},
    Row{"nonlocal", TokenType::END, "a captured variable cannot be assigned; return the new value"},
    Row{"pass", TokenType::END, "an empty block is written `{ }`"},
    Row{"switch", TokenType::END, "write `if … { } else if … { } else { }`"},
    Row{"match", TokenType::END, "write `if … { } else if … { } else { }`"},
    Row{"unless", TokenType::END, "write `if not c { … }`"},
    Row{"until", TokenType::END, "write `while not c { … }`"},
    Row{"loop", TokenType::END, "write `while true { … }`"},
    Row{"do", TokenType::END, "write `while c { … }`"},
};

template <size_t n>
const Row* find(const std::array<Row, n>& rows, std::string_view text) {
  for (const Row& row : rows)
    if (row.foreign == text) return &row;
  return nullptr;
}

std::string describe_character(std::string_view text) {
  auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x20 || lead == 0x7f) return fmt::format("the control character 0x{:02x} is no part of a program", lead);
  return fmt::format("`{}` is no part of the language", text);
}

}  // namespace

std::optional<ForeignSpelling> foreign_token(TokenType type, std::string_view text) {
  if (type == TokenType::NAME) {
    if (const Row* row = find(values, text))
      return ForeignSpelling{row->instead, fmt::format("`{}` is a word of another language", text),
                             std::string(row->help)};
  } else if (type == TokenType::SINGLE_QUOTED) {
    return ForeignSpelling{TokenType::STRING, "strings are written with `\"`",
                           fmt::format("write \"{}\"; inside a hole of an f-string, give it a name before", text.size() < 60 ? text.substr(1, text.size() - 2) : "…")};
  } else if (const Row* row = find(symbols, text)) {
    return ForeignSpelling{row->instead, fmt::format("`{}` is an operator of another language", text),
                           std::string(row->help)};
  } else if (type == TokenType::UNKNOWN) {
    const Row* known = find(characters, text);
    return ForeignSpelling{known ? known->instead : TokenType::END, describe_character(text),
                           known ? std::string(known->help) : ""};
  }
  return std::nullopt;
}

bool starts_foreign_comment(const std::vector<Token>& raw, size_t i) {
  if (raw[i].type == TokenType::FLOOR_DIVIDE) return true;
  if (raw[i].type != TokenType::SLASH || i + 1 == raw.size()) return false;
  return raw[i + 1].type == TokenType::STAR || raw[i + 1].type == TokenType::POWER;
}

ForeignComment foreign_comment(const TokenList& list, const std::vector<Token>& raw, size_t first) {
  bool block = raw[first].type == TokenType::SLASH;
  ForeignComment out;
  size_t i = first;
  for (; i + 1 < raw.size(); ++i) {
    const Token& next = raw[i + 1];
    if (next.type == TokenType::NEWLINE && out.first_line_end == 0) out.first_line_end = raw[i].end;
    if (next.type == TokenType::NEWLINE && !block) break;
    if (block && i > first + 1 && next.type == TokenType::SLASH && list.text(raw[i]).ends_with('*')) {
      ++i;
      break;
    }
  }
  out.last = i;
  if (out.first_line_end == 0) out.first_line_end = raw[i].end;
  out.help = block ? "put `#` before each of its lines" : "write `#` instead of `//`";
  return out;
}

bool is_foreign_else_if(std::string_view word) {
  const Row* row = find(statements, word);
  return row && row->instead == TokenType::ELSE_IF;
}

std::string foreign_statement(std::string_view word) {
  const Row* row = find(statements, word);
  return row ? std::string(row->help) : "";
}

}  // namespace tercet
