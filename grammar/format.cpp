#include "grammar/format.h"

#include <algorithm>
#include <set>

#include "grammar/token.h"
#include "grammar/token_filter.h"

namespace tercet {
namespace {

using enum TokenType;

constexpr size_t step = 2;   // columns of one level

bool is_comment(TokenType t) { return t == COMMENT || t == DOC_COMMENT; }

class Formatter {
 public:
  explicit Formatter(const SourceFile& source) : source_(source), tokens_(lex(source, text_begin(source), source.text().size())) { find_lambdas(); }

  std::string run() {
    for (const Token& t : tokens_) {
      if (t.type == END) break;
      if (t.type == SPACE) continue;
      if (t.type == NEWLINE) ++breaks_;
      else put(t);
    }
    if (!out_.empty()) out_ += '\n';
    return std::move(out_);
  }

 private:
  struct Bracket {
    TokenType type;
    size_t content;   // column where lines inside begin
    size_t line;      // indentation of the line it stands in
    bool fresh;       // nothing but it has been seen on its line yet: what comes next decides `content`
  };

  static size_t text_begin(const SourceFile& source) { return source.text().starts_with("\xEF\xBB\xBF") ? 3 : 0; }
  std::string_view text(const Token& t) const { return std::string_view(source_.text()).substr(t.begin, t.end - t.begin); }
  bool inside_parentheses() const { return !brackets_.empty() && brackets_.back().type != LBRACE; }

  /// The parentheses around a lambda's parameters are no call's: `jit (x, y) => x`.
  void find_lambdas() {
    std::vector<size_t> open;
    size_t closed = 0;   // where the last parenthesis that was closed begins
    TokenType before = END;
    for (const Token& t : tokens_) {
      if (t.type == SPACE || t.type == NEWLINE || is_comment(t.type)) continue;
      if (t.type == LPAREN) open.push_back(t.begin);
      if (t.type == RPAREN && !open.empty()) closed = open.back(), open.pop_back();
      if (t.type == FAT_ARROW && before == RPAREN) lambdas_.insert(closed);
      before = t.type;
    }
  }

  void put(const Token& t) {
    const bool first = out_.empty();
    if (breaks_ > 0 && !first) end_line(t);
    else if (is_comment(t.type) && !first) out_.append(std::max<size_t>(2, gap_before(t)), ' ');
    else if (!first && space_before(t)) out_ += ' ';
    breaks_ = 0;
    if (!brackets_.empty() && brackets_.back().fresh && !is_comment(t.type)) {
      brackets_.back().content = column();
      brackets_.back().fresh = false;
    }
    if (is_close_bracket(t.type) && !brackets_.empty()) brackets_.pop_back();
    write(t);
    if (is_open_bracket(t.type)) brackets_.push_back({t.type, indent_ + step, indent_, t.type == LBRACKET});
    last_ = t.type;
    if (is_comment(t.type)) return;
    if (t.type == COLON) spaced_colon_ = out_.size() > 1 && out_[out_.size() - 2] == ' ' && ends_operand(before_);
    unary_ = !ends_operand(before_) && is_binary_operator(t.type);
    before_ = is_name(t) ? NAME : t.type;
    after_dot_ = t.type == DOT;
  }

  /// A word that is a name here: `x.in`, `fn var(x)`, and `var(x)`, which is a call where `var (a, b)` binds.
  bool is_name(const Token& t) const {
    if (!is_word(t.type)) return false;
    return after_dot_ || before_ == FN || (t.type == VAR && source_.text()[t.end] == '(');
  }

  void write(const Token& t) {
    std::string_view s = text(t);
    if (is_comment(t.type))
      while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    out_ += s;
  }

  /// Starts the line of `t`.
  void end_line(const Token& t) {
    if (!brackets_.empty()) brackets_.back().fresh = false;
    const bool at_edge = is_open_bracket(last_) || is_close_bracket(t.type);
    out_ += breaks_ > 1 && !at_edge ? "\n\n" : "\n";
    indent_ = t.type == ELSE ? indent_ + (line_starts_with_ == RBRACE || line_starts_with_ == ELSE || line_starts_with_ == IF ? 0 : step) : line_indent(t);
    line_starts_with_ = t.type;
    out_.append(indent_, ' ');
  }

  size_t line_indent(const Token& t) {
    if (brackets_.empty()) return continued() ? step : 0;
    const Bracket& b = brackets_.back();
    if (is_close_bracket(t.type)) return b.line;
    return b.content + (b.type == LBRACE && continued() ? step : 0);
  }
  /// The statement goes on: the line before ends with what wants more.
  bool continued() const { return !inside_parentheses() && continues_line(before_); }

  size_t column() const {
    size_t start = out_.rfind('\n');
    start = start == std::string::npos ? 0 : start + 1;
    return static_cast<size_t>(std::count_if(out_.begin() + static_cast<ptrdiff_t>(start), out_.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }

  /// Spaces that the author put before a comment behind code: columns of comments stay.
  size_t gap_before(const Token& t) const {
    size_t n = 0;
    while (n < t.begin && source_.text()[t.begin - n - 1] == ' ') ++n;
    return n;
  }

  bool space_before(const Token& t) const {
    const TokenType p = before_, n = t.type;
    if (n == COMMA || n == SEMICOLON || n == DOT || p == DOT || unary_) return false;
    if (p == LBRACE || n == RBRACE) return !(p == LBRACE && n == RBRACE);
    if (is_open_bracket(p) || is_close_bracket(n)) return false;
    if (p == COMMA || p == SEMICOLON) return true;
    if (n == ASSIGN || p == ASSIGN) return !inside_parentheses();
    if (p == DOTDOT || (n == DOTDOT && ends_operand(p))) return false;
    const bool slice = inside_parentheses() && brackets_.back().type == LBRACKET;
    if (n == COLON) return slice && gap_before(t) > 0 && ends_operand(p);
    if (p == COLON) return !slice || spaced_colon_;
    if (p == TILDE) return false;
    if (n == LPAREN && lambdas_.count(t.begin)) return true;
    if (n == LPAREN || n == LBRACKET) return !(ends_operand(p) || p == TRANSFORM);
    return true;
  }

  const SourceFile& source_;
  std::vector<Token> tokens_;
  std::set<size_t> lambdas_;     // where the parentheses of their parameters begin
  std::string out_;
  std::vector<Bracket> brackets_;
  size_t indent_ = 0;            // of the line being written
  size_t breaks_ = 0;            // line breaks since the last token
  TokenType before_ = END;       // the last token that is no comment
  bool spaced_colon_ = false;    // of a slice, the last one: its author put spaces around it
  bool unary_ = false;           // it is a sign
  bool after_dot_ = false;
  TokenType line_starts_with_ = END;
  TokenType last_ = END;         // the last token, comments too
};

}  // namespace

std::string format_source(const SourceFile& source) { return Formatter(source).run(); }

}  // namespace tercet
