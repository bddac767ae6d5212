// A session: the names of a running program, and what it takes to run more of it. One thread at a time; interrupt()
// may be called from any thread or a signal handler.
//
// Example:  Session s(options);  Outcome o = s.run(s.add_source("demo", "let x = 3\nx + 1"));
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/diagnostic.h"
#include "interpreter/elaborate/elaborator.h"
#include "interpreter/engine/backend.h"
#include "interpreter/engine/symbols.h"
#include "interpreter/runtime/keys.h"

namespace tercet {

struct SessionOptions {
  std::shared_ptr<Backend> backend;              // null: everything runs on the reference evaluator
  CompileOptions compile;
  bool jit_all = false;                          // statements are compiled whole, not only what jit names
  CompileLoops compile_loops = CompileLoops::Auto;
  int64_t memory_bytes = INT64_MAX;
  std::function<void(std::string_view)> write;   // standard output
  std::vector<std::string> arguments;            // of the program
  int devices = 0;                               // of pmap; 0: as many as one asks for
  double device_timeout_seconds = 600;           // how long devices wait for each other in a collective
  int64_t deadline_ms = 0;                       // of one run or call; 0: none
  int call_depth = 100'000;                      // of calls that the program's functions make of each other
  bool files = true;                             // the program may read files
  /// Asked at every poll, from every thread that works: true stops the run as interrupt() does. Cheap, and without throwing.
  std::function<bool()> stop;
};

/// What running a source came to. On failure the statements before the failing one have had their effect, the failing
/// one has bound nothing.
struct Outcome {
  std::optional<Value> value;                    // of the last statement, when it is an expression
  std::vector<Diagnostic> diagnostics;           // empty: success
  bool incomplete = false;                       // the source ends inside a bracket, string or block
  bool ok() const { return diagnostics.empty(); }
};

class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();
  Session(const Session&) = delete;

  const SourceFile& add_source(std::string name, std::string text) { return sources_.add(std::move(name), std::move(text)); }
  const SourceMap& sources() const { return sources_; }
  Outcome run(const SourceFile& source);
  /// As run(), but random keys are as if it had not run, and may have been used before: for measurements.
  Outcome rerun(const SourceFile& source);
  /// Syntax, names, and the types and sizes of functions whose parameters are annotated; runs nothing.
  Outcome check(const SourceFile& source);
  /// What it defines (symbols.h). Of variables outside of every block the types, as far as they are known without running it.
  Outcome symbols(const SourceFile& source, std::vector<Symbol>* out);
  /// Runs a source without its output: for tools that need its definitions.
  Outcome define(const SourceFile& source);
  /// Text of a stage ("ir", "batched", "optimized", "kernels", "llvm", "asm") of the function that `expression` names,
  /// for arguments of these types ("f32[n, 128], i32[k]"; a name means the same size everywhere).
  Outcome show_stage(const std::string& expression, const std::string& argument_types, const std::string& stage, std::string* out);
  /// The function that the last statement of a source elaborates to.
  Outcome statement_ir(const SourceFile& source, std::string* out);
  ast::FunctionPtr library_function(const std::string& name);
  const Value* find(const std::string& name) const;
  void set(const std::string& name, Value value);
  /// Stops what runs, and what begins before the next clear_interrupt().
  void interrupt() { interrupts_->fetch_add(1, std::memory_order_relaxed); }
  void clear_interrupt() { seen_interrupts_ = interrupts_->load(std::memory_order_relaxed); }
  /// Bounds of what runs from now on.
  void set_limits(int64_t memory_bytes, int64_t deadline_ms, int call_depth);
  /// Bytes of arrays that it holds now.
  int64_t memory_used() const { return budget_->used(); }
  /// Its globals; of an imported file, by its path, those of that file.
  std::vector<std::string> names(const std::string& home = {}) const;
  const SessionOptions& options() const { return options_; }

 private:
  class Names;
  class Context;
  friend class Names;
  friend class Context;
  friend class Callable;
  void begin_run();
  Outcome guarded(const std::function<void(Outcome&)>& work);
  // check.cpp
  void check_program(const ast::Program& program, const std::string& home, std::vector<Diagnostic>& found);
  std::map<uint32_t, std::string> types_of_variables(const ast::Program& program);
  void check_functions(const ast::Program& program, const std::string& home, std::vector<Diagnostic>& found);
  std::optional<Value> run_statement(const ast::Stmt& statement, const std::string& home = {});
  // imports.cpp
  using RunFile = std::function<std::vector<std::string>(const SourceFile&, const std::string& home)>;   // gives its names
  std::optional<Value> run_program(const ast::Program& program, const std::string& home);
  std::vector<std::string> run_file(const SourceFile& source, const std::string& home);
  void run_import(const ast::Import& what, Span span, const std::string& home, const RunFile& run);
  Value::Module import_file(const std::string& written, Span span, const RunFile& run);
  Value::Module import_library(const std::string& name, Span span);
  /// The array for a function's parameter that is a global.
  Array hidden_input(const Frame::Hidden& h) const;
  std::vector<Array> execute(const FunctionPtr& function, std::vector<Array> arguments);

  SessionOptions options_;
  SourceMap sources_;
  struct Global {
    Value value;
    bool is_var = false;
    std::map<size_t, double> digits = {};        // those of a literal, by the leaf it is (Frame::carry)
    uint64_t version = next_version();           // of every binding another one
  };
  static uint64_t next_version();
  std::map<std::string, Global> globals_;        // by qualified name (elaborate/tree.h)
  std::map<std::string, std::vector<std::string>> imported_;   // files that imports have run, by path, and their names
  std::vector<std::string> importing_;           // paths of those that run, outermost first
  std::map<std::string, Span> upcoming_;         // what later statements of the running program bind, by qualified name
  std::map<std::string, ast::FunctionPtr> library_;
  std::map<std::string, std::shared_ptr<JitEntry>> jit_entries_;
  std::map<std::string, std::shared_ptr<JitCounter>> jit_counters_;
  std::map<std::string, JitMemo> jit_memos_;
  std::vector<ast::Program> programs_;           // keep the trees of running code alive
  std::shared_ptr<std::atomic<uint64_t>> interrupts_ = std::make_shared<std::atomic<uint64_t>>(0);
  uint64_t seen_interrupts_ = 0;                 // more than these stop what runs
  std::optional<std::chrono::steady_clock::time_point> deadline_;   // of the run
  std::set<std::string> unknown_;                // globals whose values elaboration may not use
  std::shared_ptr<MemoryBudget> budget_;
  KeyLedger keys_;
};

/// The array as a function takes it (Frame::carry).
Array as_carried(const Array& a);
/// "i32[3]", "tuple", …: what the prompt shows before a value.
std::string type_text(const Value& value);
/// The value as `print` shows it.
std::string value_text(const Value& value);

}  // namespace tercet
