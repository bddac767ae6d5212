// Errors: what went wrong, as an object of its own that needs no session any more.
#include <fmt/format.h>

#include "base/json_text.h"
#include "embed/handles.h"

namespace tercet::embed {

namespace {

std::string place_json(Span span, const SourceMap& sources) {
  const SourceFile* file = sources.find(span);
  if (!file) return "null";
  Place begin = file->place(span.begin), end = file->place(span.end);
  return fmt::format(R"({{"name": {}, "line": {}, "column": {}, "end_line": {}, "end_column": {}}})", quoted_json(begin.name), begin.line, begin.column, end.line, end.column);
}

std::string notes_json(const std::vector<Note>& notes, const SourceMap& sources) {
  std::string out;
  for (const Note& n : notes) out += fmt::format(R"({}{{"text": {}, "source": {}}})", out.empty() ? "" : ", ", quoted_json(n.text), place_json(n.span, sources));
  return "[" + out + "]";
}

std::string json(const Diagnostic& d, const SourceMap& sources) {
  return fmt::format(R"({{"kind": {}, "message": {}, "label": {}, "help": {}, "row": [{}], "device": {}, "source": {}, "notes": {}, "frames": {}}})",
                     quoted_json(name_of(d.kind)), quoted_json(d.message), quoted_json(d.label), quoted_json(d.help),
                     fmt::join(d.row.rbegin(), d.row.rend(), ", "), d.device < 0 ? "null" : std::to_string(d.device),
                     place_json(d.span, sources), notes_json(d.notes, sources), notes_json(d.frames, sources));
}

Diagnostic plain(Kind kind, std::string message) {
  Diagnostic d;
  d.kind = kind;
  d.message = std::move(message);
  return d;
}

}  // namespace

Owner take_owner(void* object, void (*drop)(void*)) {
  if (!drop) return Owner(object, [](void*) {});
  return Owner(object, drop);   // calls drop when it throws
}

tct_status status_of(const Diagnostic& d) noexcept {
  if (d.host) return static_cast<const HostFailure*>(d.host.get())->status;
  if (d.bound == Bound::Memory) return TCT_ERR_MEMORY;
  if (d.bound == Bound::Deadline) return TCT_ERR_DEADLINE;
  if (d.bound == Bound::Denied) return TCT_ERR_DENIED;
  switch (d.kind) {
    case Kind::Syntax: return TCT_ERR_SYNTAX;
    case Kind::Name: return TCT_ERR_NAME;
    case Kind::Type: return TCT_ERR_TYPE;
    case Kind::Shape: return TCT_ERR_SHAPE;
    case Kind::Index: return TCT_ERR_INDEX;
    case Kind::Value: return TCT_ERR_VALUE;
    case Kind::Arithmetic: return TCT_ERR_ARITHMETIC;
    case Kind::Key: return TCT_ERR_KEY;
    case Kind::Io: return TCT_ERR_IO;
    case Kind::Compile: return TCT_ERR_COMPILE;
    case Kind::Device: return TCT_ERR_DEVICE;
    case Kind::Interrupt: return TCT_ERR_INTERRUPTED;
    case Kind::Limit: return TCT_ERR_LIMIT;
    case Kind::Assert: return TCT_ERR_ASSERT;
    case Kind::Unsupported: return TCT_ERR_UNSUPPORTED;
    case Kind::Internal: break;
  }
  return TCT_ERR_INTERNAL;
}

tct_error* make_error(const std::vector<Diagnostic>& list, const SourceMap& sources) noexcept {
  try {
    auto error = std::make_unique<tct_error>();
    const Diagnostic& first = list.front();
    error->status = status_of(first);
    error->code = name_of(first.kind);
    error->message = first.message;
    std::string all;
    for (const Diagnostic& d : list) {
      error->rendered += render(d, sources);
      all += (all.empty() ? "" : ", ") + json(d, sources);
    }
    error->json = "{\"errors\": [" + all + "]}";
    if (first.host) error->host_data = static_cast<const HostFailure*>(first.host.get())->error;
    return error.release();
  } catch (...) {
    return nullptr;
  }
}

tct_status give(tct_error* error, tct_error** out_error) noexcept {
  if (!error) return TCT_ERR_MEMORY;   // it could not be made
  tct_status status = error->status;
  if (out_error) *out_error = error;
  else tct_error_release(error);
  return status;
}

tct_status caught(tct_error** out_error, const std::function<tct_error*(const std::vector<Diagnostic>&)>& make) noexcept {
  auto told = [&](const std::vector<Diagnostic>& list, tct_status status) {
    tct_error* error = make ? make(list) : make_error(list, SourceMap{});
    if (error) error->status = status;
    give(error, out_error);
    return status;
  };
  try {
    try {
      throw;
    } catch (const Failure& failure) {
      tct_status status = status_of(failure.diagnostics().front());
      tct_error* error = make ? make(failure.diagnostics()) : make_error(failure.diagnostics(), SourceMap{});
      give(error, out_error);
      return status;
    } catch (const Misuse& misuse) {
      return told({plain(Kind::Value, misuse.message)}, TCT_ERR_USAGE);
    } catch (const std::bad_alloc&) {
      return told({plain(Kind::Limit, "out of memory")}, TCT_ERR_MEMORY);
    } catch (const std::exception& e) {
      return told({plain(Kind::Internal, fmt::format("an error inside Tercet: {}", e.what()))}, TCT_ERR_INTERNAL);
    }
  } catch (const std::bad_alloc&) {
    return TCT_ERR_MEMORY;   // not even the error could be made
  } catch (...) {
    return TCT_ERR_INTERNAL;
  }
}

}  // namespace tercet::embed

namespace {
tct_str borrowed(const std::string& s) { return {s.c_str(), s.size()}; }
}  // namespace

extern "C" {

TCT_API tct_status tct_error_status(const tct_error* error) { return error ? error->status : TCT_OK; }
TCT_API tct_str tct_error_code(const tct_error* error) { return error ? borrowed(error->code) : tct_str_of(""); }
TCT_API tct_str tct_error_message(const tct_error* error) { return error ? borrowed(error->message) : tct_str_of(""); }
TCT_API tct_str tct_error_render(const tct_error* error) { return error ? borrowed(error->rendered) : tct_str_of(""); }
TCT_API tct_str tct_error_json(const tct_error* error) { return error ? borrowed(error->json) : tct_str_of("{}"); }
TCT_API void* tct_error_host_data(const tct_error* error) { return error ? error->host_data.get() : nullptr; }
TCT_API void tct_error_retain(tct_error* error) { if (error) error->retain(); }
TCT_API void tct_error_release(tct_error* error) { if (error && error->release()) delete error; }

}  // extern "C"
