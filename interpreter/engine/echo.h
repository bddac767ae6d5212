// What the prompt shows of a value: its type, then the value.
#pragma once
#include <string>

#include "interpreter/elaborate/tree.h"

namespace tercet {

/// "i32[3]", "(f32, str[2])", "(w: f32[4], b: f32)", "fn scale(x, by)": types all the way down.
std::string full_type(const Value& value);

/// "fn scale(x, by=2)".
std::string signature_text(const ast::FunctionDef& f);

/// "i32[3] [1, 2, 3]"; a value of several lines starts on a line of its own. Strings are quoted.
std::string echo_text(const Value& value);

}  // namespace tercet
