// A source as a program for a session, and what reading it says for the outcome.
#pragma once
#include "grammar/parser.h"
#include "interpreter/engine/session.h"

namespace tercet {

/// Where out.ok() does not hold afterwards, the program is not whole.
inline ast::Program parsed_program(const SourceFile& source, Outcome& out) {
  ParseResult parsed = parse(source);
  out.incomplete = parsed.incomplete;
  out.diagnostics = std::move(parsed.diagnostics);
  return std::move(parsed.program);
}

}  // namespace tercet
