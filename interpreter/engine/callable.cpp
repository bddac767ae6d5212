#include "interpreter/engine/callable.h"

#include <fmt/format.h>

#include "interpreter/engine/context.h"
#include "interpreter/engine/evaluate.h"
#include "interpreter/engine/names.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/parallel.h"

namespace tercet {
namespace {

constexpr size_t most_prepared = 256;   // forms of arguments that are remembered

std::string argument_name(size_t i) { return fmt::format("%{}", i); }

ast::ExprPtr name_expression(std::string name) { return std::make_shared<ast::Expr>(ast::Expr{Span{}, ast::Name{std::move(name)}}); }

/// %f(%0, %1, …) as a statement.
ast::Stmt call_statement(size_t arguments) {
  ast::Call call{name_expression("%f"), {}};
  for (size_t i = 0; i < arguments; ++i) call.arguments.push_back({Span{}, "", name_expression(argument_name(i))});
  return {Span{}, ast::ExprStmt{std::make_shared<ast::Expr>(ast::Expr{Span{}, std::move(call)})}};
}

bool is_known_integer(const Array& a) { return a.rank() == 0 && (is_int(a.dtype) || a.dtype == DType::Bool); }

/// What elaboration sees of an array: its type, its sizes and, with `values`, the value of an integer.
void append_form(const Array& a, bool values, std::string& key) {
  key += static_cast<char>('A' + static_cast<int>(a.dtype) + (a.weak ? 32 : 0));
  key += static_cast<char>('0' + a.rank());
  if (a.placement.devices) key += fmt::format("@{}/{}", a.placement.devices, a.placement.axis);
  for (int64_t s : a.shape) key.append(reinterpret_cast<const char*>(&s), sizeof s);
  if (values && is_known_integer(a)) {
    int64_t value = a.as_int();
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

/// False when the value holds something whose identity no short text tells (a function, a handle).
bool append_form(const Value& value, bool values, std::string& key) {
  if (auto* a = value.leaf()) return append_form(*a, values, key), true;
  if (value.is_none()) return key += '~', true;
  bool good = true;
  auto all = [&](const std::vector<Value>& list) {
    for (const Value& v : list) good &= append_form(v, values, key);
    key += ')';
  };
  if (auto* t = value.as<Value::Tuple>()) return key += '(', all(t->elements), good;
  if (auto* r = value.as<Value::Record>()) {
    key += '{';
    for (const std::string& name : r->names) key += name, key += ';';
    return all(r->values), good;
  }
  return false;
}

void append_leaves(const Value& value, std::vector<Array>& out) {
  if (auto* a = value.leaf()) out.push_back(*a);   // the common case, without rebuilding a tree
  else collect_leaves(value, out);
}

}  // namespace

/// A call elaborated for one form of arguments.
struct Callable::Prepared {
  struct Input { size_t argument, leaf; Array fixed; };   // argument SIZE_MAX: `fixed`, a global of the snapshot
  FunctionPtr function;
  std::vector<Input> inputs;
  Sym value;
  std::vector<Leaf> leaves;
  std::shared_ptr<JitEntry> entry;                         // when it does nothing but call this compiled function
  std::shared_ptr<HotLoops> hot_loops;                     // of all its calls
  mutable std::mutex mutex;
  mutable std::shared_ptr<const Executable> direct;        // the entry's variant for these sizes
};

Callable::Callable(const Session& session, Value function) : session_(std::make_unique<Session>(session.options_)) {
  Session& s = *session_;
  s.sources_ = session.sources_;
  s.globals_ = session.globals_;
  s.library_ = session.library_;
  s.jit_entries_ = session.jit_entries_;
  s.jit_counters_ = session.jit_counters_;
  s.interrupts_ = session.interrupts_;
  s.budget_ = session.budget_;
  s.globals_["%f"] = {std::move(function), false};
}

Callable::~Callable() = default;

std::shared_ptr<const Callable::Prepared> Callable::prepare(std::span<const Value> arguments, bool values_known) {
  Session& s = *session_;
  for (size_t i = 0; i < arguments.size(); ++i) {
    s.globals_[argument_name(i)] = {arguments[i], false};
    if (values_known) s.unknown_.erase(argument_name(i));
    else s.unknown_.insert(argument_name(i));
  }
  struct Forget {   // they belong to the caller
    Session& s;
    size_t count;
    ~Forget() {
      for (size_t i = 0; i < count; ++i) s.globals_.erase(argument_name(i));
    }
  } forget{s, arguments.size()};
  Session::Names names(s);
  Elaborated e = Elaborator(names).statement(call_statement(arguments.size()));
  auto out = std::make_shared<Prepared>();
  out->function = e.function;
  out->hot_loops = Session::Context::new_hot_loops(s);
  for (const Frame::Hidden& h : e.inputs) {
    Prepared::Input input{SIZE_MAX, h.leaf, {}};
    if (h.name[0] == '%' && h.name != "%f") {
      input.argument = std::stoul(h.name.substr(1));
    } else {
      input.fixed = s.hidden_input(h);
    }
    out->inputs.push_back(std::move(input));
  }
  out->value = std::move(*e.value);
  out->leaves = std::move(e.result_leaves);
  const Function& f = *e.function;
  bool one_call = s.options_.backend && f.ops.size() == 1 && f.ops[0].def == &call_op && f.ops[0].attrs.has("jit") && f.ops[0].inputs == f.params && f.results.size() == f.ops[0].outputs;
  for (uint32_t i = 0; one_call && i < f.results.size(); ++i) one_call = f.results[i] == f.ops[0].output(i);
  if (one_call)
    for (auto& [key, entry] : s.jit_entries_)
      if (entry.get() == &jit_entry(f.ops[0].attrs)) out->entry = entry;
  return out;
}

std::shared_ptr<const Callable::Prepared> Callable::prepared(std::span<const Value> arguments) {
  thread_local std::string key;
  key.clear();
  bool remembered = true, integers = false;
  for (const Value& v : arguments) remembered &= append_form(v, false, key);
  auto find = [&]() -> std::shared_ptr<const Prepared> {
    std::shared_lock lock(mutex_);
    auto found = table_.find(key);
    return found == table_.end() ? nullptr : found->second;
  };
  if (remembered)
    if (auto known = find()) return known;
  std::vector<Array> leaves;
  for (const Value& v : arguments) append_leaves(v, leaves);
  for (const Array& a : leaves) integers |= is_known_integer(a);
  std::string form = key, exact = "=";
  for (const Value& v : arguments) append_form(v, true, exact);
  std::scoped_lock elaborating(elaboration_);
  std::shared_ptr<const Prepared> out;
  bool by_value = !remembered;
  if (!by_value) {
    try {
      out = prepare(arguments, !integers);
    } catch (const Failure&) {
      if (!integers) throw;
      by_value = true;
    }
  }
  if (by_value) {   // an integer decides an axis or a type
    key = exact;
    if (remembered)
      if (auto known = find()) return known;
    out = prepare(arguments, true);
    form = exact;
  }
  if (!remembered) return out;
  std::unique_lock lock(mutex_);
  if (table_.size() >= most_prepared) table_.clear();
  table_[form] = out;
  return out;
}

std::vector<Array> Callable::run(const Prepared& p, Session::Context& context, std::vector<Array> inputs) {
  std::vector<Array> results;
  if (p.entry) {
    std::shared_ptr<const Executable> direct;
    {
      std::scoped_lock lock(p.mutex);
      if (!p.direct) p.direct = context.compiled(*p.entry, inputs);
      direct = p.direct;
    }
    results = direct->run(context, std::move(inputs));
  } else {
    results = evaluate(*p.function, context, std::move(inputs));
  }
  context.keys().keep();
  return results;
}

Value Callable::call(std::span<const Value> arguments) {
  Session& s = *session_;
  BudgetScope budget(s.budget_);
  std::optional<std::chrono::steady_clock::time_point> deadline;
  if (s.options_.deadline_ms > 0) deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(s.options_.deadline_ms);
  Session::Context context(s, s.interrupts_->load(std::memory_order_relaxed), deadline);
  Poll ask = [&context] { context.poll(); };
  PollScope asked(&ask);
  ThreadLimit threads(s.options_.compile.threads);
  std::shared_ptr<const Prepared> p = prepared(arguments);
  context.share_hot_loops(p->hot_loops);
  std::vector<Array> inputs;
  inputs.reserve(p->inputs.size());
  for (const Prepared::Input& i : p->inputs) {
    if (i.argument == SIZE_MAX) {
      inputs.push_back(i.fixed);
    } else if (const Array* a = arguments[i.argument].leaf()) {
      inputs.push_back(a->weak ? as_carried(*a) : *a);
    } else {
      std::vector<Array> leaves;
      append_leaves(arguments[i.argument], leaves);
      inputs.push_back(as_carried(leaves[i.leaf]));
    }
  }
  std::vector<Array> results;
  try {
    results = run(*p, context, std::move(inputs));
  } catch (Failure& failure) {
    set_call_span(failure, Span{});
    throw;
  }
  size_t at = 0;
  auto take = [&](const Leaf& leaf) {
    Array a = keeps_digits(leaf) ? scalar_of(DType::F32, results[at].as_double()) : std::move(results[at]);
    ++at;
    a.weak = leaf.weak;
    a.placement = leaf.placement;
    return a;
  };
  if (const Leaf* one = p->value.leaf()) return Value(take(*one));
  return map_leaves<Array>(p->value, take);
}

std::string Callable::rendered(const Diagnostic& diagnostic) {
  std::scoped_lock lock(elaboration_);
  return render(diagnostic, session_->sources_);
}

void Callable::with_sources(const std::function<void(const SourceMap&)>& f) {
  std::scoped_lock lock(elaboration_);
  f(session_->sources_);
}

}  // namespace tercet
