#include "repl/display.h"

#include <iostream>

namespace tercet {

std::string_view rendered(const Error& error) { return error.get() ? error.render() : "error[limit]: out of memory\n"; }

void TerminalDisplay::print(std::string_view text) { std::cout << text; }

void TerminalDisplay::value(std::string_view text) { std::cout << text << std::endl; }

void TerminalDisplay::error(const Error& error) {
  std::cout.flush();
  std::cerr << rendered(error);
}

void TerminalDisplay::complain(std::string_view line) {
  std::cout.flush();
  std::cerr << line << "\n";
}

}  // namespace tercet
