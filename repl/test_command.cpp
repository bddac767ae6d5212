#include "repl/test_command.h"

#include <cstring>
#include <iostream>
#include <optional>
#include <sstream>
#include <tercet/tercet.hpp>

#include "repl/cache.h"
#include "repl/interrupt.h"
#include "repl/program_files.h"

namespace tercet {
namespace {

/// Text with single spaces, and none behind a bracket, where columns are aligned.
std::string words(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c));
    if (!space) out += c;
    else if (!out.empty() && out.back() != ' ' && out.back() != '[' && out.back() != '(') out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

struct Example {
  size_t line = 0;
  std::string code, wanted;
};

/// What a program says about itself.
struct Expectations {
  bool of_output = false;
  std::string output;
  std::optional<std::string> kind;
  std::string report;
  std::vector<Example> examples;
};

/// The line as part of an example in a comment; true when it belongs to one.
bool read_example_line(std::string_view line, size_t number, bool inside, std::vector<Example>& out) {
  if (!line.starts_with("##")) return false;
  std::string_view text = trimmed(line.substr(2));
  if (text.starts_with(">>> ")) return out.push_back({number, std::string(text.substr(4)), {}}), true;
  if (!inside || text.empty()) return false;
  if (text.starts_with("... ") && out.back().wanted.empty()) out.back().code += "\n" + std::string(text.substr(4));
  else out.back().wanted += std::string(text) + "\n";
  return true;
}

Expectations read_expectations(const std::string& program) {
  Expectations out;
  std::istringstream lines(program);
  bool in_example = false;
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string_view text = trimmed(line);
    in_example = read_example_line(text, number, in_example, out.examples);
    if (text.starts_with("#>")) {
      out.of_output = true;
      out.output += std::string(text.substr(2)) + "\n";
    } else if (text.starts_with("#!") && number > 1) {   // the first line may name an interpreter
      std::string_view rest = trimmed(text.substr(2));
      out.kind = std::string(rest.substr(0, rest.find(' ')));
      out.report = std::string(trimmed(rest.substr(std::min(rest.size(), out.kind->size()))));
    }
  }
  return out;
}

class Tests {
 public:
  explicit Tests(const Options& options)
      : options_(options), engine_({.threads = options.threads, .simd_bits = options.simd_bits, .cache = cache_directory(), .optimize = options.optimize_when(), .compile_loops = options.compile_loops_when()}) {
    on_interrupt([](void* self) { static_cast<Tests*>(self)->interrupt(); }, this);
  }

  void file(const std::string& path) {
    std::string text;
    if (!read_file(path, &text)) return failed(path, 0, std::string("cannot be read: ") + std::strerror(errno));
    const Expectations wanted = read_expectations(text);
    if (wanted.of_output || wanted.kind) program(path, text, wanted);
    if (!wanted.examples.empty()) examples(path, text, wanted.examples);
  }

  int status() const {
    std::cout << passed_ << " passed, " << failed_ << " failed\n";
    return failed_ == 0 && passed_ > 0 ? exit_ok : exit_failed;
  }

 private:
  void program(const std::string& path, const std::string& text, const Expectations& wanted) {
    begin();
    Result<Value> done = session_->try_eval(text, path);
    std::string_view kind = done ? std::string_view() : done.error().code(), report = done ? std::string_view() : done.error().render();
    if (wanted.kind ? kind != *wanted.kind || report.find(wanted.report) == std::string_view::npos : !done)
      return failed(path, 0, wanted.kind ? "wanted error[" + *wanted.kind + "] " + wanted.report + ", got " + (done ? "none" : std::string(report)) : std::string(report));
    compare(path, 0, wanted.output, printed_);
  }

  void examples(const std::string& path, const std::string& text, const std::vector<Example>& list) {
    begin();
    if (Result<Value> defined = session_->try_eval(text, path); !defined) return failed(path, list[0].line, std::string(defined.error().render()));
    for (const Example& e : list) {
      printed_.clear();
      Result<Value> value = session_->try_eval(e.code, path + ":" + std::to_string(e.line));
      if (value && *value) printed_ += value->text();
      compare(path, e.line, e.wanted, value ? printed_ : std::string(value.error().render()));
    }
  }

  void begin() {
    printed_.clear();
    SessionOptions options{.limits = {.files = true}, .write = [this](std::string_view s) { printed_ += s; }, .jit_all = options_.jit_all,
                           .devices = options_.devices, .device_timeout_s = options_.device_timeout};
    session_.emplace(engine_, options);
  }
  void interrupt() {
    if (session_) session_->interrupt();
  }

  void compare(const std::string& path, size_t line, std::string_view wanted, std::string_view got) {
    if (words(wanted) == words(got)) ++passed_;
    else failed(path, line, "wanted\n" + std::string(wanted) + "got\n" + std::string(got));
  }
  void failed(const std::string& path, size_t line, const std::string& why) {
    ++failed_;
    std::cout << "FAIL " << path << (line ? ":" + std::to_string(line) : "") << "\n" << why << (why.ends_with('\n') ? "" : "\n");
  }

  const Options& options_;
  Engine engine_;
  std::optional<Session> session_;
  std::string printed_;
  int passed_ = 0, failed_ = 0;
};

}  // namespace

int run_test_command(const Options& options) {
  std::vector<std::string> files;
  std::string missing;
  if (!program_files(options.paths, &files, &missing)) {
    std::cerr << "tercet: there is no \"" << missing << "\"\n";
    return exit_usage;
  }
  Tests tests(options);
  for (const std::string& path : files) {
    tests.file(path);
    if (take_interrupt()) return exit_interrupted;
  }
  return tests.status();
}

}  // namespace tercet
