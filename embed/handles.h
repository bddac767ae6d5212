// What stands behind the handles of include/tercet/tercet.h, and how faults cross that border.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "interpreter/engine/callable.h"
#include "interpreter/engine/session.h"
#include "interpreter/runtime/progress.h"
#include "tercet/tercet.h"

namespace tercet::embed {

/// Something of the host's that is dropped once.
using Owner = std::shared_ptr<void>;
/// Takes it over; also when there is no memory for the count, which then throws.
Owner take_owner(void* object, void (*drop)(void*));

class Counted {
 public:
  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True for the last one.
  bool release() { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  std::atomic<int64_t> count_{1};
};

/// Tells a host how far loops are.
struct HostProgress final : ProgressListener {
  void (*tell)(void*, const tct_progress*, const tct_progress*) = nullptr;
  void* context = nullptr;
  void advanced(const LoopProgress& outer, const LoopProgress* inner) override;
  void ended() override { tell(context, nullptr, nullptr); }
};

}  // namespace tercet::embed

struct tct_engine : tercet::embed::Counted {
  std::shared_ptr<tercet::Backend> backend;
  tercet::CompileOptions compile;
  tercet::CompileLoops compile_loops = tercet::CompileLoops::Auto;
};

struct tct_session : tercet::embed::Counted {
  tct_session(tct_engine* engine, tercet::SessionOptions options) : engine(engine), session(std::move(options)) { engine->retain(); }
  ~tct_session();
  tct_engine* engine;
  tercet::Session session;
  tercet::embed::HostProgress progress;
};

struct tct_function : tercet::embed::Counted {
  tct_function(const tercet::Session& session, tercet::Value value) : callable(session, std::move(value)) {}
  tercet::Callable callable;
};

struct tct_value : tercet::embed::Counted {
  explicit tct_value(tercet::Value v) : value(std::move(v)) {}
  const tercet::Value value;
  // Made when first asked for.
  mutable std::mutex mutex;
  mutable std::unique_ptr<const std::string> type, text, full_type, echo;
};

struct tct_error : tercet::embed::Counted {
  tct_status status = TCT_ERR_INTERNAL;
  std::string code, message, rendered, json;
  tercet::embed::Owner host_data;
};

namespace tercet::embed {

/// A failure of a host function on its way through the program: the host's own error, kept by the diagnostic.
struct HostFailure { tct_status status; Owner error; };

/// The call was wrong: status TCT_ERR_USAGE.
struct Misuse { const char* message; };
inline void require(bool condition, const char* message) {
  if (!condition) throw Misuse{message};
}
inline std::string_view view_of(tct_str s) { return s.data ? std::string_view(s.data, s.size) : std::string_view(); }

/// The error of these diagnostics, as text with places of `sources`. Null when there is no memory for it.
tct_error* make_error(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources) noexcept;
/// Gives the error to the caller, or lets it go; returns its status.
tct_status give(tct_error* error, tct_error** out_error) noexcept;
tct_status status_of(const Diagnostic& diagnostic) noexcept;

/// The exception that is being handled, as an error for the caller.
tct_status caught(tct_error** out_error, const std::function<tct_error*(const std::vector<Diagnostic>&)>& make = {}) noexcept;

/// Runs f, which returns a status; what it throws becomes an error.
template <class F> tct_status guarded(tct_error** out_error, F f) noexcept {
  try {
    return f();
  } catch (...) {
    return caught(out_error);
  }
}

tct_value* new_value(Value v);
/// What a run of a session came to, for the caller.
tct_status outcome(tct_session* session, Outcome o, tct_error** out_error, tct_value** out_value);

}  // namespace tercet::embed
