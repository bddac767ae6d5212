#include "repl/program_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tercet {

bool program_files(const std::vector<std::string>& paths, std::vector<std::string>* files, std::string* missing) {
  namespace fs = std::filesystem;
  for (const std::string& path : paths) {
    std::error_code wrong;
    if (!fs::exists(path, wrong)) return *missing = path, false;
    if (!fs::is_directory(path, wrong)) {
      files->push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, wrong), end; at != end; at.increment(wrong)) {
      if (wrong) break;
      if (at->is_regular_file(wrong) && at->path().extension() == ".tct") inside.push_back(at->path().string());
    }
    std::sort(inside.begin(), inside.end());
    files->insert(files->end(), inside.begin(), inside.end());
  }
  return true;
}

bool read_file(const std::string& path, std::string* text) {
  int file = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char block[1 << 16];
  ssize_t got = 0;
  while ((got = read(file, block, sizeof block)) > 0) text->append(block, static_cast<size_t>(got));
  if (file != STDIN_FILENO) close(file);
  return got == 0;
}

}  // namespace tercet
