#include "grammar/token_filter.h"

#include <fmt/format.h>

#include <utility>

#include "grammar/foreign.h"
#include "grammar/formatted.h"
#include "grammar/token_lookahead.h"

namespace tercet {

bool continues_line(TokenType last) {
  switch (last) {
    case TokenType::NOT:
    case TokenType::COMMA:
    case TokenType::ASSIGN:
    case TokenType::OPERATOR_ASSIGN:
    case TokenType::FAT_ARROW:
    case TokenType::ARROW:
    case TokenType::DOT:
      return true;
    default:
      return is_binary_operator(last);
  }
}

namespace {

using enum TokenType;
using Raw = std::vector<Token>;

constexpr size_t max_diagnostics = 10;

class Filter {
 public:
  explicit Filter(const SourceFile& source) : source_(source) { out_.list.source = &source; }

  FilterResult run() {
    const std::string& text = source_.text();
    size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    Raw raw = lex(source_, begin, text.size());
    out_.list.tokens.reserve(raw.size());
    feed(raw);
    if (!out_.too_deep) finish();
    return std::move(out_);
  }

 private:
  std::vector<Token>& tokens() { return out_.list.tokens; }
  std::string_view text(const Token& t) const { return out_.list.text(t); }
  TokenType last(size_t back = 0) { return tokens().size() > back ? tokens()[tokens().size() - 1 - back].type : END; }
  TokenType innermost() { return open_.empty() ? END : tokens()[open_.back()].type; }
  bool inside_parentheses() { return !open_.empty() && innermost() != LBRACE; }

  void report(Kind kind, size_t begin, size_t end, std::string message, std::string help,
              std::vector<Note> notes = {}) {
    if (out_.diagnostics.size() >= max_diagnostics) return;
    if (kind != Kind::Limit && line_ == reported_line_) return;
    reported_line_ = line_;
    Diagnostic d;
    d.kind = kind, d.span = source_.span(begin, end), d.message = std::move(message), d.help = std::move(help),
    d.notes = std::move(notes);
    out_.diagnostics.push_back(std::move(d));
  }

  void emit(TokenType type, size_t begin, size_t end, bool invented = false) {
    tokens().push_back({type, invented, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), 0});
  }
  void emit(Token t) {
    if (!doc_.empty()) out_.list.docs[static_cast<uint32_t>(tokens().size())] = std::exchange(doc_, {});
    tokens().push_back(t);
  }

  // ---- the stream ----
  void feed(const Raw& raw) {
    for (size_t i = 0; i < raw.size() && !out_.too_deep; ++i) {
      const Token& t = raw[i];
      switch (t.type) {
        case SPACE:
        case COMMENT:
          break;
        case NEWLINE:
          line_start_ = true;
          ++line_;
          break;
        case DOC_COMMENT:
          if (line_start_) add_doc(t);
          break;
        case SEMICOLON:
          separate(t, true);
          break;
        default:
          if (line_start_ && !inside_parentheses() && !continues_line(last()) && starts_foreign_comment(raw, i)) {
            i = skip_foreign_comment(raw, i);
          } else {
            significant(raw, i);
            line_start_ = false;
          }
      }
    }
  }

  void add_doc(const Token& t) {
    std::string_view line = text(t).substr(2);
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (!doc_.empty()) doc_ += '\n';
    doc_ += line;
  }

  /// Ends a statement, where one has begun.
  void separate(const Token& at, bool written) {
    if (written && inside_parentheses()) return emit(SEPARATOR, at.begin, at.end);  // the parser complains
    if (tokens().empty() || last() == SEPARATOR || last() == LBRACE) return;
    emit(SEPARATOR, at.begin, written ? at.end : at.begin);
  }

  void line_break_before(const Raw& raw, size_t i) {
    const Token& t = raw[i];
    if (inside_parentheses() && innermost() != HOLE_OPEN && last() != DOT && can_only_start_statement(raw, i))
      close_forgotten(t);
    if (inside_parentheses() || continues_line(last())) return;
    if (t.type == PIPE || t.type == DOT || t.type == ELSE || t.type == RBRACE) return;
    if (last() == RBRACE && is_foreign_else_if(text(t))) return;
    separate(t, false);
  }

  void significant(const Raw& raw, size_t& i) {
    if (line_start_) line_break_before(raw, i);
    Token t = raw[i];
    if (rename(raw, i, t)) return emit(t);
    if (last() == RBRACE && is_foreign_else_if(text(t))) {
      report(Kind::Syntax, t.begin, t.end, fmt::format("`{}` is a word of another language", text(t)),
             foreign_statement(text(t)));
      emit(ELSE_IF, t.begin, t.begin);
      return emit(IF, t.begin, t.end);
    }
    if (auto foreign = foreign_token(t.type, text(t))) {
      report(Kind::Syntax, t.begin, t.end, foreign->message, foreign->help);
      if (foreign->instead == END) return;
      t.type = foreign->instead;
    }
    switch (t.type) {
      case LPAREN:
      case LBRACKET:
      case LBRACE:
        return open(t);
      case RPAREN:
      case RBRACKET:
      case RBRACE:
        return close(t);
      case VAR:
        if (!declares_variable(raw, i)) t.type = NAME;
        break;
      case FAT_ARROW:
        mark_lambda();
        break;
      case FN:
        mark_transforms(tokens().size(), DECORATOR);
        break;
      case DOT:
        if (misplaced_point(raw, i)) return;
        break;
      case PLUS:
      case MINUS:
        if (is_increment(raw, i)) return void(++i);
        break;
      case ELSE:
        if (next_on_line(raw, i).type == IF) t.type = ELSE_IF;
        break;
      case FSTRING:
        return formatted(t);
      case OPEN_STRING:
        open_string(t);
        break;
      default:
        break;
    }
    emit(t);
  }

  // ---- words ----
  /// Reserved words are names after `.` and, in brackets, before `=`.
  bool rename(const Raw& raw, size_t i, Token& t) {
    if (!is_word(t.type) && t.type != NAME) return false;
    if (last() == DOT) {
      t.type = NAME;
      return true;
    }
    bool first = last() == COMMA || (!open_.empty() && open_.back() + 1 == tokens().size());
    if (!first || !inside_parentheses() || innermost() == HOLE_OPEN) return false;
    if (next_significant(raw, i).type != ASSIGN) return false;
    t.type = ARGUMENT_NAME;
    return true;
  }

  /// `var` is also the library's variance: it declares only at the start of a statement, before a name or a pattern and
  /// its `=`.
  bool declares_variable(const Raw& raw, size_t i) {
    bool starts = tokens().empty() || last() == SEPARATOR || last() == LBRACE;
    return starts && is_variable_declaration(raw, i);
  }

  void mark_lambda() {
    if (last(1) == DOT) return;
    if (last() == NAME || last() == PLACEHOLDER) {
      tokens().back().type = LAMBDA_NAME;
      mark_transforms(tokens().size() - 1, LAMBDA_TRANSFORM);
    } else if (last() == RPAREN) {
      size_t open = tokens().back().match;
      if (open > 0 && ends_operand(tokens()[open - 1].type) && !transform_before(open)) return;
      tokens()[open].type = LAMBDA_OPEN;
      mark_transforms(open, LAMBDA_TRANSFORM);
    }
  }

  /// The transform word that ends, with its brackets, before token `at`.
  std::optional<size_t> transform_before(size_t at) {
    if (at == 0) return std::nullopt;
    size_t word = at - 1;
    if (tokens()[word].type == RBRACKET && tokens()[word].match > 0) word = tokens()[word].match - 1;
    if (tokens()[word].type != TRANSFORM || (word > 0 && tokens()[word - 1].type == DOT)) return std::nullopt;
    return word;
  }
  /// `jit vmap[0] fn f`, `jit vmap[0] x => …`: the transforms directly before `fn` belong to the declaration, those before a lambda to it.
  void mark_transforms(size_t at, TokenType type) {
    while (std::optional<size_t> word = transform_before(at)) tokens()[at = *word].type = type;
  }

  // ---- brackets ----
  void open(Token t) {
    if (open_.size() >= max_brackets) {
      report(Kind::Limit, t.begin, t.end, "nested too deeply",
             fmt::format("brackets may be nested {} deep; name the inner parts by `let` or functions", max_brackets));
      out_.too_deep = true;
      return;
    }
    open_.push_back(static_cast<uint32_t>(tokens().size()));
    emit(t);
  }

  void pop(Token t) {
    if (last() == COMMA && open_.back() + 1 < tokens().size()) tokens().back().type = TRAILING_COMMA;
    if (last() == SEPARATOR && t.type == RBRACE) tokens().pop_back();
    t.match = open_.back();
    tokens()[open_.back()].match = static_cast<uint32_t>(tokens().size());
    open_.pop_back();
    emit(t);
  }

  void close(const Token& t) {
    if (open_.empty() || (innermost() == HOLE_OPEN && t.type != HOLE_CLOSE)) {
      report(Kind::Syntax, t.begin, t.end, fmt::format("`{}` closes nothing", text(t)),
             fmt::format("delete it, or open a bracket before it"));
      return;
    }
    if (closer_of(innermost()) == t.type) return pop(t);
    const Token& opened = tokens()[open_.back()];
    std::vector<Note> note{{out_.list.span(opened), fmt::format("`{}` was opened here", text(opened))}};
    report(Kind::Syntax, t.begin, t.end, fmt::format("`{}` does not close `{}`", text(t), text(opened)),
           fmt::format("write {} before it", describe(closer_of(opened.type))), std::move(note));
    if (!closes_an_outer(t.type)) return pop({closer_of(opened.type), true, t.begin, t.end, 0});
    while (closer_of(innermost()) != t.type) pop({closer_of(innermost()), true, t.begin, t.begin, 0});
    pop(t);
  }

  bool closes_an_outer(TokenType type) {
    for (size_t i = open_.size(); i-- > 0;) {
      if (closer_of(tokens()[open_[i]].type) == type) return true;
      if (tokens()[open_[i]].type == HOLE_OPEN) return false;
    }
    return false;
  }

  void report_unclosed() {
    if (open_string_ > open_.back()) return;  // the bracket's end is in the string that was left open
    const Token& opened = tokens()[open_.back()];
    uint32_t reported = std::exchange(reported_line_, 0);  // the bracket stands on another line
    report(Kind::Syntax, opened.begin, opened.end, fmt::format("`{}` is never closed", text(opened)),
           fmt::format("add the missing {}", describe(closer_of(opened.type))));
    reported_line_ = reported;
  }

  /// A statement starts inside ( ) or [ ]: closes them.
  void close_forgotten(const Token& before) {
    report_unclosed();
    while (inside_parentheses()) pop({closer_of(innermost()), true, before.begin, before.begin, 0});
  }

  void finish() {
    auto end = static_cast<uint32_t>(source_.text().size());
    if (!open_.empty()) {
      out_.unclosed = true;
      report_unclosed();
      while (!open_.empty()) pop({closer_of(innermost()), true, end, end, 0});
    }
    if (last() == SEPARATOR) tokens().pop_back();
    emit(END, end, end);
  }

  // ---- literals ----
  /// `1.` and `.5`, which the lexer gives as two tokens.
  bool misplaced_point(const Raw& raw, size_t i) {
    const Token& t = raw[i];
    Token next = next_touching(raw, i);
    bool digits_after = next.type == INT || next.type == FLOAT;
    bool touches_last = !tokens().empty() && tokens().back().end == t.begin;
    bool member = is_word(next.type) || (next.type == NAME && !is_exponent(text(next)));
    if (last() == INT && touches_last && !digits_after && !member) {
      Token& number = tokens().back();
      report(Kind::Syntax, number.begin, t.end, "a float has a digit on both sides of its point",
             fmt::format("write `{}.0`", text(number)));
      number.type = FLOAT;
      return true;
    }
    if (digits_after && ends_operand(last()) && touches_last) {
      report(Kind::Syntax, t.begin, next.end, "a number cannot follow `.` here",
             "elements of a tuple or array are read by an index: `x[0]`");
    } else if (digits_after) {
      report(Kind::Syntax, t.begin, next.end, "a float has a digit on both sides of its point",
             fmt::format("write `0.{}`", text(next)));
      return true;
    }
    return false;
  }

  /// `x++`, `x--` at the end of a statement.
  bool is_increment(const Raw& raw, size_t i) {
    const Token& t = raw[i];
    Token second = next_touching(raw, i);
    if (second.type != t.type || !ends_operand(last())) return false;
    TokenType after = next_on_line(raw, i + 1).type;
    if (after != NEWLINE && after != END && after != SEMICOLON && after != COMMENT && !is_close_bracket(after))
      return false;
    report(Kind::Syntax, t.begin, second.end, fmt::format("there is no operator `{0}{0}`", text(t)),
           fmt::format("write `x {}= 1`", text(t)));
    return true;
  }

  void open_string(Token& t) {
    std::string_view rest = std::string_view(source_.text()).substr(t.end);
    out_.open_string = rest.find_first_not_of(" \t\r\n") == std::string_view::npos;
    report(Kind::Syntax, t.begin, t.end, "this string is not closed on its line",
           "close it with `\"`; a line break inside is written `\\n`");
    t.type = STRING;
    t.invented = true;
    open_string_ = static_cast<uint32_t>(tokens().size());
  }

  void formatted(const Token& t) {
    size_t inside = t.begin + 2;
    FormattedString parts = split_formatted(text(t).substr(2, text(t).size() - 3));
    emit(FSTRING_BEGIN, t.begin, inside);
    for (const FormattedPiece& piece : parts.pieces) {
      if (out_.too_deep) return;
      if (piece.is_hole)
        hole(inside + piece.begin, inside + piece.format, inside + piece.end);
      else
        emit(FSTRING_TEXT, inside + piece.begin, inside + piece.end);
    }
    if (!parts.error.empty())
      report(Kind::Syntax, inside + parts.error_begin, inside + parts.error_end, parts.error, parts.help);
    emit(FSTRING_END, t.end - 1, t.end);
  }

  void hole(size_t begin, size_t format, size_t end) {
    auto at = static_cast<uint32_t>(end);
    open({HOLE_OPEN, false, static_cast<uint32_t>(begin - 1), static_cast<uint32_t>(begin), 0});
    if (out_.too_deep) return;
    line_start_ = false;
    feed(lex(source_, begin, format));
    if (out_.too_deep) return;
    while (innermost() != HOLE_OPEN) {
      report_unclosed();
      pop({closer_of(innermost()), true, at, at, 0});
    }
    if (format < end) emit(HOLE_FORMAT, format, end);
    pop({HOLE_CLOSE, false, at, at + 1, 0});
  }

  /// Passes over `// …` or `/* … */`; returns the index of its last token.
  size_t skip_foreign_comment(const Raw& raw, size_t i) {
    ForeignComment comment = foreign_comment(out_.list, raw, i);
    report(Kind::Syntax, raw[i].begin, comment.first_line_end, "a comment starts with `#`", comment.help);
    for (; i < comment.last; ++i) line_ += raw[i].type == NEWLINE;
    return comment.last;
  }

  const SourceFile& source_;
  FilterResult out_;
  std::vector<uint32_t> open_;  // tokens of the brackets that are open
  std::string doc_;
  uint32_t open_string_ = 0;  // the last token that is a string without end
  bool line_start_ = true;
  uint32_t line_ = 1, reported_line_ = 0;
};

}  // namespace

FilterResult filter_tokens(const SourceFile& source) { return Filter(source).run(); }

}  // namespace tercet
