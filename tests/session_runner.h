// A session whose output is kept: what a source came to, what it printed, its first error.
#pragma once
#include <optional>
#include <string>

#include "codegen/backend.h"
#include "interpreter/engine/session.h"

namespace tercet::test {

struct Ran {
  std::optional<Value> value;
  std::string printed;
  std::optional<Diagnostic> error;
};

class Runner {
 public:
  explicit Runner(bool compiled, bool jit_all) : session_([&] {
    SessionOptions o;
    if (compiled) o.backend = make_llvm_backend();
    o.jit_all = jit_all;
    o.write = [this](std::string_view text) { printed_ += text; };
    return o;
  }()) {}
  Ran run(const std::string& text) {
    printed_.clear();
    Outcome out = session_.run(session_.add_source("test", text));
    Ran r{out.value, printed_, std::nullopt};
    if (!out.ok()) r.error = out.diagnostics[0];
    return r;
  }

 private:
  std::string printed_;
  Session session_;
};

}  // namespace tercet::test
