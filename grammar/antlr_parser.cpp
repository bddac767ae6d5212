// The only hand-written file that sees ANTLR: runs the generated lexer and parser of Tercet.g4.
//
// ANTLR's own token objects, parse tree and error recovery are not used: tokens stay in one array, the tree is recorded
// as the parser enters and leaves rules, and an error skips to the end of its statement.
#include "TercetLexer.h"
#include "TercetParser.h"
#include "antlr4-runtime.h"

#include "base/poll.h"
#include "grammar/syntax_tree.h"
#include "grammar/unicode.h"

namespace tercet {
namespace {

#define X(name) static_assert(static_cast<size_t>(TokenType::name) == TercetParser::name);
TERCET_TOKENS(X)
#undef X
#define X(name) static_assert(static_cast<size_t>(Rule::name) == TercetParser::Rule##name);
TERCET_RULES(X)
#undef X

/// Characters of a byte range of valid UTF-8; positions are byte offsets of the whole source.
///
/// ANTLR's lexer is fast for ASCII only (its tables end there), so other code points are given as the control character
/// that Tercet.g4 knows their class by; control characters of the source itself belong to no class.
class Utf8Stream final : public antlr4::CharStream {
 public:
  Utf8Stream(const std::string& text, size_t begin, size_t end) : text_(text), at_(begin), end_(end) {}

  void consume() override { at_ += length(); }
  size_t LA(ssize_t i) override {
    if (i != 1 || at_ >= end_) return EOF;  // the lexer looks at one character only
    auto c = static_cast<unsigned char>(text_[at_]);
    if (c >= 0x80) return class_of_code_point();
    return c <= other ? size_t{other} : c;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return end_; }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string toString() const override { return {}; }

 private:
  enum Class : unsigned char { letter = 1, mark_or_digit = 2, other = 3 };

  size_t length() const {
    auto lead = static_cast<unsigned char>(text_[at_]);
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  }
  Class class_of_code_point() const {
    switch (character_class(text_, at_)) {
      case CharacterClass::Letter:
        return letter;
      case CharacterClass::MarkOrDigit:
        return mark_or_digit;
      default:
        return other;
    }
  }

  const std::string& text_;
  size_t at_, end_;
};

class AntlrToken final : public antlr4::Token {
 public:
  AntlrToken(size_t type, size_t index) : type_(type), index_(index) {}
  size_t getType() const override { return type_; }
  size_t getTokenIndex() const override { return index_; }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() const override { return 0; }
  size_t getChannel() const override { return 0; }
  size_t getStartIndex() const override { return 0; }
  size_t getStopIndex() const override { return 0; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string getText() const override { return {}; }
  std::string toString() const override { return {}; }

 private:
  size_t type_, index_;
};

size_t antlr_type(const Token& t) {
  return t.type == TokenType::END ? antlr4::Token::EOF : static_cast<size_t>(t.type);
}

class TokenArray final : public antlr4::TokenStream {
 public:
  explicit TokenArray(const std::vector<Token>& tokens) {
    tokens_.reserve(tokens.size());
    for (const Token& t : tokens) tokens_.emplace_back(antlr_type(t), tokens_.size());
  }
  size_t at() const { return at_; }

  antlr4::Token* LT(ssize_t k) override { return get(at_ + static_cast<size_t>(k > 0 ? k - 1 : k)); }
  size_t LA(ssize_t k) override { return LT(k)->getType(); }
  antlr4::Token* get(size_t index) const override {
    return const_cast<AntlrToken*>(&tokens_[std::min(index, tokens_.size() - 1)]);
  }
  void consume() override { at_ = std::min(at_ + 1, tokens_.size() - 1); }
  void seek(size_t index) override { at_ = index; }
  size_t index() override { return at_; }
  size_t size() override { return tokens_.size(); }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  std::vector<AntlrToken> tokens_;
  size_t at_ = 0;
};

struct TooManyFaults {};

/// Records the tree while the generated parser runs.
class RecordingParser final : public TercetParser, public antlr4::tree::ParseTreeListener {
 public:
  RecordingParser(TokenArray* tokens, const TokenList& list) : TercetParser(tokens), tokens_(tokens), list_(list) {
    setBuildParseTree(false);
    removeErrorListeners();
    addParseListener(this);
  }

  SyntaxResult result;

  /// First token of the innermost statement.
  uint32_t statement() const { return statements_.empty() ? 0 : result.tree.nodes[statements_.back()].first_token; }
  /// The SEPARATOR, closing brace or END that ends the statement which starts at token `at`.
  uint32_t end_of_statement(uint32_t at) const {
    for (;; ++at) {
      TokenType type = list_.tokens[at].type;
      if (ends_statement(type)) return at;
      if (is_open_bracket(type)) at = list_.tokens[at].match;
    }
  }
  static bool ends_statement(TokenType type) {
    return type == TokenType::SEPARATOR || type == TokenType::RBRACE || type == TokenType::END;
  }
  void break_statement() {
    if (!statements_.empty()) result.tree.nodes[statements_.back()].broken = true;
  }

  antlr4::Token* consume() override {
    auto at = static_cast<uint32_t>(tokens_->at());
    result.tree.nodes.push_back({Rule::Leaf, false, at, at + 1, static_cast<uint32_t>(result.tree.nodes.size() + 1)});
    tokens_->consume();
    return nullptr;
  }
  void enterEveryRule(antlr4::ParserRuleContext* ctx) override {
    auto rule = static_cast<Rule>(ctx->getRuleIndex());
    auto at = static_cast<uint32_t>(tokens_->at());
    poll_at(at);
    if (rule == Rule::Operand) check_stack(list_.span(list_.tokens[at]));
    // Room for all first: a rule is entered, or it is not and nobody will leave it.
    make_room(open_), make_room(statements_), make_room(result.tree.nodes);
    auto node = static_cast<uint32_t>(result.tree.nodes.size());
    if (rule == Rule::Statement) statements_.push_back(node);
    open_.push_back(node);
    result.tree.nodes.push_back({rule, false, at, at, 0});
  }
  void exitEveryRule(antlr4::ParserRuleContext*) override {
    SyntaxNode& node = result.tree.nodes[open_.back()];
    node.end_token = static_cast<uint32_t>(tokens_->at());
    node.end_node = static_cast<uint32_t>(result.tree.nodes.size());
    if (node.rule == Rule::Statement) last_statement_ = statements_.back(), statements_.pop_back();
    open_.pop_back();
  }
  void visitTerminal(antlr4::tree::TerminalNode*) override {}
  void visitErrorNode(antlr4::tree::ErrorNode*) override {}

  void break_open_statements() {
    for (uint32_t node : statements_) result.tree.nodes[node].broken = true;
  }
  /// The statement just left turns out not to end where it should.
  uint32_t break_last_statement() {
    result.tree.nodes[last_statement_].broken = true;
    return result.tree.nodes[last_statement_].first_token;
  }

 private:
  template <class T> static void make_room(std::vector<T>& v) {
    if (v.size() == v.capacity()) v.reserve(std::max<size_t>(16, 2 * v.size()));
  }
  TokenArray* tokens_;
  const TokenList& list_;
  std::vector<uint32_t> open_, statements_;
  uint32_t last_statement_ = 0;
};

/// On an error: note it, leave the rules up to the statement, go on at its end.
class StatementRecovery final : public antlr4::ANTLRErrorStrategy {
 public:
  StatementRecovery(RecordingParser* parser, TokenArray* tokens) : parser_(parser), tokens_(tokens) {}

  void reset(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { throw antlr4::InputMismatchException(parser); }

  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override {
    if (leaving_) return;
    leaving_ = true;
    parser_->break_statement();
    note(parser_->statement());
  }
  void recover(antlr4::Parser*, std::exception_ptr error) override {
    if (rule() != Rule::Statement && rule() != Rule::Program) std::rethrow_exception(error);
    leaving_ = false;
    tokens_->seek(parser_->end_of_statement(parser_->statement()));
  }
  /// Called before every loop and option of the grammar. Here it matters at two places: where a statement should have
  /// ended, and where one should begin.
  void sync(antlr4::Parser*) override {
    if (rule() == Rule::Statements) {
      if (RecordingParser::ends_statement(next())) return;
      uint32_t statement = parser_->break_last_statement();
      note(statement);
      tokens_->seek(parser_->end_of_statement(statement));
    } else if (rule() == Rule::Block || rule() == Rule::Program) {
      while (!may_come_next()) {
        auto statement = static_cast<uint32_t>(tokens_->at());
        note(statement);
        tokens_->seek(parser_->end_of_statement(statement));
        if (next() == TokenType::SEPARATOR) tokens_->consume();
      }
    }
  }

 private:
  static TokenType type_of(size_t antlr) {
    return antlr == antlr4::Token::EOF ? TokenType::END : static_cast<TokenType>(antlr);
  }
  Rule rule() { return static_cast<Rule>(parser_->getContext()->getRuleIndex()); }
  TokenType next() { return type_of(tokens_->LA(1)); }
  bool may_come_next() {
    const antlr4::atn::ATN& atn = parser_->getATN();
    return next() == TokenType::RBRACE || next() == TokenType::END ||
           atn.nextTokens(atn.states[parser_->getState()]).contains(tokens_->LA(1));
  }
  void note(uint32_t statement) {
    SyntaxFault fault{
        rule(), static_cast<uint32_t>(tokens_->at()), statement, parser_->end_of_statement(statement), {}};
    for (ssize_t type : parser_->getExpectedTokens().toList())
      fault.expected.push_back(type_of(static_cast<size_t>(type)));
    parser_->result.faults.push_back(std::move(fault));
    if (parser_->result.faults.size() < max_faults) return;
    parser_->break_open_statements();
    throw TooManyFaults{};
  }

  RecordingParser* parser_;
  TokenArray* tokens_;
  bool leaving_ = false;
};

}  // namespace

std::vector<Token> lex(const SourceFile& source, size_t begin, size_t end) {
  Utf8Stream stream(source.text(), begin, end);
  TercetLexer lexer(&stream);
  auto* simulator = lexer.getInterpreter<antlr4::atn::LexerATNSimulator>();
  std::vector<Token> tokens;
  tokens.reserve((end - begin) / 2);
  while (stream.index() < end) {
    poll_at(static_cast<int64_t>(tokens.size()));
    auto at = static_cast<uint32_t>(stream.index());
    size_t type = simulator->match(&stream, 0);
    tokens.push_back({static_cast<TokenType>(type), false, at, static_cast<uint32_t>(stream.index()), 0});
  }
  return tokens;
}

SyntaxResult parse_tokens(const TokenList& list) {
  TokenArray tokens(list.tokens);
  RecordingParser parser(&tokens, list);
  parser.setErrorHandler(std::make_shared<StatementRecovery>(&parser, &tokens));
  try {
    parser.program();
  } catch (const TooManyFaults&) {
  }
  return std::move(parser.result);
}

}  // namespace tercet
