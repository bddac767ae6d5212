#include "grammar/syntax_errors.h"

#include <fmt/format.h>

#include "grammar/foreign.h"

namespace tercet {

using enum TokenType;

Diagnostic explain_fault(const SyntaxFault& fault, const TokenList& list) {
  Diagnostic d;
  d.kind = Kind::Syntax;
  d.span = list.span(list.tokens[fault.token]);
  d.message = fmt::format("unexpected `{}`", list.text(list.tokens[fault.token]));
  return d;
}

}  // namespace tercet
