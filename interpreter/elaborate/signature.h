// Which argument of a call goes to which parameter: for calls that are elaborated and for calls that `check` reads.
#pragma once
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "grammar/ast.h"

namespace tercet {

struct BuiltinDef;

struct Parameter {
  std::string name;
  bool optional = false;
  bool rest = false;       // takes any number of positional arguments
};

/// What may be called: how messages call it and what it takes.
struct Signature {
  std::string title;
  std::vector<Parameter> parameters;
  std::string usage;       // "sum(x, axis=)": the help of messages; empty: the parameters are listed
};
Signature signature_of(const ast::FunctionDef& f);
Signature signature_of(const BuiltinDef& def);

struct ArgumentPlace {
  std::string name;        // empty: positional
  Span span;
};

/// For each argument the index of its parameter. Error `type` for too many, one given twice or one that is missing, `name`
/// for a parameter that there is not; `call` is the place of the call.
std::vector<size_t> match_arguments(const Signature& callee, const std::vector<ArgumentPlace>& arguments, Span call);

}  // namespace tercet
