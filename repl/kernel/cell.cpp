#include "repl/kernel/cell.h"

#include <algorithm>

namespace tercet {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

CellDisplay::CellDisplay(OutputStream::Send send) : printed_(std::move(send)) {}

void CellDisplay::begin(bool silent) {
  silent_ = silent;
  value_.reset();
  error_.reset();
}

void CellDisplay::end() { printed_.flush(); }

void CellDisplay::print(std::string_view text) {
  if (!silent_) printed_.write(text);
}

void CellDisplay::value(std::string_view text) { value_ = text; }

void CellDisplay::error(const Error& error) {
  if (error.get()) error_ = CellError{std::string(error.code()), std::string(error.message()), lines_of(error.render())};
  else error_ = CellError{"limit", error.what(), lines_of(rendered(error))};
}

void CellDisplay::complain(std::string_view line) { error_ = CellError{"usage", std::string(line), {std::string(line)}}; }

}  // namespace tercet
