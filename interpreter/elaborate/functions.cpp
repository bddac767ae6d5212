// Calls: binding of arguments, expansion of the program's functions, recursion, builtins.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/elaborate/lowering.h"
#include "interpreter/elaborate/signature.h"
#include "interpreter/elaborate/free_names.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

std::string title(const ast::FunctionDef& f) { return f.name.empty() ? "this function" : fmt::format("`{}`", f.name); }

std::string parameter_title(const ast::Param& p) { return p.pattern.is_tuple ? "(…)" : p.pattern.name; }

/// dtype, rank and structure of arguments: what decides whether two calls elaborate alike.
std::string signatures(std::span<const Sym> values, const Elaborator& e);

std::string signature(const Sym& value, const Elaborator& e) {
  if (auto* leaf = value.leaf()) return fmt::format("{}{}:{}", name_of(leaf->type.dtype), leaf->weak ? "w" : "", leaf->type.rank());
  if (auto* t = value.as<Sym::Tuple>()) return "(" + signatures(t->elements, e) + ")";
  if (auto* r = value.as<Sym::Record>()) return fmt::format("({})({})", fmt::join(r->names, ","), signatures(r->values, e));
  if (auto* r = value.as<Sym::Range>()) return "range(" + signature(*r->low, e) + signature(*r->high, e) + ")";
  if (value.is_none()) return "none";
  if (auto* m = value.as<Sym::Module>()) return "module@" + m->home;
  if (auto* h = value.as<Handle>()) return fmt::format("{}@{}", h->type, h->object.get());
  return e.identity(value);
}

std::string signatures(std::span<const Sym> values, const Elaborator& e) {
  std::string out;
  for (const Sym& v : values) out += signature(v, e) + ";";
  return out;
}

}  // namespace

std::string Elaborator::identity(const Sym& function) const {
  if (auto* c = function.as<Sym::Closure>()) {
    std::string out = fmt::format("fn@{}", static_cast<const void*>(c->code.get()));
    for (auto& [name, value] : c->captured) out += fmt::format("[{}={}]", name, signature(value, *this));
    return out;
  }
  if (auto* t = function.as<Sym::Transformed>())
    return fmt::format("{}[{}]({})", ast::spelling(t->spec->kind), t->spec->text, identity(*t->function));
  if (auto* b = function.as<Sym::Builtin>()) return b->def->name;
  return signature(function, *this);
}

Sym Elaborator::apply(const Sym& function, std::vector<CallArgument> arguments, Span span) {
  check_stack(span);
  if (std::optional<Sym> rows = call_on_rows(function, arguments, span)) return *rows;
  if (auto* c = function.as<Sym::Closure>()) return call_closure(*c, std::move(arguments), span);
  if (auto* b = function.as<Sym::Builtin>()) return call_builtin(*b->def, std::move(arguments), span);
  if (auto* t = function.as<Sym::Transformed>()) return apply_transformed(*t, std::move(arguments), span);
  if (auto* h = function.as<Handle>(); h && function.is_function()) return call_host(*h, std::move(arguments), span);
  error(Kind::Type, fmt::format("{} is not a function", describe(function)),
        function.leaf() && function.leaf()->type.rank() ? "an array is indexed with x[i]" : "");
}

std::vector<std::string> Elaborator::parameter_names(const Sym& function) {
  std::vector<std::string> out;
  if (auto* c = function.as<Sym::Closure>())
    for (const ast::Param& p : c->code->params) out.push_back(p.pattern.is_tuple ? "" : p.pattern.name);
  if (auto* t = function.as<Sym::Transformed>()) return parameter_names(*t->function);
  if (auto* b = function.as<Sym::Builtin>())
    for (const Parameter& p : signature_of(*b->def).parameters) out.push_back(p.name);
  return out;
}

// ---- functions of the program ----
namespace {

std::vector<ArgumentPlace> places_of(const std::vector<CallArgument>& arguments) {
  std::vector<ArgumentPlace> out;
  for (const CallArgument& a : arguments) out.push_back({a.name, a.span});
  return out;
}

}  // namespace

namespace {

/// How many values a tree has, counted up to `most`.
size_t count_values(const Sym& value, size_t most) {
  size_t count = 1;
  auto all = [&](const std::vector<Sym>& parts) {
    for (const Sym& p : parts)
      if (count <= most) count += count_values(p, most - count);
  };
  if (auto* t = value.as<Sym::Tuple>()) all(t->elements);
  else if (auto* r = value.as<Sym::Record>()) all(r->values);
  else if (auto* c = value.as<Sym::Closure>())
    for (auto& [name, captured] : c->captured)
      if (count <= most) count += count_values(captured, most - count);
  return count;
}

}  // namespace

std::vector<Sym> Elaborator::bind_arguments(const Sym::Closure& f, std::vector<CallArgument>& arguments, Span span) {
  const std::vector<ast::Param>& params = f.code->params;
  std::vector<size_t> places = match_arguments(signature_of(*f.code), places_of(arguments), span);
  std::vector<std::optional<Sym>> values(params.size());
  for (size_t i = 0; i < arguments.size(); ++i) values[places[i]] = std::move(arguments[i].value);
  std::vector<Sym> out;
  for (size_t i = 0; i < params.size(); ++i) out.push_back(values[i] ? std::move(*values[i]) : expr(params[i].default_value));
  return out;
}

Sym Elaborator::call_closure(const Sym::Closure& f, std::vector<CallArgument> arguments, Span span) {
  // Defaults are read where the function stands, so its context comes first.
  Context context;
  context.home = f.home;
  context.captured = f.captured;
  context.scopes.emplace_back();
  contexts_.push_back(std::move(context));
  std::vector<Sym> values;
  try {
    values = bind_arguments(f, arguments, span);
  } catch (...) {
    contexts_.pop_back();
    throw;
  }
  contexts_.pop_back();
  constexpr size_t most_values = 100'000;   // a recursion that puts its argument into a pair doubles it at every call
  size_t count = count_values(f, most_values);
  for (const Sym& v : values)
    if (count <= most_values) count += count_values(v, most_values - count);
  if (count > most_values)
    fail(Kind::Limit, span, fmt::format("the arguments of {} are tuples and records of more than {} values", title(*f.code), most_values), "many values of one type belong into an array");
  std::string key = signatures(values, *this) + identity(f);   // the same code with other functions captured is another function
  for (size_t i = 0; i < active_.size(); ++i) {
    if (active_[i].code != f.code.get() || active_[i].signature != key) continue;
    if (!active_[i].cell) throw RecursionFound{i};   // its call starts again, as a function of its own
    return recursive_call(*active_[i].cell, f, values);
  }
  size_t depth = active_.size(), contexts = contexts_.size();
  Frame* frame = frame_;
  const size_t mark = builder().mark();
  if (depth > 400) fail(Kind::Limit, span, "functions call each other too deeply", "endless recursion? add a case that ends it");
  active_.push_back({f.code.get(), key, nullptr});
  try {
    Sym out = run_closure(f, values, span);
    active_.pop_back();
    return out;
  } catch (RecursionFound& found) {
    active_.resize(depth);
    contexts_.resize(contexts);
    frame_ = frame;
    frame->builder().drop_output(mark);
    if (found.depth != depth) throw;
    return outlined(f, key, values, span);
  } catch (Failure& failure) {
    active_.resize(depth);
    contexts_.resize(contexts);
    frame_ = frame;
    if (!f.library() && !f.code->name.empty()) failure.first().frames.push_back({span, f.code->name});
    if (f.library()) failure.first().span = span;   // the place in stdlib/ says nothing to the caller
    throw;
  } catch (...) {
    active_.resize(depth);
    contexts_.resize(contexts);
    frame_ = frame;
    throw;
  }
}

Sym Elaborator::run_closure(const Sym::Closure& f, std::vector<Sym>& values, Span) {
  Context context;
  context.home = f.home;
  context.captured = f.captured;
  if (!f.code->name.empty()) context.captured.push_back({f.code->name, f});
  context.scopes.emplace_back();
  contexts_.push_back(std::move(context));
  std::set<std::string> assigned;
  assigned_names(*f.code->body, assigned);
  bool returns = assigned.count(return_flag) != 0;
  if (returns) {
    declare(return_flag, bool_leaf(false));
    declare(return_value, Sym());
  }
  std::map<std::string, Dim> sizes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (f.code->params[i].type) check_parameter(f.code->params[i], values[i], sizes, *f.code);
    // The body means the same whether an argument's value happens to be known at this call or not.
    bind(f.code->params[i].pattern, values[i], false);
  }
  for (auto& [name, size] : sizes)
    if (!find_local(name)) contexts_.back().scopes.back().names[name] = {size_leaf(size), false, false, {}};
  contexts_.back().scopes.emplace_back();
  needed_ = true;
  Sym out = expr(f.code->body);
  if (returns) {
    Leaf returned = *local(return_flag).leaf();
    Sym value = local(return_value);
    if (!returned.constant) require_value(out, value);
    if (returned.constant) out = returned.constant->integer ? value : out;
    else out = conditional(returned, [&] { return value; }, [&] { return out; }, {});
  }
  if (f.code->result) {
    ast::Param result{f.code->result->span, {f.code->result->span, "the result", {}, false}, f.code->result, nullptr};
    check_parameter(result, out, sizes, *f.code);
  }
  contexts_.pop_back();
  return map_leaves<Leaf>(out, [&](const Leaf& x) { return softened(frame_->rounded(x)); });
}

void Elaborator::check_parameter(const ast::Param& p, Sym& value, std::map<std::string, Dim>& sizes, const ast::FunctionDef& f) {
  const ast::TypeExpr& type = *p.type;
  const Leaf* leaf = value.leaf();
  auto say = [&](const std::string& what) {
    error(Kind::Type, fmt::format("`{}` of {} is {}, and this is {}", parameter_title(p), title(f), what, describe(value)));
  };
  DType dtype = DType::F32;
  if (!parse_dtype(type.dtype, &dtype)) fail(Kind::Name, type.span, fmt::format("`{}` is no type", type.dtype), "the types are bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 str key");
  std::string text = type.dtype;
  if (!type.sizes.empty()) {
    text += "[";
    for (size_t i = 0; i < type.sizes.size(); ++i)
      text += (i ? ", " : "") + (type.sizes[i].ragged ? "*" : type.sizes[i].value ? std::to_string(*type.sizes[i].value) : type.sizes[i].name);
    text += "]";
  }
  if (!leaf || leaf->type.rank() != static_cast<int>(type.sizes.size())) say(text);
  if (leaf->type.dtype != dtype) {
    bool widens = leaf->untyped || (leaf->weak && leaf->type.dtype <= DType::F64 && dtype <= DType::F64 && !(is_float(leaf->type.dtype) && !is_float(dtype)));
    if (!widens) say(text);
    value = cast(*leaf, dtype);
    leaf = value.leaf();
  }
  for (size_t k = 0; k < type.sizes.size(); ++k) {
    const ast::TypeExpr::Size& s = type.sizes[k];
    const Dim& actual = leaf->type.dims[k];
    if (s.ragged != actual.is_ragged() && (s.ragged || s.value || s.name != "_")) say(text);
    if (s.ragged || actual.is_ragged()) continue;
    if (s.value) require_equal(actual, Dim(*s.value), fmt::format("axis {} of `{}` is {{left}}, and {} says {{right}}", k, parameter_title(p), title(f)));
    else if (s.name != "_") {
      auto [at, added] = sizes.emplace(s.name, actual);
      if (!added) require_equal(at->second, actual, fmt::format("{} is {{left}}, but {{right}} in `{}`", s.name, parameter_title(p)), fmt::format("{} uses one name for both sizes", title(f)));
    }
  }
}

// ---- recursion ----
/// A function that calls itself: its own Function, entered by `call`. Its result type is found by repetition: a first
/// round takes the paths that do not recurse.
Sym Elaborator::outlined(const Sym::Closure& f, const std::string& key, std::vector<Sym>& values, Span span) {
  auto cell = std::make_shared<RecursiveCell>();
  for (int round = 0;; ++round) {
    if (round > 6) fail(Kind::Type, span, fmt::format("the result type of {} does not settle", title(*f.code)));
    Frame body(f.code->name, frame_, true);
    Frame* outer = frame_;
    auto inside = [&](const Leaf& x) {
      Type type = x.type;
      for (Dim& d : type.dims)
        if (!d.is_ragged()) d = Dim::symbol("n");
      return body.param(type, x.weak);
    };
    std::vector<Sym> parameters;
    for (const Sym& v : values) parameters.push_back(map_leaves<Leaf>(v, inside));
    Sym::Closure inner = f;
    for (auto& [name, value] : inner.captured) value = map_leaves<Leaf>(value, inside);
    active_.push_back({f.code.get(), key, cell});
    frame_ = &body;
    size_t depth = active_.size(), contexts = contexts_.size();
    auto restore = [&] {
      frame_ = outer;
      active_.resize(depth - 1);
      contexts_.resize(contexts);
    };
    Sym result;
    std::vector<ValueId> ids;
    std::vector<Leaf> leaves;
    try {
      result = run_closure(inner, parameters, span);
      collect_leaves(result, leaves);
      for (Leaf& x : leaves) ids.push_back(body.use(x));
    } catch (const Bottom&) {
      restore();
      fail(Kind::Limit, span, fmt::format("{} calls itself on every path and never returns", title(*f.code)), "add a case that ends it");
    } catch (...) {
      restore();
      throw;
    }
    restore();
    std::vector<Type> types;
    std::vector<bool> weak;
    for (Leaf& x : leaves) types.push_back(x.type), weak.push_back(x.weak);
    // Calls inside pass on the globals that the round before found.
    bool settled = cell->result.has_value() && cell->weak == weak && cell->types.size() == types.size() && cell->hidden == body.hidden;
    if (settled)
      for (size_t i = 0; i < types.size(); ++i) settled &= types[i].dtype == cell->types[i].dtype && types[i].rank() == cell->types[i].rank();
    cell->result = result;
    cell->types = types;
    cell->weak = weak;
    cell->hidden = body.hidden;
    if (!settled) continue;
    FunctionPtr function = body.finish(ids);
    cell->function = function;
    return emit_call(function, *cell, cell, values, inner.captured.size() ? &f : nullptr);
  }
}

Sym Elaborator::recursive_call(RecursiveCell& cell, const Sym::Closure& f, std::vector<Sym>& values) {
  if (!cell.result) throw Bottom{};
  return emit_call(nullptr, cell, cell.shared_from_this(), values, &f);
}

/// `function` null: a call from inside, which finds its function when run.
Sym Elaborator::emit_call(FunctionPtr function, RecursiveCell& cell, std::shared_ptr<RecursiveCell> shared, std::vector<Sym>& values,
                          const Sym::Closure* f) {
  std::vector<Leaf> leaves;
  for (const Sym& v : values) collect_leaves(v, leaves);
  if (f)
    for (auto& [name, value] : f->captured) collect_leaves(value, leaves);
  std::vector<ValueId> inputs;
  for (const Leaf& x : leaves) inputs.push_back(use(x));
  for (const Frame::Hidden& h : cell.hidden) inputs.push_back(frame_->carry(hidden_leaf(h), span_));
  // Sizes of the results are this call's own names.
  std::vector<Dim> defines;
  std::vector<Type> types = cell.types;
  for (Type& t : types)
    for (Dim& d : t.dims)
      if (!d.constant()) defines.push_back(d = Dim::symbol("s"));
  shared->results = cell.types;
  Attrs attrs{{"recursive", std::shared_ptr<const void>(std::shared_ptr<const RecursiveCallee>(shared))}, {"defines", defines}};
  std::vector<ValueId> ids = builder().emit_many(call_op, inputs, attrs, span_, function ? std::vector<FunctionPtr>{function} : std::vector<FunctionPtr>{});
  size_t at = 0;
  return map_leaves<Leaf>(*cell.result, [&](const Leaf& x) { return frame_->result(ids[at++], x.weak); });
}

Leaf Elaborator::hidden_leaf(const Frame::Hidden& h) {
  std::vector<Leaf> leaves;
  collect_leaves(import_value(h.name, *environment_.global(h.name)), leaves);
  return leaves[h.leaf];
}

// ---- builtins ----
Sym Elaborator::call_builtin(const BuiltinDef& def, std::vector<CallArgument> arguments, Span span) {
  if (uses_files(def) && !environment_.may_read_files())
    fail_bound(Kind::Io, Bound::Denied, span, fmt::format("`{}`: this program may not use files", def.name), "its host has to grant TCT_CAP_FILES");
  const Signature signature = signature_of(def);
  const std::vector<size_t> places = match_arguments(signature, places_of(arguments), span);
  BuiltinArguments values(signature.parameters.size());
  for (size_t i = 0; i < values.size(); ++i)
    if (signature.parameters[i].rest) values[i] = Sym::Tuple{};
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::optional<Sym>& value = values[places[i]];
    if (signature.parameters[places[i]].rest && arguments[i].name.empty()) value->as<Sym::Tuple>()->elements.push_back(std::move(arguments[i].value));
    else value = std::move(arguments[i].value);
  }
  if (!def.op) return def.lower(*this, values);
  std::vector<Leaf> leaves;
  for (auto& v : values) {
    if (v->leaf() || v->as<Sym::Range>()) leaves.push_back(array(*v, def.name));
    else if (values.size() == 1)   // a tree: leaf by leaf
      return map_leaves<Leaf>(*v, [&](const Leaf& x) { return elementwise(*def.op, {&x, 1}, std::get<Public>(def.op->surface).promotion); });
    else leaves.push_back(array(*v, def.name));
  }
  return elementwise(*def.op, leaves, std::get<Public>(def.op->surface).promotion);
}

}  // namespace tercet
