// What a session knows about names: for prompts and editors.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interpreter/engine/session.h"

namespace tercet {

/// What a name is: a global, a builtin or a library function, with its documentation. Nothing where there is none.
std::optional<std::string> help_text(Session& session, const std::string& name);
/// Names and words that begin so, in order.
std::vector<std::string> completions(const Session& session, const std::string& prefix);

}  // namespace tercet
