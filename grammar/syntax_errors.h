// Turns a token that fits no rule into a message in the user's words: what was found, what was expected, one fix.
#pragma once
#include "grammar/syntax_tree.h"

namespace tercet {

Diagnostic explain_fault(const SyntaxFault& fault, const TokenList& list);

}  // namespace tercet
