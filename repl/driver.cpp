#include "repl/driver.h"

#include <iostream>

#include "base/diagnostic.h"
#include "grammar/parser.h"

namespace tercet {

struct Driver::State {
  explicit State(const Options& o) : options(o) {}
  Options options;
  SourceMap sources;

  /// Reports what the grammar finds.
  int parsed(const std::string& text, const std::string& name) {
    ParseResult result = parse(sources.add(name, text));
    for (const Diagnostic& d : result.diagnostics) std::cerr << render(d, sources);
    return result.diagnostics.empty() ? exit_ok : exit_failed;
  }
};

Driver::Driver(const Options& options) : state_(std::make_unique<State>(options)) {}
Driver::~Driver() = default;

int Driver::run(const std::string& text, const std::string& name, Show) { return state_->parsed(text, name); }
bool Driver::is_incomplete(const std::string& text) const { return parse(SourceFile(1, "", text)).incomplete; }
int Driver::check(const std::string& text, const std::string& name) { return state_->parsed(text, name); }
int Driver::show_stage(const std::string& text, const std::string& name) { return state_->parsed(text, name); }
int Driver::show_type(const std::string&) { return exit_failed; }
int Driver::show_time(const std::string&) { return exit_failed; }
int Driver::show_ir(const std::string&) { return exit_failed; }
int Driver::show_explain(const std::string&) { return exit_failed; }
int Driver::show_help(const std::string&) { return exit_failed; }
void Driver::reset() {}
std::vector<std::string> Driver::completions(const std::string&) const { return {}; }

}  // namespace tercet
