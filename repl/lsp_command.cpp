#include "repl/lsp_command.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iostream>
#include <optional>
#include <string>

#include "repl/lsp_server.h"
#include "repl/options.h"

namespace tercet {
namespace {

constexpr size_t longest_message = size_t{256} << 20;

/// The length that headers tell; nullopt at the end of the stream, or when they tell none.
std::optional<size_t> read_headers(std::istream& in) {
  std::optional<size_t> length;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) {
      if (length) return length;
      continue;
    }
    const size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name != "content-length" || colon == std::string::npos) continue;
    size_t begin = line.find_first_not_of(' ', colon + 1), value = 0;
    begin = std::min(begin, line.size());
    if (std::from_chars(line.data() + begin, line.data() + line.size(), value).ec == std::errc()) length = value;
  }
  return std::nullopt;
}

}  // namespace

int run_lsp_command(std::istream& in, std::ostream& out) {
  LspServer server([&](const std::string& message) { out << "Content-Length: " << message.size() << "\r\n\r\n" << message << std::flush; });
  while (std::optional<size_t> length = read_headers(in)) {
    if (*length > longest_message) {
      std::cerr << "tercet: a message of " << *length << " bytes is too long\n";
      return exit_failed;
    }
    std::string message(*length, '\0');
    if (!in.read(message.data(), static_cast<std::streamsize>(*length))) break;
    server.handle(message);
    if (server.ended()) return *server.ended();
  }
  return exit_failed;   // the editor is gone without a word
}

}  // namespace tercet
