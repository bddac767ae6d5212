// Functions as handles.
#include <optional>

#include "embed/handles.h"

using namespace tercet;
using namespace tercet::embed;

extern "C" {

TCT_API tct_status tct_function_get(tct_session* session, tct_str expression, tct_function** out_function, tct_error** out_error) {
  return guarded(out_error, [&]() -> tct_status {
    require(session && out_function, "the session or out_function is NULL");
    Session& s = session->session;
    s.clear_interrupt();
    Outcome o = s.run(s.add_source("tct_function_get", std::string(view_of(expression))));
    if (!o.ok()) return give(make_error(o.diagnostics, s.sources()), out_error);
    if (!o.value || !o.value->is_function()) fail(Kind::Type, {}, "this expression gives no function", "as in \"jit vmap f\"");
    *out_function = std::make_unique<tct_function>(s, std::move(*o.value)).release();
    return TCT_OK;
  });
}
TCT_API void tct_function_retain(tct_function* function) { if (function) function->retain(); }
TCT_API void tct_function_release(tct_function* function) { if (function && function->release()) delete function; }

TCT_API tct_status tct_call(tct_function* function, tct_value* const* arguments, size_t count, tct_value** out_value, tct_error** out_error) {
  try {
    require(function && out_value, "the function or out_value is NULL");
    std::array<Value, 4> few;
    std::vector<Value> many;
    if (count > few.size()) many.resize(count);
    std::span<Value> values = count > few.size() ? std::span(many) : std::span(few).first(count);
    for (size_t i = 0; i < count; ++i) {
      require(arguments && arguments[i], "an argument is NULL");
      values[i] = arguments[i]->value;
    }
    *out_value = new_value(function->callable.call(values));
    return TCT_OK;
  } catch (...) {
    return caught(out_error, [&](const std::vector<Diagnostic>& list) {
      tct_error* error = nullptr;
      if (!function) return make_error(list, SourceMap{});
      function->callable.with_sources([&](const SourceMap& sources) { error = make_error(list, sources); });
      return error;
    });
  }
}

}  // extern "C"
