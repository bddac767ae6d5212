#include "repl/format_command.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <tercet/tercet.hpp>

#include "repl/program_files.h"

namespace tercet {
namespace {

/// Replaces a file at once: whoever reads it sees the old text or the new one.
bool replace_file(const std::string& path, const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code wrong;
  const fs::path target = fs::canonical(path, wrong), fresh = target.string() + ".new";
  if (wrong) return false;
  {
    std::ofstream out(fresh, std::ios::binary);
    if (!(out << text).flush()) return fs::remove(fresh, wrong), false;
  }
  fs::permissions(fresh, fs::status(target, wrong).permissions(), wrong);
  fs::rename(fresh, target, wrong);
  return !wrong;
}

int format_file(Session& session, const std::string& path, bool check) {
  const std::string name = path == "-" ? "<stdin>" : path;
  std::string text;
  if (!read_file(path, &text)) {
    std::cerr << "tercet: cannot read \"" << path << "\": " << std::strerror(errno) << "\n";
    return exit_usage;
  }
  Result<std::string> formatted = session.try_show(text, name, "formatted");
  if (!formatted) {
    std::cerr << formatted.error().render();
    return exit_failed;
  }
  if (path == "-" && !check) return std::cout << *formatted, exit_ok;
  if (*formatted == text) return exit_ok;
  if (check) return std::cout << name << "\n", exit_failed;
  if (replace_file(path, *formatted)) return exit_ok;
  std::cerr << "tercet: cannot write \"" << path << "\": " << std::strerror(errno) << "\n";
  return exit_failed;
}

}  // namespace

int run_format_command(const Options& options) {
  std::vector<std::string> files;
  std::string missing;
  if (options.paths == std::vector<std::string>{"-"}) files = options.paths;
  else if (!program_files(options.paths, &files, &missing)) {
    std::cerr << "tercet: there is no \"" << missing << "\"\n";
    return exit_usage;
  }
  Engine engine({.interpret = true});
  Session session(engine);
  int status = exit_ok;
  for (const std::string& path : files) status = std::max(status, format_file(session, path, options.check));
  return status;
}

}  // namespace tercet
