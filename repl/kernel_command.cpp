#include "repl/kernel_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "repl/json.h"

namespace tercet {
namespace {

namespace fs = std::filesystem;

/// This program's own file.
fs::path own_path() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Where Jupyter looks for what a user has installed; empty without a home.
fs::path user_data() {
  if (std::string data = variable("JUPYTER_DATA_DIR"); !data.empty()) return data;
  if (std::string data = variable("XDG_DATA_HOME"); !data.empty()) return fs::path(data) / "jupyter";
  if (std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".local/share/jupyter";
  return {};
}

std::string kernelspec() {
  return "{\n"
         "  \"argv\": [" + in_quotes(own_path().string()) + ", \"kernel\", \"-f\", \"{connection_file}\"],\n"
         "  \"display_name\": \"Tercet\",\n"
         "  \"language\": \"tercet\",\n"
         "  \"interrupt_mode\": \"message\"\n"
         "}\n";
}

int fail(const std::string& why) {
  std::cerr << "tercet: " << why << "\n";
  return exit_failed;
}

int install(const std::string& prefix) {
  const fs::path data = prefix.empty() ? user_data() : fs::absolute(prefix) / "share/jupyter";
  if (data.empty()) return fail("there is no HOME to install for; name a folder with --prefix");
  const fs::path file = data / "kernels/tercet/kernel.json";
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  errno = 0;
  if (!error && (std::ofstream(file) << kernelspec() << std::flush)) {
    std::cout << "installed " << file.string() << "\n";
    return exit_ok;
  }
  return fail("cannot write \"" + file.string() + "\": " + (error ? error.message() : std::strerror(errno)));
}

}  // namespace

int run_kernel_command(const Options& options, char** argv) {
  const fs::path program = own_path().replace_filename("tercet-kernel");
  if (access(program.c_str(), X_OK) != 0)
    return fail("the Jupyter kernel is not here: \"" + program.string() + "\" is missing. It is built with Tercet where the library xeus "
                "is installed (Debian: xeus-dev)");
  if (options.install) return install(options.prefix);
  execv(program.c_str(), argv);
  return fail("cannot start \"" + program.string() + "\": " + std::strerror(errno));
}

}  // namespace tercet
