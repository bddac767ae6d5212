// What a user is told when something is wrong: one cause, the place, one fix.
//
// A user's fault is thrown as Failure inside the library and turned into a value at the layer's public face
// (docs/decisions/0002). A fault of ours is a failed TERCET_CHECK, which names the C++ line.
#pragma once
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/source.h"

namespace tercet {

enum class Kind : uint8_t {
  Syntax, Name, Type, Shape, Index, Value, Arithmetic, Key, Io, Compile, Device, Interrupt, Limit, Assert,
  Unsupported, Internal
};

/// The word between the brackets of `error[…]`.
const char* name_of(Kind kind);

/// A further place with a remark, shown under the main one ("defined here").
struct Note {
  Span span;
  std::string text;
};

/// Which bound a `limit` is about, and whether an `io` was refused: for hosts that tell them apart.
enum class Bound : uint8_t { None, Memory, Deadline, Denied };

struct Diagnostic {
  Kind kind = Kind::Internal;
  Bound bound = Bound::None;
  std::string message;            // one line, in the user's words
  Span span;                      // where; unknown when there is no source
  std::string label;              // short text after the carets, may be empty
  std::string help;               // one fix, may be empty
  std::vector<Note> notes;        // other places
  std::vector<Note> frames;       // call chain, innermost first: span of the call, name of the function called
  std::vector<int64_t> row;       // lane of the innermost to outermost batch axes that failed, empty outside vmap
  std::shared_ptr<void> host;     // of a host function that failed: its own error
  int64_t device = -1;            // the device of a pmap that failed, -1 outside
};

/// Renders as language.md section 11 shows: message, source line, carets, help, call chain. Ends with '\n'.
std::string render(const Diagnostic& diagnostic, const SourceMap& sources);

/// One or more diagnostics on their way to the layer's face. Never leaves the library.
class Failure : public std::exception {
 public:
  explicit Failure(Diagnostic one) : list_{std::move(one)} {}
  explicit Failure(std::vector<Diagnostic> list) : list_(std::move(list)) {}
  const std::vector<Diagnostic>& diagnostics() const { return list_; }
  Diagnostic& first() { return list_.front(); }
  std::vector<Diagnostic>& diagnostics() { return list_; }
  const char* what() const noexcept override { return list_.front().message.c_str(); }

 private:
  std::vector<Diagnostic> list_;
};

/// Puts the place of a call where a diagnostic says Span::of_call().
void set_call_span(Diagnostic& diagnostic, Span call);
void set_call_span(Failure& failure, Span call);

/// Throws a Failure with one diagnostic.
[[noreturn]] void fail(Kind kind, Span span, std::string message, std::string help = {}, std::string label = {});

/// The same, for a bound.
[[noreturn]] void fail_bound(Kind kind, Bound bound, Span span, std::string message, std::string help = {});

/// Throws error `limit` when less than a fixed reserve of this thread's stack is left. Call in every recursion
/// whose depth the input decides.
void check_stack(Span span);

[[noreturn]] void internal_error(const char* condition, const char* file, int line);
#define TERCET_CHECK(condition) \
  ((condition) ? void(0) : ::tercet::internal_error(#condition, __FILE__, __LINE__))

/// The name of `candidates` closest to `name`, or "" when none is near enough to be meant (edit distance).
std::string closest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tercet
