#include "interpreter/elaborate/free_names.h"

#include "base/diagnostic.h"
#include "interpreter/elaborate/syntax_walk.h"

namespace tercet {
namespace {

/// Every name read anywhere inside, inner functions included. Names bound inside are not taken out: capturing a local
/// of the same name that is never read costs nothing.
void read_names(const ast::Expr& e, std::set<std::string>& out);

void read_names(const ast::FunctionDef& f, std::set<std::string>& out) {
  for (const ast::Param& p : f.params)
    if (p.default_value) read_names(*p.default_value, out);
  read_names(*f.body, out);
}

void read_names(const ast::Stmt& s, std::set<std::string>& out) {
  check_stack(s.span);
  expressions(s, [&](const ast::Expr& e) { read_names(e, out); });
  if (auto* n = s.as<ast::FunctionStmt>()) read_names(*n->function, out);
}

void read_names(const ast::Expr& e, std::set<std::string>& out) {
  check_stack(e.span);
  if (auto* n = e.as<ast::Name>()) out.insert(n->name);
  if (auto* n = e.as<ast::Lambda>()) read_names(*n->function, out);
  if (auto* n = e.as<ast::Call>())   // x.f() may mean f(x)
    if (auto* m = n->callee->as<ast::Member>()) out.insert(m->name);
  children(e, [&](const ast::Expr& c) { read_names(c, out); }, [&](const ast::Stmt& c) { read_names(c, out); });
}

void pattern_names(const ast::Pattern& p, std::set<std::string>& out) {
  if (!p.is_tuple) out.insert(p.name);
  for (const ast::Pattern& e : p.elements) pattern_names(e, out);
}

const std::string* root_name(const ast::Expr& target) {
  if (auto* n = target.as<ast::Name>()) return &n->name;
  if (auto* n = target.as<ast::Index>()) return root_name(*n->base);
  if (auto* n = target.as<ast::Member>()) return root_name(*n->base);
  return nullptr;
}

}  // namespace

void free_names(const ast::FunctionDef& f, std::set<std::string>& out) {
  std::set<std::string> own;
  for (const ast::Param& p : f.params) pattern_names(p.pattern, own);
  std::set<std::string> read;
  read_names(f, read);
  for (const std::string& n : read)
    if (!own.count(n)) out.insert(n);
}

void assigned_names(const ast::Stmt& s, std::set<std::string>& out) {
  check_stack(s.span);
  if (auto* n = s.as<ast::Assign>())
    if (const std::string* root = root_name(*n->target)) out.insert(*root);
  if (s.as<ast::Break>()) out.insert(break_flag);
  if (s.as<ast::Continue>()) out.insert(continue_flag);
  if (s.as<ast::Return>()) out.insert({return_flag, return_value});
  std::set<std::string> inside;
  expressions(s, [&](const ast::Expr& e) { assigned_names(e, inside); });
  if (s.as<ast::For>() || s.as<ast::While>()) {   // its own
    inside.erase(break_flag);
    inside.erase(continue_flag);
  }
  out.insert(inside.begin(), inside.end());
}

void assigned_names(const ast::Expr& e, std::set<std::string>& out) {
  check_stack(e.span);
  if (e.as<ast::Lambda>()) return;
  children(e, [&](const ast::Expr& c) { assigned_names(c, out); }, [&](const ast::Stmt& c) { assigned_names(c, out); });
}

}  // namespace tercet
