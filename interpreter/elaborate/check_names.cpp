#include "interpreter/elaborate/check_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "interpreter/elaborate/syntax_walk.h"

namespace tercet {
namespace {

class Checker {
 public:
  using Signatures = std::function<std::optional<Signature>(const std::string&)>;
  Checker(const std::function<bool(const std::string&)>& known, std::vector<std::string> candidates, const ModuleNames& modules, const Signatures& signature)
      : known_(known), candidates_(std::move(candidates)), modules_(modules), signature_(signature) {}
  std::vector<Diagnostic> found;

  void program(const ast::Program& p) {
    for (const ast::StmtPtr& s : p.statements) bound_by(*s, later_), note_function(*s);
    scopes_.emplace_back();
    for (const ast::StmtPtr& s : p.statements) statement(*s);
  }

  static void bound_by(const ast::Stmt& s, std::set<std::string>& out) {
    if (auto* n = s.as<ast::Let>()) names_of(n->pattern, out);
    if (auto* n = s.as<ast::FunctionStmt>()) out.insert(n->function->name);
    if (auto* n = s.as<ast::Import>()) out.insert(n->bound_name());
  }

 private:
  static void names_of(const ast::Pattern& p, std::set<std::string>& out) {
    if (!p.is_tuple) out.insert(p.name);
    for (const ast::Pattern& e : p.elements) names_of(e, out);
  }
  void read(const std::string& name, Span span) {
    for (const auto& scope : scopes_)
      if (scope.count(name)) return;
    if (known_(name) || (inside_function_ && later_.count(name))) return;
    Diagnostic d;
    d.kind = Kind::Name;
    d.span = span;
    d.message = fmt::format("`{}` is not defined", name);
    std::vector<std::string> all = candidates_;
    for (const auto& scope : scopes_) all.insert(all.end(), scope.begin(), scope.end());
    std::string near = closest_name(name, all);
    if (!near.empty()) d.help = fmt::format("did you mean `{}`?", near);
    found.push_back(std::move(d));
  }

  /// `m.name`, where m is what an import binds.
  void member(const ast::Member& m) {
    auto* base = m.base->as<ast::Name>();
    auto module = base ? modules_.find(base->name) : modules_.end();
    if (module == modules_.end()) return;
    for (size_t i = 1; i < scopes_.size(); ++i)
      if (scopes_[i].count(base->name)) return;
    const std::vector<std::string>& names = module->second;
    if (std::find(names.begin(), names.end(), m.name) != names.end()) return;
    found.push_back(no_member(names, m.name, m.name_span));
  }

  /// Functions that the file binds once, and without a transform that changes what they take.
  void note_function(const ast::Stmt& s) {
    std::set<std::string> names;
    bound_by(s, names);
    for (const std::string& n : names) {
      auto* f = s.as<ast::FunctionStmt>();
      auto [at, fresh] = functions_.try_emplace(n, std::nullopt);
      if (fresh && f && f->transforms.empty()) at->second = signature_of(*f->function);
      else at->second.reset();
    }
  }

  /// What the callee of `f(…)` or `x.f(…)` takes, where that is certain.
  std::optional<Signature> callee(const std::string& name) const {
    for (size_t i = 1; i < scopes_.size(); ++i)
      if (scopes_[i].count(name)) return std::nullopt;
    if (auto own = functions_.find(name); own != functions_.end()) return own->second;
    return signature_(name);
  }

  /// `piped`: what stands before |> is the first argument.
  void call(const ast::Call& c, Span span, bool piped) {
    std::vector<ArgumentPlace> arguments(piped ? 1 : 0);
    std::optional<Signature> takes;
    if (auto* n = c.callee->as<ast::Name>()) takes = callee(n->name);
    if (!takes) return;
    for (const ast::Argument& a : c.arguments) arguments.push_back({a.name, a.span});
    try {
      match_arguments(*takes, arguments, span);
    } catch (const Failure& failure) {
      found.insert(found.end(), failure.diagnostics().begin(), failure.diagnostics().end());
    }
  }

  void pipe(const ast::Pipe& p) {
    expr(*p.first);
    for (size_t i = 0; i < p.stages.size(); ++i) {
      auto* c = p.stages[i]->as<ast::Call>();
      piped_ = c && !p.whole[i] && !c->callee->as<ast::Transform>();
      expr(*p.stages[i]);
    }
  }

  void maybe(const ast::ExprPtr& e) { if (e) expr(*e); }
  void scoped(const ast::Pattern& p, const ast::ExprPtr& a, const ast::ExprPtr& b) {
    scopes_.emplace_back();
    names_of(p, scopes_.back());
    maybe(a);
    maybe(b);
    scopes_.pop_back();
  }

  void function(const ast::FunctionDef& f) {
    bool outer = std::exchange(inside_function_, true);   // defaults are read at the call too
    for (const ast::Param& p : f.params) maybe(p.default_value);
    scopes_.emplace_back();
    if (!f.name.empty()) scopes_.back().insert(f.name);
    auto sizes = [&](const std::optional<ast::TypeExpr>& t) {
      if (t) for (const auto& s : t->sizes) if (!s.name.empty()) scopes_.back().insert(s.name);
    };
    for (const ast::Param& p : f.params) names_of(p.pattern, scopes_.back()), sizes(p.type);
    sizes(f.result);
    expr(*f.body);
    inside_function_ = outer;
    scopes_.pop_back();
  }

  void statement(const ast::Stmt& s) {
    check_stack(s.span);
    if (auto* n = s.as<ast::FunctionStmt>()) {
      bound_by(s, scopes_.back());
      function(*n->function);
    } else if (auto* n = s.as<ast::For>()) {
      maybe(n->source);
      scoped(n->pattern, n->body, nullptr);
    } else {
      expressions(s, [&](const ast::Expr& c) { expr(c); });
    }
    bound_by(s, scopes_.back());
  }

  void expr(const ast::Expr& e) {
    check_stack(e.span);
    // What binds names has a scope of its own; a transform's brackets hold names of parameters.
    if (auto* n = e.as<ast::Name>()) read(n->name, e.span);
    else if (auto* n = e.as<ast::Lambda>()) function(*n->function);
    else if (auto* n = e.as<ast::Comprehension>()) maybe(n->source), scoped(n->pattern, n->filter, n->body);
    else if (auto* n = e.as<ast::Transform>()) maybe(n->operand);
    else {
      if (auto* n = e.as<ast::Member>()) member(*n);
      if (auto* n = e.as<ast::Call>()) call(*n, e.span, std::exchange(piped_, false));
      if (auto* n = e.as<ast::Pipe>()) return pipe(*n);
      scopes_.emplace_back();   // of a block; other nodes bind nothing
      children(e, [&](const ast::Expr& c) { expr(c); }, [&](const ast::Stmt& c) { statement(c); });
      scopes_.pop_back();
    }
  }

  const std::function<bool(const std::string&)>& known_;
  std::vector<std::string> candidates_;
  const ModuleNames& modules_;
  const Signatures& signature_;
  std::map<std::string, std::optional<Signature>> functions_;
  std::vector<std::set<std::string>> scopes_;
  std::set<std::string> later_;
  bool inside_function_ = false;
  bool piped_ = false;                 // the call that is read next gets a piped value
};

}  // namespace

Diagnostic no_member(const std::vector<std::string>& names, const std::string& name, Span span) {
  Diagnostic d;
  d.kind = Kind::Name;
  d.span = span;
  d.message = fmt::format("the module has no name `{}`", name);
  std::string near = closest_name(name, names);
  if (!near.empty()) d.help = fmt::format("did you mean `{}`?", near);
  else if (names.size() <= 20) d.help = names.empty() ? "it binds no names" : fmt::format("its names are {}", fmt::join(names, ", "));
  return d;
}

std::vector<std::string> bound_names(const ast::Stmt& statement) {
  std::set<std::string> out;
  Checker::bound_by(statement, out);
  return {out.begin(), out.end()};
}

std::vector<std::string> bound_names(const ast::Program& program) {
  std::set<std::string> out;
  for (const ast::StmtPtr& s : program.statements) Checker::bound_by(*s, out);
  return {out.begin(), out.end()};
}

std::vector<Diagnostic> check_names(const ast::Program& program, const std::function<bool(const std::string&)>& known,
                                    const std::vector<std::string>& candidates, const ModuleNames& modules,
                                    const std::function<std::optional<Signature>(const std::string&)>& signature) {
  Checker checker(known, candidates, modules, signature);
  checker.program(program);
  return std::move(checker.found);
}

}  // namespace tercet
