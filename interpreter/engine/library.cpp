#include "interpreter/engine/library.h"

#include <map>
#include <set>

#include "base/diagnostic.h"
#include "grammar/parser.h"
#include "interpreter/elaborate/builtin.h"
#include "interpreter/elaborate/stdlib.h"

namespace tercet {
namespace {

struct Definition { std::string_view file, text; };

/// Every top-level `fn` with its doc comment and body: up to the next line that starts one.
const std::map<std::string, Definition>& definitions() {
  static const std::map<std::string, Definition> all = [] {
    std::map<std::string, Definition> out;
    for (auto& source : stdlib_sources()) {
      const auto& file = source.first;
      const auto& text = source.second;
      size_t doc = std::string_view::npos;   // where the doc comment before a definition starts
      std::string open;
      size_t open_at = 0;
      auto close = [&](size_t end) {
        if (!open.empty()) out[open] = {file, text.substr(open_at, end - open_at)};
        open.clear();
      };
      for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        if (line.starts_with("##")) {
          if (doc == std::string_view::npos) doc = at, close(at);
        } else if (line.starts_with("fn ")) {
          close(doc == std::string_view::npos ? at : doc);
          size_t paren = line.find('(');
          open = std::string(line.substr(3, paren - 3));
          open_at = doc == std::string_view::npos ? at : doc;
          doc = std::string_view::npos;
        } else {
          doc = std::string_view::npos;
        }
        at = end + 1;
      }
      close(text.size());
    }
    return out;
  }();
  return all;
}

}  // namespace

ast::FunctionPtr read_library_function(const std::string& name, SourceMap& sources) {
  auto found = definitions().find(name);
  if (found == definitions().end()) return nullptr;
  const SourceFile& source = sources.add("stdlib/" + std::string(found->second.file) + ".tct", std::string(found->second.text));
  ParseResult parsed = parse(source);
  if (!parsed.diagnostics.empty()) throw Failure(parsed.diagnostics);
  for (const ast::StmtPtr& s : parsed.program.statements)
    if (auto* f = s->as<ast::FunctionStmt>()) return f->function;
  return nullptr;
}

std::vector<std::string> library_names() {
  std::vector<std::string> out;
  for (auto& [name, definition] : definitions()) out.push_back(name);
  return out;
}

std::vector<std::string> library_parts() {
  std::set<std::string> parts;
  for (auto& [name, definition] : definitions()) parts.emplace(definition.file);
  for (auto& [part, names] : builtin_parts()) parts.insert(part);
  return {parts.begin(), parts.end()};
}

std::vector<std::string> library_part(const std::string& part) {
  std::vector<std::string> out;
  for (auto& [name, definition] : definitions())
    if (definition.file == part) out.push_back(name);
  auto builtins = builtin_parts().find(part);
  if (builtins != builtin_parts().end()) out.insert(out.end(), builtins->second.begin(), builtins->second.end());
  return out;
}

}  // namespace tercet
