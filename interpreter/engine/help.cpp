#include "interpreter/engine/help.h"

#include <algorithm>

#include "grammar/parser.h"
#include "interpreter/engine/echo.h"
#include "interpreter/engine/library.h"

namespace tercet {

std::optional<std::string> help_text(Session& session, const std::string& name) {
  auto of_code = [](const ast::FunctionPtr& f) { return full_type(Value::Closure{f, {}, {}}) + "\n" + f->doc; };
  if (const Value* value = session.find(name)) {
    auto* closure = value->as<Value::Closure>();
    return closure ? of_code(closure->code) : full_type(*value);
  }
  if (const BuiltinDef* builtin = find_builtin(name)) return std::string(builtin->name) + "(" + builtin->params + ")\n" + builtin->doc;
  if (ast::FunctionPtr f = session.library_function(name)) return of_code(f);
  return std::nullopt;
}

std::vector<std::string> completions(const Session& session, const std::string& prefix) {
  std::vector<std::string> all = session.names();
  for (const auto& more : {builtin_names(), library_names(), reserved_words()}) all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [&](const std::string& name) { return !name.starts_with(prefix); });
  return all;
}

}  // namespace tercet
