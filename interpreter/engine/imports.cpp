// `import`: the globals of another file, which runs once a session, and the library by its parts.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "grammar/parser.h"
#include "interpreter/elaborate/check_names.h"
#include "interpreter/engine/library.h"
#include "interpreter/engine/session.h"
#include "interpreter/runtime/files.h"

namespace tercet {
namespace {

namespace fs = std::filesystem;

/// What to do in place of importing a part of the library that is none.
std::string instead_of(const std::string& name) {
  static const std::set<std::string> foreign{"numpy", "np", "jax", "jnp", "torch", "math", "scipy", "pandas", "re", "sys", "json", "os", "functools", "itertools"};
  if (foreign.count(name)) return "the library needs no import: sum(x), sqrt(x), matches(s, re), read_jsonl(path)";
  const std::vector<std::string> parts = library_parts();
  if (std::string near = closest_name(name, parts); !near.empty()) return fmt::format("did you mean `import {}`?", near);
  return fmt::format("its parts are {}; a file is imported as \"{}.tct\"", fmt::join(parts, ", "), name);
}

/// A path that the file at `span` writes, from that file's folder. What has no file stands in the working directory.
std::string shown_path(const std::string& written, const SourceMap& sources, Span span) {
  const SourceFile* from = sources.find(span);
  fs::path folder = from ? fs::path(from->name()).parent_path() : fs::path();
  return (folder / written).lexically_normal().string();
}

}  // namespace

/// The path of a source that is a file, else "".
static std::string path_of_source(const SourceFile* source) {
  std::error_code none;
  return source ? fs::canonical(source->name(), none).string() : "";
}

/// The path as the system knows it: one file has one, however it is written.
static std::string canonical_path(const std::string& shown, Span span) {
  std::error_code wrong;
  fs::path path = fs::canonical(shown, wrong);
  if (!wrong && (fs::is_character_file(path) || fs::is_block_file(path)))
    fail(Kind::Io, span, fmt::format("cannot import \"{}\": it is a device", shown));
  if (wrong)
    fail(Kind::Io, span, fmt::format("cannot import \"{}\": {}", shown, wrong.message()), "paths start at the folder of the file that imports");
  return path.string();
}

Value::Module Session::import_file(const std::string& written, Span span, const RunFile& run) {
  if (!options_.files) fail_bound(Kind::Io, Bound::Denied, span, "`import` of a file: this program may not use files", "its host has to grant TCT_CAP_FILES");
  const std::string shown = shown_path(written, sources_, span), path = canonical_path(shown, span);
  auto known = imported_.find(path);
  if (known != imported_.end()) return {path, known->second};
  struct Outermost {   // the program's own file, which what it imports cannot import, is known while it imports
    std::vector<std::string>& chain;
    bool here;
    ~Outermost() {
      if (here) chain.clear();
    }
  } outermost{importing_, importing_.empty()};
  if (outermost.here) importing_.push_back(path_of_source(sources_.find(span)));
  if (auto at = std::find(importing_.begin(), importing_.end(), path); at != importing_.end()) {
    std::string chain;
    for (; at != importing_.end(); ++at) chain += fmt::format("{} imports ", fs::path(*at).filename().string());
    fail(Kind::Name, span, fmt::format("these files import each other: {}{}", chain, fs::path(path).filename().string()),
         "move what both need to a third file");
  }
  importing_.push_back(path);
  try {
    FileBytes file = [&] {
      try {
        return load_bytes(path);
      } catch (Failure& failure) {
        failure.first().span = span;
        throw;
      }
    }();
    imported_[path] = run(sources_.add(shown, std::string(file.bytes)), path);
  } catch (Failure& failure) {
    importing_.pop_back();
    // What it bound before it failed is gone: the next import runs it from its beginning.
    std::erase_if(globals_, [&](const auto& g) { return g.first.starts_with(qualified(path, "")); });
    if (failure.first().span.known() && !(failure.first().span == span)) failure.first().notes.push_back({span, "it was imported here"});
    throw;
  }
  importing_.pop_back();
  return {path, imported_[path]};
}

Value::Module Session::import_library(const std::string& name, Span span) {
  std::vector<std::string> names = library_part(name);
  if (names.empty()) fail(Kind::Name, span, fmt::format("the library has no part `{}`", name), instead_of(name));
  return {library_home, std::move(names)};
}

void Session::run_import(const ast::Import& what, Span span, const std::string& home, const RunFile& run) {
  const std::string name = what.bound_name();
  if (!is_name(name))
    fail(Kind::Syntax, span, fmt::format("\"{}\" gives no name to bind", what.path), fmt::format("name it: import \"{}\" as m", what.path));
  Value::Module module = what.is_file ? import_file(what.path, span, run) : import_library(what.path, span);
  globals_[qualified(home, name)] = {std::move(module), false};
}

std::vector<std::string> Session::run_file(const SourceFile& source, const std::string& home) {
  ParseResult parsed = parse(source);
  if (!parsed.diagnostics.empty()) throw Failure(std::move(parsed.diagnostics));
  run_program(parsed.program, home);
  return names(home);
}

std::optional<Value> Session::run_program(const ast::Program& program, const std::string& home) {
  std::optional<Value> last;
  struct Restored {   // also when a statement fails
    std::map<std::string, Span>& held;
    std::map<std::string, Span> around;
    ~Restored() { held.swap(around); }
  } restored{upcoming_, std::exchange(upcoming_, {})};
  for (const ast::StmtPtr& s : program.statements)
    for (const std::string& name : bound_names(*s)) upcoming_.try_emplace(qualified(home, name), s->span);
  for (const ast::StmtPtr& s : program.statements) {
    last.reset();
    for (const std::string& name : bound_names(*s)) upcoming_.erase(qualified(home, name));
    if (auto* n = s->as<ast::Import>()) run_import(*n, s->span, home, [&](const SourceFile& f, const std::string& path) { return run_file(f, path); });
    else last = run_statement(*s, home);
  }
  return last;
}

}  // namespace tercet
