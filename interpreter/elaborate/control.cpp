// Blocks, statements, bindings, assignment, `if`; leaving early is a hidden flag that guards what comes after it.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/elaborate/free_names.h"
#include "interpreter/elaborate/joining.h"
#include "interpreter/ops/rows.h"

namespace tercet {

// ---- bindings ----
void Elaborator::declare(const std::string& name, const Sym& value) {
  contexts_.back().scopes.back().names[name] = {value, true, false, span_};
}

Sym Elaborator::local(const std::string& name) {
  Binding* b = find_local(name);
  TERCET_CHECK(b);
  return b->value;
}

void Elaborator::set_local(const std::string& name, const Sym& value) {
  Binding* b = find_local(name);
  TERCET_CHECK(b);
  b->value = value;
  Context& c = contexts_.back();
  if (c.top_level && c.scopes[0].names.count(name) && b == &c.scopes[0].names[name]) written_.insert(name);
}

std::vector<std::string> Elaborator::assigned_locals(const std::set<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& n : names) {
    Context& c = contexts_.back();
    if (!find_local(n) && c.top_level && environment_.global(here(n)) && environment_.is_var(here(n)))
      c.scopes[0].names[n] = {*global(n), true, false, span_};   // a global that the statement may change
    if (find_local(n)) out.push_back(n);
  }
  return out;
}

void Elaborator::bind(const ast::Pattern& pattern, const Sym& value, bool is_var) {
  if (!pattern.is_tuple) {
    if (pattern.name == "_") return;
    Context& c = contexts_.back();
    c.scopes.back().names[pattern.name] = {map_leaves<Leaf>(value, softened), is_var, false, pattern.span};
    if (c.top_level && c.scopes.size() == 1) written_.insert(pattern.name);
    return;
  }
  SpanScope at(*this, pattern.span);
  size_t n = pattern.elements.size();
  if (auto* t = value.as<Sym::Tuple>()) {
    if (t->elements.size() != n)
      error(Kind::Type, fmt::format("the pattern has {} parts, and the tuple has {}", n, t->elements.size()));
    for (size_t i = 0; i < n; ++i) bind(pattern.elements[i], t->elements[i], is_var);
    return;
  }
  const Leaf* x = value.leaf();
  if (!x || x->type.rank() == 0) error(Kind::Type, fmt::format("the pattern takes a tuple of {}, and this is {}", n, describe(value)));
  require_equal(x->type.dims[0], Dim(static_cast<int64_t>(n)), fmt::format("the pattern has {} parts, and the array has {{left}} rows", n));
  for (size_t i = 0; i < n; ++i) bind(pattern.elements[i], slice_rows(*x, Dim(static_cast<int64_t>(i)), Dim(-1)), is_var);
}

void Elaborator::let(const ast::Let& s) { bind(s.pattern, expr(s.value), s.is_var); }

// ---- assignment ----
namespace {

/// The targets from the root outwards: x[i].a is {x, x[i], x[i].a}.
std::vector<const ast::Expr*> target_path(const ast::Expr& target) {
  std::vector<const ast::Expr*> path{&target};
  for (const ast::Expr* e = &target;;) {
    if (auto* i = e->as<ast::Index>()) e = i->base.get();
    else if (auto* m = e->as<ast::Member>()) e = m->base.get();
    else break;
    path.insert(path.begin(), e);
  }
  return path;
}

}  // namespace

void Elaborator::assign(const ast::Assign& s) {
  std::vector<const ast::Expr*> path = target_path(*s.target);
  auto* root = path[0]->as<ast::Name>();
  SpanScope at(*this, path[0]->span);
  if (!root) error(Kind::Syntax, "only a name, x[i] or r.field can be assigned to");
  std::vector<std::string> found = assigned_locals({root->name});
  if (found.empty()) {
    if (environment_.global(here(root->name)))
      error(Kind::Name, contexts_.back().top_level ? fmt::format("`{}` was bound by let and does not change", root->name)
                                                   : fmt::format("`{}` is a global, and a function does not assign to it", root->name),
            contexts_.back().top_level ? fmt::format("declare it with `var {} = …`", root->name) : "return the new value instead");
    if (find_captured(root->name))
      error(Kind::Name, fmt::format("`{}` was captured from the enclosing function and does not change here", root->name), "copy it first: var y = " + root->name);
    if (path.size() == 1) error(Kind::Name, fmt::format("`{}` is not defined", root->name), fmt::format("declare it: `let {0} = …`, or `var {0} = …` to change it later", root->name));
    unknown_name(root->name, path[0]->span);
  }
  Binding* b = find_local(root->name);
  if (!is_inside_comprehension(root->name))
    error(Kind::Name, fmt::format("`{}` is bound outside of this comprehension and does not change here", root->name), "write a loop: for x in xs { … }");
  if (auto& first = contexts_.back().scopes[0].names; !b->is_var && !contexts_.back().top_level && first.count(root->name) && b == &first[root->name])
    error(Kind::Name, fmt::format("`{}` is a parameter and does not change", root->name), fmt::format("copy it first: var y = {}", root->name));
  if (!b->is_var) error(Kind::Name, fmt::format("`{}` was bound by let and does not change", root->name), fmt::format("declare it with `var {} = …`", root->name));
  if (b->captured) error(Kind::Name, fmt::format("`{}` is assigned after a function captured it", root->name), "a function keeps the value it captured; bind a new name");
  Sym value = assigned(b->value, std::span(path).subspan(1), s);
  set_local(root->name, value);
}

Sym Elaborator::assigned(const Sym& old, std::span<const ast::Expr* const> path, const ast::Assign& s) {
  if (path.empty()) {
    Sym value = expr(s.value);
    SpanScope at(*this, s.target->span.joined(s.value->span));
    if (!s.op) return value;
    return binary_tree(*s.op, old, value);
  }
  if (auto* m = path[0]->as<ast::Member>()) {
    auto* record = old.as<Sym::Record>();
    SpanScope at(*this, m->name_span);
    if (!record) error(Kind::Type, fmt::format("{} has no field `{}`", describe(old), m->name));
    Sym::Record out = *record;
    for (size_t i = 0; i < out.names.size(); ++i)
      if (out.names[i] == m->name) {
        out.values[i] = assigned(out.values[i], path.subspan(1), s);
        return out;
      }
    error(Kind::Name, fmt::format("{} has no field `{}`", describe(old), m->name), "a record gets a new field by (..r, " + m->name + "=…)");
  }
  auto& node = *path[0]->as<ast::Index>();
  const Leaf* x = old.leaf();
  if (!x) error(Kind::Type, fmt::format("only arrays are assigned to by index, and this is {}", describe(old)), old.as<Sym::Tuple>() ? "a tuple does not change; make a new one" : "");
  if (path.size() > 1) {   // x[i][j] = v, x[i].a = v
    Sym inner = assigned(read_index(*x, node.items), path.subspan(1), s);
    return write_index(*x, node.items, array(inner, "an assignment"), std::nullopt);
  }
  Sym value = expr(s.value);
  SpanScope at(*this, s.target->span.joined(s.value->span));
  return write_index(*x, node.items, array(value, "an assignment"), s.op);
}

// ---- blocks and statements ----
Sym Elaborator::block(const ast::Expr& e, bool needed) {
  contexts_.back().scopes.emplace_back();
  Sym value = statements(e.as<ast::Block>()->statements, needed);
  contexts_.back().scopes.pop_back();
  return value;
}

Leaf Elaborator::left_early() {
  Leaf any = bool_leaf(false);
  for (const char* flag : {break_flag, continue_flag, return_flag}) {
    Binding* b = find_local(flag);
    if (!b) continue;
    const Leaf& f = *b->value.leaf();
    if (f.constant) {
      if (f.constant->integer) return bool_leaf(true);
      continue;
    }
    any = any.constant ? f : emit(bit_or_op, {use(any), use(f)});
  }
  return any;
}

void Elaborator::nothing_left_early() {
  for (const char* flag : {break_flag, continue_flag, return_flag})
    if (find_local(flag)) set_local(flag, bool_leaf(false));
}

Sym Elaborator::statements(std::span<const ast::StmtPtr> list, bool needed) {
  for (size_t i = 0; i < list.size(); ++i) {
    bool last = i + 1 == list.size();
    Sym value = execute(*list[i], needed && last);
    if (last) return needed ? value : Sym::unit();
    Leaf early = left_early();
    if (early.constant && early.constant->integer) return Sym::unit();
    if (early.constant) continue;
    // What follows happens only where nothing was left early.
    std::set<std::string> names;
    for (size_t k = i + 1; k < list.size(); ++k) assigned_names(*list[k], names);
    names.insert({break_flag, continue_flag, return_flag});
    auto rest = [&] {
      nothing_left_early();
      return statements(list.subspan(i + 1), needed);
    };
    if (!needed) return conditional(early, [] { return Sym::unit(); }, rest, assigned_locals(names));
    if (!find_local(return_flag)) error(Kind::Unsupported, "leaving a loop inside a block whose value is used", "bind the value in both cases first");
    finish_function(early, rest, names);
    return Sym::unit();
  }
  return Sym::unit();
}

/// A function that returns a value somewhere gives one on every path.
void Elaborator::require_value(const Sym& last, const Sym& returned) {
  auto* nothing = last.as<Sym::Tuple>();
  auto* also_nothing = returned.as<Sym::Tuple>();
  if (nothing && nothing->elements.empty() && !(also_nothing && also_nothing->elements.empty()))
    error(Kind::Type, "this function may end without a value", "put a value last, or return one on every path");
}

/// The function may have returned already: the value of what is left joins the returned one, so that afterwards the
/// function has returned on every path.
void Elaborator::finish_function(const Leaf& early, const std::function<Sym()>& rest, std::set<std::string> names) {
  names.insert({return_flag, return_value});
  auto fall_through = [&] {
    Sym value = rest();
    Leaf returned = left_early();
    if (returned.constant && returned.constant->integer) return Sym::unit();
    Sym before = returned.constant ? value : local(return_value);
    require_value(value, before);
    set_local(return_value, conditional(returned, [&] { return before; }, [&] { return value; }, {}));
    return Sym::unit();
  };
  conditional(early, [] { return Sym::unit(); }, fall_through, assigned_locals(names));
  set_local(return_flag, bool_leaf(true));
}

Sym Elaborator::execute(const ast::Stmt& s, bool needed) {
  SpanScope at(*this, s.span);
  if (auto* n = s.as<ast::ExprStmt>()) {
    needed_ = needed;
    return expr(n->value);
  }
  if (auto* n = s.as<ast::Let>()) let(*n);
  else if (auto* n = s.as<ast::Assign>()) assign(*n);
  else if (auto* n = s.as<ast::For>()) for_loop(*n);
  else if (auto* n = s.as<ast::While>()) while_loop(*n);
  else if (auto* n = s.as<ast::FunctionStmt>()) {
    Sym f = lambda(n->function);
    for (size_t i = n->transforms.size(); i-- > 0;)
      f = Sym::Transformed{std::make_shared<const TransformSpec>(read_spec(n->transforms[i])), std::make_shared<const Sym>(f)};
    ast::Pattern pattern{n->function->name_span, n->function->name, {}, false};
    bind(pattern, f, false);
  } else if (s.as<ast::Break>() || s.as<ast::Continue>()) {
    const char* flag = s.as<ast::Break>() ? break_flag : continue_flag;
    if (!find_local(flag)) error(Kind::Syntax, s.as<ast::Break>() ? "`break` outside a loop" : "`continue` outside a loop");
    set_local(flag, bool_leaf(true));
  } else if (auto* n = s.as<ast::Return>()) {
    if (!find_local(return_flag)) error(Kind::Syntax, "`return` outside a function");
    if (contexts_.back().comprehension) error(Kind::Unsupported, "`return` inside a comprehension", "write a loop: for x in xs { … }");
    set_local(return_value, n->value ? expr(n->value) : Sym::unit());
    set_local(return_flag, bool_leaf(true));
  } else if (s.as<ast::Import>()) {   // the session runs those of a file
    error(Kind::Syntax, "`import` inside a block or a function", "it stands at the top of a file, outside of every block");
  }
  return Sym::unit();
}

// ---- if ----
Sym Elaborator::if_expression(const ast::If& n, bool needed) {
  Sym condition = expr(n.condition);
  Leaf c;
  {
    SpanScope at(*this, n.condition->span);
    c = truth(condition, "`if`");
  }
  std::set<std::string> names;
  assigned_names(*n.then_branch, names);
  if (n.else_branch) assigned_names(*n.else_branch, names);
  bool value = needed && n.else_branch;
  auto branch = [&](const ast::ExprPtr& b) {
    if (!b) return Sym::unit();
    needed_ = value;   // for the expression that is read next, so only where there is one
    Sym out = expr(b);
    return value ? out : Sym::unit();
  };
  return conditional(c, [&] { return branch(n.then_branch); }, [&] { return branch(n.else_branch); }, assigned_locals(names));
}

Sym Elaborator::conditional(const Leaf& condition, const std::function<Sym()>& yes, const std::function<Sym()>& no,
                            const std::vector<std::string>& assigned) {
  if (condition.constant && condition.constant->soft) {
    // Both branches decide the types; where they do not go together, the value known here decides.
    Marks marks = mark(assigned);
    try {
      return branches(condition, yes, no, assigned);
    } catch (const Failure&) {
      restore(marks, assigned);
    } catch (const StaticNeeded&) {
      restore(marks, assigned);
    }
  }
  if (condition.constant) return condition.constant->integer ? yes() : no();
  try {
    return branches(condition, yes, no, assigned);
  } catch (const Failure& failure) {
    // An argument that decides a type: compiled per value.
    const Diagnostic& d = failure.diagnostics()[0];
    if (d.kind == Kind::Type) require_static(condition, d.message, d.span);
    throw;
  }
}

Elaborator::Marks Elaborator::mark(const std::vector<std::string>& names) {
  Marks out{frame_, contexts_.size(), contexts_.back().scopes.size(), active_.size(), {}};
  for (const std::string& n : names) out.values.push_back(local(n));
  return out;
}

void Elaborator::restore(const Marks& marks, const std::vector<std::string>& names) {
  frame_ = marks.frame;
  contexts_.resize(marks.contexts);
  contexts_.back().scopes.resize(marks.scopes);
  active_.resize(marks.active);
  for (size_t i = 0; i < names.size(); ++i) set_local(names[i], marks.values[i]);
}

/// Values of the same types, for the rounds in which a recursive function's types are found: nothing of them runs.
Sym Elaborator::stand_in(const Sym& value) {
  Frame* home = frame_;
  while (!home->isolated()) home = home->parent();
  return map_leaves<Leaf>(value, [&](const Leaf& x) {
    if (x.constant) return x;
    Type type = x.type;
    for (Dim& d : type.dims)
      if (!d.is_ragged() && !d.constant()) d = Dim::symbol("n");
    return home->param(type, x.weak);
  });
}

Sym Elaborator::branches(const Leaf& condition, const std::function<Sym()>& yes, const std::function<Sym()>& no,
                         const std::vector<std::string>& assigned) {
  Frame* outer = frame_;
  std::vector<Sym> before;
  for (const std::string& n : assigned) before.push_back(local(n));
  // One branch: its value and the locals as it leaves them; empty when it never ends (endless recursion).
  auto run = [&](Frame& frame, const std::function<Sym()>& branch) -> std::optional<std::vector<Sym>> {
    frame_ = &frame;
    UncertainScope uncertain(*this);
    size_t scopes = contexts_.back().scopes.size(), contexts = contexts_.size();
    std::optional<std::vector<Sym>> out(std::in_place);
    try {
      out->push_back(branch());
      for (const std::string& n : assigned) out->push_back(local(n));
    } catch (const Bottom&) {
      out.reset();
      contexts_.resize(contexts);
      contexts_.back().scopes.resize(scopes);
    } catch (...) {
      frame_ = outer;
      throw;
    }
    frame_ = outer;
    for (size_t i = 0; i < assigned.size(); ++i) set_local(assigned[i], before[i]);
    return out;
  };
  Frame then_frame("then", outer), else_frame("else", outer);
  auto a = run(then_frame, yes), b = run(else_frame, no);
  if (!a && !b) throw Bottom{};
  if (!a || !b) {
    const std::vector<Sym>& known = a ? *a : *b;
    for (size_t i = 0; i < assigned.size(); ++i) set_local(assigned[i], stand_in(known[i + 1]));
    return stand_in(known[0]);
  }
  Joiner join(*this, then_frame, else_frame);
  std::vector<Sym> out;
  for (size_t i = 0; i < a->size(); ++i) out.push_back(join.add((*a)[i], (*b)[i], i > 0 && assigned[i - 1] == return_value));
  out = join.finish(condition, out);
  for (size_t i = 0; i < assigned.size(); ++i) set_local(assigned[i], out[i + 1]);
  return out[0];
}

}  // namespace tercet
