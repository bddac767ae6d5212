// What a program defines and where, for editors: functions, variables and parameters with the part of the text that sees them.
#pragma once
#include <string>
#include <vector>

#include "grammar/ast.h"

namespace tercet {

struct Symbol {
  enum class Kind : uint8_t { Function, Variable, Parameter, Module } kind = Kind::Variable;
  std::string name;
  std::string detail;      // "fn f(x, k=2)", "let x: i32[3]", "x: f32[n]"
  std::string doc;         // of a function, its ## comment
  Span span, scope;        // the name; what sees it
  bool top_level = false;
};

/// In source order. `scope` of what stands outside of every block is the whole source.
std::vector<Symbol> symbols_of(const ast::Program& program, Span whole);

}  // namespace tercet
