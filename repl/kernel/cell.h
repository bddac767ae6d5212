// What one cell shows: prints go to the notebook as they happen; its value, or why it failed, is kept for the reply.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "repl/display.h"
#include "repl/kernel/output_stream.h"

namespace tercet {

/// An error as Jupyter tells it.
struct CellError {
  std::string name, message;            // "index", "index 5 is out of range"
  std::vector<std::string> lines;       // as the prompt shows it
};

class CellDisplay final : public Display {
 public:
  explicit CellDisplay(OutputStream::Send send);

  /// A new cell. A silent one shows nothing.
  void begin(bool silent);
  /// Sends what it has printed. Nothing is sent from here to the next begin.
  void end();

  void print(std::string_view text) override;
  void value(std::string_view text) override;
  void error(const Error& error) override;
  void complain(std::string_view line) override;

  const std::optional<std::string>& value() const { return value_; }
  const std::optional<CellError>& error() const { return error_; }

 private:
  OutputStream printed_;
  bool silent_ = false;
  std::optional<std::string> value_;
  std::optional<CellError> error_;
};

}  // namespace tercet
