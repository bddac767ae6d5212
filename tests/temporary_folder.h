// A folder of a test's own, removed with the object.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tercet::test {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "tercet_XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw std::filesystem::filesystem_error("mkdtemp", std::error_code(errno, std::generic_category()));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tercet::test
