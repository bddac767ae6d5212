// The programs that a command is given: files, and all that lie in folders.
#pragma once
#include <string>
#include <vector>

namespace tercet {

/// The .tct files of these paths: of a folder, all inside it, in order. False, with the path in `*missing`, when one of them
/// does not exist.
bool program_files(const std::vector<std::string>& paths, std::vector<std::string>* files, std::string* missing);

/// The whole content of a file, or of standard input for "-"; false when it cannot be read, and errno says why.
bool read_file(const std::string& path, std::string* text);

}  // namespace tercet
