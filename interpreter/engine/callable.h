// A function of a session as a thing of its own: a snapshot that any number of threads may call.
//
// Example:  Callable f(session, *outcome.value);  Value y = f.call({{Value(x)}});   // throws Failure
#pragma once
#include <shared_mutex>
#include <unordered_map>

#include "interpreter/engine/session.h"

namespace tercet {

class Callable {
 public:
  /// `function` is a value of the session. What the session defines later is not seen; its limits, its memory budget and
  /// its interrupts are those of now, and the budget is one for both.
  Callable(const Session& session, Value function);
  ~Callable();
  Callable(const Callable&) = delete;

  /// Thread-safe. A call with arguments of the same types and sizes as an earlier one elaborates nothing.
  Value call(std::span<const Value> arguments);
  /// The diagnostic as text: its places are in sources that the snapshot knows. Thread-safe.
  std::string rendered(const Diagnostic& diagnostic);
  /// Calls f with those sources, which nothing changes meanwhile.
  void with_sources(const std::function<void(const SourceMap&)>& f);

 private:
  struct Prepared;
  std::shared_ptr<const Prepared> prepared(std::span<const Value> arguments);
  std::shared_ptr<const Prepared> prepare(std::span<const Value> arguments, bool values_known);
  std::vector<Array> run(const Prepared& p, Session::Context& context, std::vector<Array> inputs);

  std::unique_ptr<Session> session_;
  std::shared_mutex mutex_;                      // of the table
  std::mutex elaboration_;
  std::unordered_map<std::string, std::shared_ptr<const Prepared>> table_;
};

}  // namespace tercet
