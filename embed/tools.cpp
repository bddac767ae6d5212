// What prompts and editors ask for, and the cache of compiled code.
#include <fmt/format.h>

#include "base/json_text.h"
#include "embed/handles.h"
#include "grammar/format.h"
#include "grammar/ast_printer.h"
#include "grammar/parser.h"
#include "interpreter/engine/help.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

using namespace tercet;
using namespace tercet::embed;

namespace {

tct_value* new_text(std::string_view text) { return new_value(Array::strings({&text, 1}).reshaped({})); }

tct_status show_program(tct_session* s, tct_str source, tct_str name, const std::string& stage, tct_value** out_text, tct_error** out_error) {
  const SourceFile& file = s->session.add_source(name.size ? std::string(view_of(name)) : "program", std::string(view_of(source)));
  ParseResult parsed = parse(file);
  if (!parsed.diagnostics.empty()) return give(make_error(parsed.diagnostics, s->session.sources()), out_error);
  *out_text = new_text(stage == "ast" ? print(parsed.program) : format_source(file));
  return TCT_OK;
}

std::string place_json(const SourceFile& file, Span span) {
  const Place begin = file.place(span.begin), end = file.place(span.end);
  return fmt::format(R"({{"line": {}, "column": {}, "end_line": {}, "end_column": {}}})", begin.line, begin.column, end.line, end.column);
}

std::string symbols_json(const std::vector<Symbol>& symbols, const SourceFile& file) {
  static constexpr const char* kinds[] = {"function", "variable", "parameter", "module"};
  std::string out;
  for (const Symbol& s : symbols)
    out += fmt::format(R"({}{{"name": {}, "kind": "{}", "detail": {}, "doc": {}, "top_level": {}, "source": {}, "scope": {}}})", out.empty() ? "" : ", ", quoted_json(s.name),
                       kinds[static_cast<size_t>(s.kind)], quoted_json(s.detail), quoted_json(s.doc), s.top_level, place_json(file, s.span), place_json(file, s.scope));
  return "{\"symbols\": [" + out + "]}";
}

#if TERCET_HAS_LLVM
/// Its name, and the info of a folder that can be used.
std::pair<std::string, CacheInfo> cache_of(tct_str folder) {
  std::string name(view_of(folder));
  require(!name.empty(), "the folder has no name");
  CacheInfo info = cache_info(name);
  if (!info.unusable.empty()) fail(Kind::Io, {}, fmt::format("the cache {} is not used: {}", name, info.unusable));
  return {std::move(name), std::move(info)};
}
#else
[[noreturn]] void no_compiler() { fail(Kind::Unsupported, {}, "this build has no compiler, so nothing to keep of it"); }
#endif

}  // namespace

extern "C" {

TCT_API int32_t tct_is_incomplete(tct_str source) {
  try {
    return parse(SourceFile(1, "", std::string(view_of(source)))).incomplete;
  } catch (...) {
    return 0;   // what is wrong, running it tells
  }
}

TCT_API tct_status tct_help(tct_session* session, tct_str name, tct_value** out_text, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(session && out_text, "the session or out_text is NULL");
    const std::string wanted(view_of(name));
    std::optional<std::string> text = help_text(session->session, wanted);
    if (!text) fail(Kind::Name, {}, "nothing is named " + wanted);
    *out_text = new_text(*text);
    return TCT_OK;
  });
}

TCT_API tct_status tct_complete(tct_session* session, tct_str prefix, tct_value** out_names, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(session && out_names, "the session or out_names is NULL");
    const std::vector<std::string> names = completions(session->session, std::string(view_of(prefix)));
    std::vector<std::string_view> views(names.begin(), names.end());
    *out_names = new_value(Array::strings(views));
    return TCT_OK;
  });
}

TCT_API tct_status tct_show(tct_session* session, tct_str expression, tct_str argument_types, tct_str stage, tct_value** out_text, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(session && out_text, "the session or out_text is NULL");
    Session& s = session->session;
    const std::string what(view_of(stage));
    if (what == "ast" || what == "formatted") return show_program(session, expression, argument_types, what, out_text, out_error);
    s.clear_interrupt();
    std::string text;
    if (what == "symbols") {
      const SourceFile& file = s.add_source(argument_types.size ? std::string(view_of(argument_types)) : "program", std::string(view_of(expression)));
      std::vector<Symbol> symbols;
      Outcome o = s.symbols(file, &symbols);
      if (o.ok()) *out_text = new_text(symbols_json(symbols, file));
      return outcome(session, std::move(o), out_error, nullptr);
    }
    Outcome o = what == "statement" ? s.statement_ir(s.add_source("statement", std::string(view_of(expression))), &text)
                                    : s.show_stage(std::string(view_of(expression)), std::string(view_of(argument_types)), what, &text);
    if (o.ok()) *out_text = new_text(text);
    return outcome(session, std::move(o), out_error, nullptr);
  });
}

TCT_API tct_status tct_cache_get_info(tct_str folder, tct_cache_info* out_info, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_info, "out_info is NULL");
#if TERCET_HAS_LLVM
    const CacheInfo info = cache_of(folder).second;
    *out_info = {info.entries, info.bytes, info.most_bytes};
    return TCT_OK;
#else
    (void)folder;
    no_compiler();
    return TCT_OK;
#endif
  });
}
TCT_API tct_status tct_cache_clear(tct_str folder, int64_t* out_programs, tct_error** out_error) {
  return guarded(out_error, [&] {
#if TERCET_HAS_LLVM
    const int64_t removed = clear_cache(cache_of(folder).first);
    if (out_programs) *out_programs = removed;
    return TCT_OK;
#else
    (void)folder, (void)out_programs;
    no_compiler();
    return TCT_OK;
#endif
  });
}

}  // extern "C"
