#include "interpreter/engine/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "grammar/parser.h"
#include "interpreter/engine/argument_types.h"
#include "interpreter/engine/check.h"
#include "interpreter/engine/context.h"
#include "interpreter/engine/evaluate.h"
#include "interpreter/engine/library.h"
#include "interpreter/engine/names.h"
#include "interpreter/engine/parsed.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/print.h"

namespace tercet {

Session::Session(SessionOptions options) : options_(std::move(options)), budget_(std::make_shared<MemoryBudget>(options_.memory_bytes)) {
  if (!options_.write) options_.write = [](std::string_view) {};
}

Session::~Session() = default;

const Value* Session::find(const std::string& name) const {
  auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : &found->second.value;
}

uint64_t Session::next_version() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

void Session::set(const std::string& name, Value value) { globals_[name] = {std::move(value), true}; }

std::vector<std::string> Session::names(const std::string& home) const {
  std::vector<std::string> out;
  const std::string prefix = qualified(home, "");
  for (auto& [name, global] : globals_) {
    if (!name.starts_with(prefix)) continue;
    std::string own = name.substr(prefix.size());
    if (own.find(':') == std::string::npos) out.push_back(std::move(own));
  }
  return out;
}

/// Does work that may be stopped, and turns what is thrown inside into diagnostics.
Outcome Session::guarded(const std::function<void(Outcome&)>& work) {
  Outcome out;
  Diagnostic d;
  Context context(*this);                        // for its polls: elaboration and compilation are stopped like the run
  Poll ask = [&] { context.poll(); };
  PollScope asked(&ask);
  ThreadLimit threads(options_.compile.threads);
  try {
    work(out);
    return out;
  } catch (const Failure& failure) {
    out.diagnostics = failure.diagnostics();
  } catch (const std::bad_alloc&) {
    d.kind = Kind::Limit;
    d.bound = Bound::Memory;
    d.message = "out of memory";
    out.diagnostics = {d};
  } catch (const std::exception& e) {
    d.message = fmt::format("an error inside Tercet: {}", e.what());
    out.diagnostics = {d};
  } catch (...) {
    d.message = "an error inside Tercet";
    out.diagnostics = {d};
  }
  out.value.reset();
  return out;
}

void Session::set_limits(int64_t memory_bytes, int64_t deadline_ms, int call_depth) {
  options_.memory_bytes = memory_bytes;
  options_.deadline_ms = deadline_ms;
  options_.call_depth = call_depth;
  budget_->set_cap(memory_bytes);
}

void Session::begin_run() {
  deadline_.reset();
  if (options_.deadline_ms > 0) deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.deadline_ms);
}

Outcome Session::run(const SourceFile& source) {
  begin_run();
  return guarded([&](Outcome& out) {
    const ast::Program program = parsed_program(source, out);
    if (out.ok()) out.value = run_program(program, "");
  });
}

Outcome Session::rerun(const SourceFile& source) {
  keys_.set_trial(true);
  Outcome out = run(source);
  keys_.set_trial(false);
  return out;
}

Outcome Session::define(const SourceFile& source) {
  auto write = std::exchange(options_.write, [](std::string_view) {});
  Outcome out = run(source);
  options_.write = std::move(write);
  return out;
}

Array Session::hidden_input(const Frame::Hidden& h) const {
  const Global& global = globals_.at(h.name);
  if (auto digits = global.digits.find(h.leaf); digits != global.digits.end()) return scalar_of(DType::F64, digits->second);
  std::vector<Array> leaves;
  collect_leaves(global.value, leaves);
  return as_carried(leaves[h.leaf]);
}

Array as_carried(const Array& a) {
  return keeps_digits({a.dtype, std::vector<Dim>(a.shape.size())}, a.weak) ? scalar_of(DType::F64, a.as_double()) : a;
}

std::vector<Array> Session::execute(const FunctionPtr& function, std::vector<Array> arguments) {
  Context context(*this);
  if (options_.jit_all && options_.backend && !function->ops.empty())
    return options_.backend->compile(function, options_.compile)->run(context, std::move(arguments));
  return evaluate(*function, context, std::move(arguments));
}

std::optional<Value> Session::run_statement(const ast::Stmt& statement, const std::string& home) {
  BudgetScope budget(budget_);
  KeyAttempt attempt(keys_);                     // a statement that fails has used no key
  try {
    Names names(*this);
    Elaborated e = Elaborator(names, home).statement(statement);
    std::vector<Array> arguments;
    for (const Frame::Hidden& h : e.inputs) arguments.push_back(hidden_input(h));
    std::vector<Array> results = execute(e.function, std::move(arguments));
    size_t at = 0;
    auto value_of = [&](const Sym& sym, std::map<size_t, double>& digits) {
      size_t leaf_number = 0;
      return map_leaves<Array>(sym, [&](const Leaf& leaf) {
        if (keeps_digits(leaf)) {
          digits[leaf_number] = results[at].as_double();
          results[at] = scalar_of(DType::F32, digits[leaf_number]);
        }
        Array a = results[at++];
        a.weak = leaf.weak || leaf.untyped;
        a.placement = leaf.placement;
        ++leaf_number;
        return a;
      });
    };
    std::vector<Global> values;
    for (const Elaborated::Bound& b : e.bindings) {
      std::map<size_t, double> digits;
      Value bound = value_of(b.value, digits);
      values.push_back({std::move(bound), b.is_var, std::move(digits)});
    }
    std::optional<Value> value;
    if (std::map<size_t, double> digits; e.value) value = value_of(*e.value, digits);
    if (auto* t = value ? value->as<Value::Tuple>() : nullptr; t && t->elements.empty()) value.reset();   // nothing to show
    for (size_t i = 0; i < values.size(); ++i) globals_[qualified(home, e.bindings[i].name)] = std::move(values[i]);
    attempt.keep();
    keys_.keep();
    return value;
  } catch (Failure& failure) {
    set_call_span(failure, Span{});
    if (!failure.first().span.known() && failure.first().kind != Kind::Interrupt) failure.first().span = statement.span;
    throw;
  }
}

Outcome Session::show_stage(const std::string& expression, const std::string& argument_types, const std::string& stage, std::string* out) {
  begin_run();
  return guarded([&](Outcome& outcome) {
    ParseResult parsed = parse(add_source("--fn", expression));
    // The types as a signature, which the grammar reads.
    const ArgumentTypes written(argument_types);
    ParseResult signature = parse(add_source("--args", written.signature()));
    outcome.diagnostics = !parsed.diagnostics.empty() ? parsed.diagnostics : signature.diagnostics;
    if (!outcome.ok()) return;
    auto* e = parsed.program.statements.empty() ? nullptr : parsed.program.statements[0]->as<ast::ExprStmt>();
    if (!e) fail(Kind::Value, {}, "--fn takes an expression that names a function");
    const std::vector<Tree<Type>> types = written.trees(annotated_types(*signature.program.statements[0]->as<ast::FunctionStmt>()->function));
    Names names(*this);
    FunctionPtr f = Elaborator(names).function(*e->value, types);
    if (stage == "ir" || stage == "batched" || stage == "optimized") *out = print(*f);
    else if (!options_.backend) fail(Kind::Unsupported, {}, "this build has no compiler");
    else *out = options_.backend->compile(f, options_.compile)->dump(stage);
  });
}

Outcome Session::statement_ir(const SourceFile& source, std::string* out) {
  begin_run();
  return guarded([&](Outcome& outcome) {
    ParseResult parsed = parse(source);
    outcome.diagnostics = std::move(parsed.diagnostics);
    Names names(*this);
    for (const ast::StmtPtr& s : parsed.program.statements) *out = print(*Elaborator(names).statement(*s).function);
  });
}

ast::FunctionPtr Session::library_function(const std::string& name) { return Names(*this).library_function(name); }

std::string value_text(const Value& value) {
  auto joined = [](const std::vector<Value>& list, const std::vector<std::string>* names) {
    std::string out = "(";
    for (size_t i = 0; i < list.size(); ++i) {
      const Array* a = list[i].leaf();
      out += (i ? ", " : "") + (names ? (*names)[i] + "=" : "") + (a ? format_inside(*a) : value_text(list[i]));
    }
    return out + (!names && list.size() == 1 ? ",)" : ")");
  };
  if (auto* a = value.leaf()) return format(*a);
  if (auto* t = value.as<Value::Tuple>()) return joined(t->elements, nullptr);
  if (auto* r = value.as<Value::Record>()) return joined(r->values, &r->names);
  if (auto* r = value.as<Value::Range>()) return value_text(*r->low) + ".." + value_text(*r->high);
  if (value.is_none()) return "none";
  return "<" + type_text(value) + ">";
}

std::string type_text(const Value& value) {
  if (auto* a = value.leaf()) {
    std::string sizes;
    for (int64_t s : a->shape) sizes += (sizes.empty() ? "" : ", ") + (s == ragged_axis ? std::string("*") : std::to_string(s));
    return name_of(a->dtype) + (a->rank() ? "[" + sizes + "]" : std::string());
  }
  if (value.as<Value::Tuple>()) return "tuple";
  if (value.as<Value::Record>()) return "record";
  if (value.as<Value::Range>()) return "range";
  if (value.is_none()) return "none";
  if (value.as<Value::Module>()) return "module";
  return "function";
}

}  // namespace tercet
