#include "interpreter/engine/symbols.h"

#include <fmt/format.h>

#include <utility>

#include "base/diagnostic.h"
#include "interpreter/elaborate/syntax_walk.h"
#include "interpreter/engine/echo.h"

namespace tercet {
namespace {

std::string type_of(const ast::TypeExpr& type) {
  std::string sizes;
  for (const ast::TypeExpr::Size& s : type.sizes)
    sizes += (sizes.empty() ? "" : ", ") + (s.ragged ? std::string("*") : s.value ? std::to_string(*s.value) : s.name);
  return type.dtype + (sizes.empty() ? "" : "[" + sizes + "]");
}

class Collector {
 public:
  explicit Collector(Span whole) : scope_(whole) {}
  std::vector<Symbol> out;

  void statements(const std::vector<ast::StmtPtr>& list) {
    for (const ast::StmtPtr& s : list) statement(*s);
  }

 private:
  void add(Symbol::Kind kind, const std::string& name, Span span, std::string detail, std::string doc = {}) {
    if (name != "_" && !name.empty()) out.push_back({kind, name, std::move(detail), std::move(doc), span, scope_, depth_ == 0});
  }
  void pattern(const ast::Pattern& p, const char* word) {
    if (!p.is_tuple) add(Symbol::Kind::Variable, p.name, p.span, fmt::format("{} {}", word, p.name));
    for (const ast::Pattern& e : p.elements) pattern(e, word);
  }
  /// f() with names that only `where` sees.
  template <class F> void inside(Span where, F f) {
    const Span outer = std::exchange(scope_, where);
    ++depth_;
    f();
    --depth_;
    scope_ = outer;
  }

  void function(const ast::FunctionDef& f) {
    inside(f.span.joined(f.body->span), [&] {
      for (const ast::Param& p : f.params) {
        if (p.default_value) expression(*p.default_value);
        if (p.pattern.is_tuple) pattern(p.pattern, "parameter");
        else add(Symbol::Kind::Parameter, p.pattern.name, p.pattern.span, p.type ? fmt::format("{}: {}", p.pattern.name, type_of(*p.type)) : fmt::format("parameter {}", p.pattern.name));
      }
      expression(*f.body);
    });
  }

  void statement(const ast::Stmt& s) {
    check_stack(s.span);
    if (auto* n = s.as<ast::FunctionStmt>()) {
      add(Symbol::Kind::Function, n->function->name, n->function->name_span, signature_text(*n->function), n->function->doc);
      return function(*n->function);
    }
    if (auto* n = s.as<ast::Import>()) return add(Symbol::Kind::Module, n->bound_name(), s.span, fmt::format("import {}", n->bound_name()));
    if (auto* n = s.as<ast::For>()) {
      expression(*n->source);
      return inside(s.span, [&] {
        pattern(n->pattern, "for");
        expression(*n->body);
      });
    }
    expressions(s, [&](const ast::Expr& e) { expression(e); });
    if (auto* n = s.as<ast::Let>()) pattern(n->pattern, n->is_var ? "var" : "let");
  }

  void expression(const ast::Expr& e) {
    check_stack(e.span);
    if (auto* n = e.as<ast::Lambda>()) return function(*n->function);
    if (auto* n = e.as<ast::Block>()) return inside(e.span, [&] { statements(n->statements); });
    if (auto* n = e.as<ast::Comprehension>()) {
      expression(*n->source);
      return inside(e.span, [&] {
        pattern(n->pattern, "for");
        if (n->filter) expression(*n->filter);
        expression(*n->body);
      });
    }
    children(e, [&](const ast::Expr& c) { expression(c); }, [&](const ast::Stmt& c) { statement(c); });
  }

  Span scope_;
  int depth_ = 0;
};

}  // namespace

std::vector<Symbol> symbols_of(const ast::Program& program, Span whole) {
  Collector collector(whole);
  collector.statements(program.statements);
  return std::move(collector.out);
}

}  // namespace tercet
