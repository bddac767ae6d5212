#include "grammar/parser.h"

#include <algorithm>

#include "grammar/builder.h"
#include "grammar/syntax_errors.h"
#include "grammar/token_filter.h"
#include "grammar/unicode.h"

namespace tercet {
namespace {

constexpr size_t max_diagnostics = 10;

Diagnostic diagnostic(Kind kind, Span span, std::string message, std::string help) {
  Diagnostic d;
  d.kind = kind, d.span = span, d.message = std::move(message), d.help = std::move(help);
  return d;
}

bool touches(Span a, Span b) { return a.begin < b.end && b.begin < a.end; }

/// A diagnostic of the filter explains a later fault in the same statement, which is not told again.
bool is_explained(const SyntaxFault& fault, const TokenList& list, const std::vector<Diagnostic>& known) {
  if (list.tokens[fault.token].invented) return true;
  uint32_t begin = list.tokens[fault.statement].begin, end = list.tokens[fault.token].end;
  return std::any_of(known.begin(), known.end(),
                     [&](const Diagnostic& d) { return d.span.begin >= begin && d.span.begin <= end; });
}

/// After `def f(x):` or `if c:` the lines that are indented deeper are the body in Python's manner. They stand at top
/// level for our parser, and what it says of them would not help. Returns the bytes of these lines.
Span indented_body(const SyntaxFault& fault, const TokenList& list) {
  const std::vector<Token>& tokens = list.tokens;
  const SourceFile& source = *list.source;
  if (tokens[fault.resume - 1].type != TokenType::COLON) return {};
  auto column = [&](uint32_t i) { return source.place(tokens[i].begin).column; };
  auto same_line = [&](uint32_t separator) { return tokens[separator].end > tokens[separator].begin; };
  uint32_t outer = column(fault.statement), at = fault.resume;
  while (tokens[at].type == TokenType::SEPARATOR && (same_line(at) || column(at + 1) > outer)) {
    do ++at;
    while (tokens[at].type != TokenType::SEPARATOR && tokens[at].type != TokenType::END);
  }
  return source.span(tokens[fault.resume].begin, tokens[at].begin);
}

bool at_end(const SyntaxFault& fault, const TokenList& list) {
  const Token& t = list.tokens[fault.token];
  return t.type == TokenType::END || t.invented;
}

bool is_incomplete(const FilterResult& filtered, const SyntaxResult& parsed, const AstBuilder& builder) {
  const TokenList& list = filtered.list;
  TokenType last = list.tokens.size() > 1 ? list.tokens[list.tokens.size() - 2].type : TokenType::END;
  bool open = filtered.unclosed || filtered.open_string || (!parsed.faults.empty() && continues_line(last));
  size_t explained = filtered.unclosed || filtered.open_string;
  return open && filtered.diagnostics.size() <= explained && builder.diagnostics().empty() &&
         std::all_of(parsed.faults.begin(), parsed.faults.end(),
                     [&](const SyntaxFault& f) { return at_end(f, list) || filtered.open_string; });
}

void parse_valid_text(const SourceFile& source, ParseResult& out) {
  FilterResult filtered = filter_tokens(source);
  out.diagnostics = filtered.diagnostics;
  if (filtered.too_deep) return;
  SyntaxResult parsed = parse_tokens(filtered.list);
  std::vector<Span> told;  // what needs no further word
  for (const Diagnostic& d : filtered.diagnostics) told.push_back(d.span);
  auto is_told = [&](Span span) {
    return std::any_of(told.begin(), told.end(), [&](Span t) { return touches(t, span); });
  };
  for (const SyntaxFault& fault : parsed.faults) {
    if (is_told(filtered.list.span(filtered.list.tokens[fault.statement]))) continue;
    if (fault.resume > 0) told.push_back(indented_body(fault, filtered.list));
    if (is_explained(fault, filtered.list, filtered.diagnostics)) continue;
    out.diagnostics.push_back(explain_fault(fault, filtered.list));
    told.push_back(out.diagnostics.back().span);
  }
  AstBuilder builder(filtered.list, parsed.tree);
  out.program = builder.program();
  for (const Diagnostic& d : builder.diagnostics())
    if (!is_told(d.span)) out.diagnostics.push_back(d);
  out.incomplete = is_incomplete(filtered, parsed, builder);
}

}  // namespace

ParseResult parse(const SourceFile& source) {
  ParseResult out;
  const std::string& text = source.text();
  if (text.size() >= UINT32_MAX) {
    out.diagnostics.push_back(diagnostic(Kind::Limit, source.span(0, 0), "a source may have up to 4 GB", ""));
    return out;
  }
  if (size_t bad = find_malformed_utf8(text); bad != std::string::npos) {
    out.diagnostics.push_back(diagnostic(Kind::Syntax, source.span(bad, bad + 1), "this byte is not valid UTF-8",
                                         "save the file in the encoding UTF-8"));
    return out;
  }
  try {
    parse_valid_text(source, out);
  } catch (const Failure& failure) {
    out.diagnostics.insert(out.diagnostics.end(), failure.diagnostics().begin(), failure.diagnostics().end());
  } catch (const std::bad_alloc&) {
    throw;   // for the session to tell
  } catch (const std::exception& error) {
    out.diagnostics.push_back(diagnostic(Kind::Internal, source.span(0, 0), error.what(), ""));
  }
  std::stable_sort(out.diagnostics.begin(), out.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
  if (out.diagnostics.size() > max_diagnostics) out.diagnostics.resize(max_diagnostics);
  return out;
}

bool is_name(const std::string& text) {
  ParseResult parsed = parse(SourceFile(1, "", text));
  if (!parsed.diagnostics.empty() || parsed.program.statements.size() != 1) return false;
  auto* statement = parsed.program.statements[0]->as<ast::ExprStmt>();
  auto* name = statement ? statement->value->as<ast::Name>() : nullptr;
  return name && name->name == text;
}

const std::vector<std::string>& reserved_words() {
  static const std::vector<std::string> words{"let",   "var",      "fn",     "if",  "else", "for",  "in",   "while",
                                              "break", "continue", "return", "and", "or",   "not",  "true", "false",
                                              "none",  "import",   "as",     "jit", "vmap", "pmap", "grad"};
  return words;
}

}  // namespace tercet
