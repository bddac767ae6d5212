// Source text -> AST.
#pragma once
#include <vector>

#include "base/diagnostic.h"
#include "grammar/ast.h"

namespace tercet {

struct ParseResult {
  ast::Program program;                  // what could be read; complete when there are no diagnostics
  std::vector<Diagnostic> diagnostics;   // all of kind Syntax (Limit when nested too deeply, Unsupported for what
                                         // has no meaning), in source order
  bool incomplete = false;               // the text ends inside a bracket, string, block or after an operator:
                                         // a prompt should ask for another line
};

/// Parses a whole source. Never throws for bad input, whatever the bytes; the time is linear in its size.
ParseResult parse(const SourceFile& source);

/// Is this a name that a program can bind?
bool is_name(const std::string& text);

/// The reserved words of the language, for completion and error texts.
const std::vector<std::string>& reserved_words();

}  // namespace tercet
