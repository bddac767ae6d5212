// Engines and sessions.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "embed/handles.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

using namespace tercet;
using namespace tercet::embed;

namespace {

/// The caller's options over the defaults: an older caller has fewer, a newer one more.
template <class Options> Options options_of(const Options* given, void (*init)(Options*, size_t)) {
  Options out;
  init(&out, sizeof out);
  if (!given) return out;
  require(given->size >= sizeof(uint32_t), "an options structure is not initialised: call its _init function first");
  std::memcpy(&out, given, std::min<size_t>(given->size, sizeof out));
  return out;
}

template <class Options> void clear(Options* options, size_t size) {
  if (!options) return;
  std::memset(options, 0, size);
  options->size = static_cast<uint32_t>(size);
}

int64_t memory_of(const tct_limits& limits) { return limits.memory_bytes ? limits.memory_bytes : INT64_MAX; }
int depth_of(const tct_limits& limits) { return limits.call_depth ? limits.call_depth : 100'000; }
void require_limits(const tct_limits& l) { require(l.memory_bytes >= 0 && l.deadline_ms >= 0 && l.call_depth >= 0, "a limit is negative"); }

const SourceFile& source_of(tct_session* s, tct_str source, tct_str name) {
  require(s, "the session is NULL");
  return s->session.add_source(std::string(view_of(name)), std::string(view_of(source)));
}

}  // namespace

tct_status tercet::embed::outcome(tct_session* s, Outcome o, tct_error** out_error, tct_value** out_value) {
  if (!o.ok()) return give(make_error(o.diagnostics, s->session.sources()), out_error);
  if (out_value) *out_value = o.value ? new_value(std::move(*o.value)) : nullptr;
  return TCT_OK;
}

void tercet::embed::HostProgress::advanced(const LoopProgress& outer, const LoopProgress* inner) {
  auto of = [](const LoopProgress& p) { return tct_progress{p.done, p.total, p.share}; };
  const tct_progress loop = of(outer), inside = inner ? of(*inner) : tct_progress{};
  tell(context, &loop, inner ? &inside : nullptr);
}

tct_session::~tct_session() { tct_engine_release(engine); }

extern "C" {

TCT_API int32_t tct_abi_version(void) { return TCT_ABI_VERSION; }
TCT_API const char* tct_version(void) { return TERCET_VERSION; }

TCT_API void tct_engine_options_init(tct_engine_options* options, size_t size) { clear(options, size); }

TCT_API tct_status tct_engine_create(const tct_engine_options* options, tct_engine** out_engine, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_engine, "out_engine is NULL");
    tct_engine_options o = options_of(options, tct_engine_options_init);
    require(o.threads >= 0, "threads is negative");
    require(o.simd_bits == 0 || o.simd_bits == 256 || o.simd_bits == 512, "simd_bits is 0, 256 or 512");
    require(o.optimize >= TCT_OPTIMIZE_AUTO && o.optimize <= TCT_OPTIMIZE_NEVER, "optimize is a TCT_OPTIMIZE_…");
    auto engine = std::make_unique<tct_engine>();
    engine->compile.threads = o.threads;
    engine->compile.simd_bits = o.simd_bits;
    require(o.compile_loops >= TCT_COMPILE_LOOPS_AUTO && o.compile_loops <= TCT_COMPILE_LOOPS_NEVER, "compile_loops is a TCT_COMPILE_LOOPS_…");
    engine->compile.optimize = static_cast<Optimize>(o.optimize);
    engine->compile_loops = static_cast<CompileLoops>(o.compile_loops);
#if TERCET_HAS_LLVM
    if (!o.interpret) engine->backend = make_llvm_backend(o.cache ? o.cache : "");
#endif
    *out_engine = engine.release();
    return TCT_OK;
  });
}
TCT_API void tct_engine_retain(tct_engine* engine) { if (engine) engine->retain(); }
TCT_API void tct_engine_release(tct_engine* engine) { if (engine && engine->release()) delete engine; }

TCT_API void tct_session_options_init(tct_session_options* options, size_t size) { clear(options, size); }

TCT_API tct_status tct_session_create(tct_engine* engine, const tct_session_options* options, tct_session** out_session, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(engine, "the engine is NULL");
    require(out_session, "out_session is NULL");
    tct_session_options o = options_of(options, tct_session_options_init);
    require_limits(o.limits);
    require((o.capabilities & ~TCT_CAP_FILES) == 0, "an unknown capability");
    require(o.devices >= 0, "devices is negative");
    SessionOptions s;
    s.backend = engine->backend;
    s.compile = engine->compile;
    s.compile_loops = engine->compile_loops;
    s.jit_all = o.jit_all != 0;
    s.memory_bytes = memory_of(o.limits);
    s.deadline_ms = o.limits.deadline_ms;
    s.call_depth = depth_of(o.limits);
    s.files = (o.capabilities & TCT_CAP_FILES) != 0;
    s.devices = o.devices;
    if (o.device_timeout_s > 0) s.device_timeout_seconds = o.device_timeout_s;
    if (o.stop) s.stop = [stop = o.stop, context = o.stop_context] { return stop(context) != 0; };
    require(o.arguments || o.argument_count == 0, "the arguments are NULL");
    for (size_t i = 0; i < o.argument_count; ++i) s.arguments.emplace_back(view_of(o.arguments[i]));
    if (o.write) s.write = [write = o.write, context = o.write_context](std::string_view text) { write(context, text.data(), text.size()); };
    auto session = std::make_unique<tct_session>(engine, std::move(s));
    session->progress.tell = o.progress;
    session->progress.context = o.progress_context;
    *out_session = session.release();
    return TCT_OK;
  });
}
TCT_API void tct_session_retain(tct_session* session) { if (session) session->retain(); }
TCT_API void tct_session_release(tct_session* session) { if (session && session->release()) delete session; }

TCT_API tct_status tct_session_set_limits(tct_session* session, const tct_limits* limits, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(session && limits, "the session or the limits are NULL");
    require_limits(*limits);
    session->session.set_limits(memory_of(*limits), limits->deadline_ms, depth_of(*limits));
    return TCT_OK;
  });
}
TCT_API void tct_session_interrupt(tct_session* session) { if (session) session->session.interrupt(); }
TCT_API int64_t tct_session_memory(const tct_session* session) { return session ? session->session.memory_used() : 0; }

TCT_API tct_status tct_eval(tct_session* session, tct_str source, tct_str name, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    const SourceFile& file = source_of(session, source, name);
    session->session.clear_interrupt();
    ProgressScope listening(session->progress.tell ? &session->progress : nullptr);
    return outcome(session, session->session.run(file), out_error, out_value);
  });
}

TCT_API tct_status tct_measure(tct_session* session, tct_str source, tct_str name, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    const SourceFile& file = source_of(session, source, name);
    session->session.clear_interrupt();
    return outcome(session, session->session.rerun(file), out_error, out_value);
  });
}

TCT_API tct_status tct_check(tct_session* session, tct_str source, tct_str name, int32_t* out_incomplete, tct_error** out_error) {
  return guarded(out_error, [&] {
    const SourceFile& file = source_of(session, source, name);
    Outcome o = session->session.check(file);
    if (out_incomplete) *out_incomplete = o.incomplete;
    return outcome(session, std::move(o), out_error, nullptr);
  });
}

TCT_API tct_status tct_get(tct_session* session, tct_str name, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(session && out_value, "the session or out_value is NULL");
    const std::string wanted(view_of(name));
    const Value* value = session->session.find(wanted);
    if (!value) fail(Kind::Name, {}, "`" + wanted + "` is not defined");
    *out_value = new_value(*value);
    return TCT_OK;
  });
}

TCT_API tct_status tct_set(tct_session* session, tct_str name, tct_value* value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(session && value, "the session or the value is NULL");
    require(name.size > 0, "the name is empty");
    session->session.set(std::string(view_of(name)), value->value);
    return TCT_OK;
  });
}

}  // extern "C"
