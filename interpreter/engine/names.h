// What the elaborator sees of a session.
#pragma once
#include "interpreter/engine/library.h"
#include "interpreter/engine/session.h"

namespace tercet {

class Session::Names final : public Environment {
 public:
  explicit Names(Session& session) : session_(session) {}
  const Value* global(const std::string& name) override { return session_.find(name); }
  std::optional<Place> bound_later(const std::string& name) override {
    auto found = session_.upcoming_.find(name);
    if (found == session_.upcoming_.end()) return std::nullopt;
    const SourceFile* file = session_.sources_.find(found->second);
    return file ? std::optional(file->place(found->second.begin)) : std::nullopt;
  }
  bool is_var(const std::string& name) override { return session_.globals_.at(name).is_var; }
  std::vector<std::string> global_names(const std::string& home) override {
    std::vector<std::string> out = session_.names(home), library = library_names();
    out.insert(out.end(), library.begin(), library.end());
    return out;
  }
  ast::FunctionPtr library_function(const std::string& name) override {
    auto found = session_.library_.find(name);
    if (found != session_.library_.end()) return found->second;
    return session_.library_[name] = read_library_function(name, session_.sources_);
  }
  std::map<std::string, std::shared_ptr<JitEntry>>& jit_entries() override { return session_.jit_entries_; }
  std::map<std::string, std::shared_ptr<JitCounter>>& jit_counters() override { return session_.jit_counters_; }
  uint64_t version(const std::string& name) override {
    auto found = session_.globals_.find(name);
    return found == session_.globals_.end() ? 0 : found->second.version;
  }
  std::map<std::string, JitMemo>& jit_memos() override { return session_.jit_memos_; }
  const std::vector<std::string>& arguments() override { return session_.options_.arguments; }
  int device_count() override { return session_.options_.devices; }
  bool may_read_files() override { return session_.options_.files; }
  bool value_known(const std::string& name) override { return !session_.unknown_.count(name); }

 private:
  Session& session_;
};

}  // namespace tercet
