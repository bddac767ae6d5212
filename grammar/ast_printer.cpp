#include "grammar/ast_printer.h"

#include <fmt/format.h>

#include <utility>

namespace tercet {
namespace {

class Printer {
 public:
  std::string out;

  void program(const ast::Program& p) {
    for (const ast::StmtPtr& s : p.statements) {
      statement(*s);
      out += '\n';
    }
  }

  void expr(const ast::ExprPtr& e) {
    if (e)
      expr(*e);
    else
      out += "nil";
  }
  void expr(const ast::Expr& e) {
    std::visit([&](const auto& node) { show(node); }, e.node);
  }

 private:
  void statement(const ast::Stmt& s) {
    std::visit([&](const auto& node) { show(node); }, s.node);
  }

  void line() { out += '\n' + std::string(2 * indent_, ' '); }

  void quoted(std::string_view text) {
    out += '"';
    for (char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n')
        out += "\\n";
      else if (static_cast<unsigned char>(c) < 0x20)
        out += fmt::format("\\u{{{:x}}}", static_cast<unsigned char>(c));
      else
        out += c;
    }
    out += '"';
  }

  template <class List>
  void exprs(const List& list) {
    for (const ast::ExprPtr& e : list) {
      out += ' ';
      expr(e);
    }
  }

  void arguments(const std::vector<ast::Argument>& list) {
    for (const ast::Argument& a : list) {
      out += a.name.empty() ? " " : fmt::format(" :{} ", a.name);
      expr(a.value);
    }
  }

  void pattern(const ast::Pattern& p) {
    if (!p.is_tuple) {
      out += p.name;
      return;
    }
    out += '(';
    for (size_t i = 0; i < p.elements.size(); ++i) {
      if (i) out += ' ';
      pattern(p.elements[i]);
    }
    out += ')';
  }

  void type(const ast::TypeExpr& t) {
    out += t.dtype + "[";
    for (size_t i = 0; i < t.sizes.size(); ++i) {
      const ast::TypeExpr::Size& s = t.sizes[i];
      out += i ? " " : "";
      out += s.ragged ? "*" : s.value ? fmt::format("{}", *s.value) : s.name;
    }
    out += ']';
  }

  void function(const ast::FunctionDef& f) {
    out += '(';
    for (size_t i = 0; i < f.params.size(); ++i) {
      const ast::Param& p = f.params[i];
      out += i ? " " : "";
      bool plain = !p.type && !p.default_value;
      out += plain ? "" : "(";
      pattern(p.pattern);
      if (p.type) out += " : ", type(*p.type);
      if (p.default_value) out += " = ", expr(p.default_value);
      out += plain ? "" : ")";
    }
    out += ')';
    if (f.result) out += " -> ", type(*f.result);
    ++indent_;
    f.body->as<ast::Block>() ? line() : void(out += ' ');
    expr(f.body);
    --indent_;
  }

  void transform_head(const ast::Transform& t) {
    out += fmt::format("({}", ast::spelling(t.kind));
    if (!t.specs.empty()) {
      out += " [";
      std::string saved = std::exchange(out, {});
      arguments(t.specs);
      std::string specs = std::exchange(out, std::move(saved));
      out += specs.substr(1) + "]";
    }
  }

  // ---- expressions ----
  void show(const ast::Name& n) { out += n.name; }
  void show(const ast::IntLiteral& n) { out += fmt::format("{}{}{}", n.negative ? "-" : "", n.magnitude, n.suffix); }
  void show(const ast::FloatLiteral& n) {
    std::string text = fmt::format("{}", n.value);
    out += text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    out += n.suffix;
  }
  void show(const ast::BoolLiteral& b) { out += b.value ? "true" : "false"; }
  void show(const ast::StringLiteral& s) { quoted(s.value); }
  void show(const ast::NoneLiteral&) { out += "none"; }
  void show(const ast::Placeholder&) { out += "_"; }
  void show(const ast::FString& f) {
    out += "(format";
    for (const ast::FString::Part& p : f.parts) {
      out += ' ';
      if (!p.hole)
        quoted(p.text);
      else if (p.format.empty())
        expr(p.hole);
      else
        out += "(as ", quoted(p.format), out += ' ', expr(p.hole), out += ')';
    }
    out += ')';
  }
  void show(const ast::Tuple& t) { out += "(tuple", exprs(t.elements), out += ')'; }
  void show(const ast::Record& r) {
    out += "(record";
    if (r.base) out += " .. ", expr(r.base);
    for (const ast::RecordField& f : r.fields) out += fmt::format(" :{} ", f.name), expr(f.value);
    out += ')';
  }
  void show(const ast::ArrayLiteral& a) { out += "(array", exprs(a.elements), out += ')'; }
  void show(const ast::Comprehension& c) {
    out += "(collect ", expr(c.body), out += " for ", pattern(c.pattern), out += " in ", expr(c.source);
    if (c.filter) out += " if ", expr(c.filter);
    out += ')';
  }
  void show(const ast::Block& b) {
    out += "(block";
    ++indent_;
    for (const ast::StmtPtr& s : b.statements) line(), statement(*s);
    --indent_;
    out += ')';
  }
  void show(const ast::If& i) {
    out += "(if ", expr(i.condition);
    ++indent_;
    line(), expr(i.then_branch);
    if (i.else_branch) line(), expr(i.else_branch);
    --indent_;
    out += ')';
  }
  void show(const ast::Lambda& l) { out += "(lambda ", function(*l.function), out += ')'; }
  void show(const ast::Range& r) { out += "(range ", expr(r.low), out += ' ', expr(r.high), out += ')'; }
  void show(const ast::Chain& c) {
    bool one_operator = true;
    for (const auto& link : c.links) one_operator &= link.op == c.links[0].op;
    out += one_operator ? fmt::format("({} ", ast::spelling(c.links[0].op)) : "(chain ";
    expr(c.first);
    for (const auto& link : c.links) {
      out += one_operator ? " " : fmt::format(" {} ", ast::spelling(link.op));
      expr(link.operand);
    }
    out += ')';
  }
  void show(const ast::Unary& u) {
    const char* name = u.op == ast::UnaryOp::Negate ? "neg" : u.op == ast::UnaryOp::Plus ? "pos" : ast::spelling(u.op);
    out += fmt::format("({} ", name), expr(u.operand), out += ')';
  }
  void show(const ast::Call& c) { out += "(call ", expr(c.callee), arguments(c.arguments), out += ')'; }
  void show(const ast::Pipe& p) { out += "(|> ", expr(p.first), exprs(p.stages), out += ')'; }
  void show(const ast::Index& i) {
    out += "(index ", expr(i.base);
    for (const ast::IndexItem& item : i.items) out += ' ', index_item(item);
    out += ')';
  }
  void index_item(const ast::IndexItem& item) {
    using Form = ast::IndexItem::Form;
    if (item.form == Form::Ellipsis) out += "...";
    if (item.form == Form::NewAxis) out += "newaxis";
    if (item.form == Form::Element) expr(item.element);
    if (item.form != Form::Slice) return;
    out += "(slice ", expr(item.start), out += ' ', expr(item.stop), out += ' ', expr(item.step), out += ')';
  }
  void show(const ast::Member& m) { out += "(. ", expr(m.base), out += fmt::format(" {})", m.name); }
  void show(const ast::Transform& t) { transform_head(t), out += ' ', expr(t.operand), out += ')'; }

  // ---- statements ----
  void show(const ast::Let& l) {
    out += l.is_var ? "(var " : "(let ", pattern(l.pattern), out += ' ', expr(l.value), out += ')';
  }
  void show(const ast::FunctionStmt& f) {
    for (const ast::Transform& t : f.transforms) transform_head(t), out += ' ';
    out += fmt::format("(fn {} ", f.function->name), function(*f.function), out += ')';
    out += std::string(f.transforms.size(), ')');
  }
  void show(const ast::Assign& a) {
    out += fmt::format("({}= ", a.op ? ast::spelling(*a.op) : ""), expr(a.target), out += ' ', expr(a.value);
    out += ')';
  }
  void show(const ast::For& f) {
    out += "(for ", pattern(f.pattern), out += " in ", expr(f.source);
    body(f.body);
  }
  void show(const ast::While& w) { out += "(while ", expr(w.condition), body(w.body); }
  void body(const ast::ExprPtr& block) {
    ++indent_;
    line(), expr(block);
    --indent_;
    out += ')';
  }
  void show(const ast::Break&) { out += "(break)"; }
  void show(const ast::Continue&) { out += "(continue)"; }
  void show(const ast::Return& r) {
    out += "(return";
    if (r.value) out += ' ', expr(r.value);
    out += ')';
  }
  void show(const ast::Import& i) {
    out += "(import ";
    i.is_file ? quoted(i.path) : void(out += i.path);
    if (!i.alias.empty()) out += fmt::format(" as {}", i.alias);
    out += ')';
  }
  void show(const ast::ExprStmt& e) { expr(e.value); }

  size_t indent_ = 0;
};

}  // namespace

std::string print(const ast::Program& program) {
  Printer p;
  p.program(program);
  return p.out;
}

std::string print(const ast::Expr& expr) {
  Printer p;
  p.expr(expr);
  return p.out;
}

}  // namespace tercet
