// Where a Driver shows things: a terminal, or the cell of a notebook.
#pragma once
#include <string_view>
#include <tercet/tercet.hpp>

namespace tercet {

class Display {
 public:
  virtual ~Display() = default;
  /// What a program prints as it runs, and what the commands of the prompt say.
  virtual void print(std::string_view text) = 0;
  /// The value of an input.
  virtual void value(std::string_view text) = 0;
  virtual void error(const Error& error) = 0;
  /// A line about an input that is no program: a mistaken command.
  virtual void complain(std::string_view line) = 0;
};

/// Standard output; errors and complaints on standard error.
class TerminalDisplay final : public Display {
 public:
  void print(std::string_view text) override;
  void value(std::string_view text) override;
  void error(const Error& error) override;
  void complain(std::string_view line) override;
};

/// The text that tells of an error, with its place in the source. (Without memory there is no object to ask.)
std::string_view rendered(const Error& error);

}  // namespace tercet
