#include "interpreter/engine/check.h"

#include <algorithm>

#include "interpreter/elaborate/check_names.h"
#include "interpreter/engine/echo.h"
#include "interpreter/engine/names.h"
#include "interpreter/engine/parsed.h"

namespace tercet {

std::vector<Type> annotated_types(const ast::FunctionDef& f) {
  std::vector<Type> out;
  std::map<std::string, Dim> sizes;
  for (const ast::Param& p : f.params) {
    Type t;
    if (!p.type || !parse_dtype(p.type->dtype, &t.dtype)) fail(Kind::Name, p.span, "this is no type", "as in f32[n, 128] or i32");
    for (const auto& s : p.type->sizes) {
      if (s.ragged) t.dims.push_back(Dim::ragged());
      else if (s.value) t.dims.emplace_back(*s.value);
      else t.dims.push_back(sizes.try_emplace(s.name, Dim::symbol(s.name)).first->second);
    }
    out.push_back(std::move(t));
  }
  return out;
}

namespace {

/// Where a pattern binds a name.
uint32_t place_of(const ast::Pattern& pattern, const std::string& name) {
  if (!pattern.is_tuple) return pattern.name == name ? pattern.span.begin : UINT32_MAX;
  uint32_t out = UINT32_MAX;
  for (const ast::Pattern& e : pattern.elements) out = std::min(out, place_of(e, name));
  return out;
}

}  // namespace

Outcome Session::check(const SourceFile& source) {
  auto globals = globals_;
  auto imported = imported_;
  begin_run();
  Outcome checked = guarded([&](Outcome& out) {
    const ast::Program program = parsed_program(source, out);
    if (out.ok()) check_program(program, "", out.diagnostics);
  });
  globals_ = std::move(globals);
  imported_ = std::move(imported);
  return checked;
}

Outcome Session::symbols(const SourceFile& source, std::vector<Symbol>* symbols) {
  auto globals = globals_;
  begin_run();
  Outcome found = guarded([&](Outcome& out) {
    const ast::Program program = parsed_program(source, out);
    if (!out.ok()) return;
    *symbols = symbols_of(program, source.span(0, source.text().size()));
    const std::map<uint32_t, std::string> types = types_of_variables(program);
    for (Symbol& s : *symbols)
      if (auto known = types.find(s.span.begin); known != types.end()) s.detail += ": " + known->second;
  });
  globals_ = std::move(globals);
  return found;
}

/// By the place of the name. Statements are read in order, and zeros stand for what they would compute; where sizes are only known
/// when it runs, or where reading fails, nothing is known.
std::map<uint32_t, std::string> Session::types_of_variables(const ast::Program& program) {
  constexpr int64_t most_elements = 100'000;
  std::map<uint32_t, std::string> out;
  for (const ast::StmtPtr& s : program.statements) {
    auto* let = s->as<ast::Let>();
    if (!let && !s->as<ast::FunctionStmt>()) continue;
    try {
      if (!let) {
        run_statement(*s);
        continue;
      }
      Names names(*this);
      const Elaborated e = Elaborator(names).statement(*s);
      for (const Elaborated::Bound& b : e.bindings) {
        bool known = true;
        Value value = map_leaves<Array>(b.value, [&](const Leaf& x) {
          Shape shape;
          int64_t count = 1;
          for (const Dim& d : x.type.dims) {
            known &= d.constant().has_value() && count <= most_elements;
            shape.push_back(d.constant().value_or(0));
            count *= std::max<int64_t>(1, shape[shape.size() - 1]);
          }
          known &= count <= most_elements;
          Array zeros = Array::zeros(x.type.dtype, known ? shape : Shape{});
          zeros.weak = x.weak;
          return zeros;
        });
        std::vector<Leaf> leaves;
        collect_leaves(b.value, leaves);
        const uint32_t place = place_of(let->pattern, b.name);
        if (leaves.size() == 1 && b.value.leaf()) out[place] = leaves[0].type.text();
        else if (known) out[place] = full_type(value);
        if (known) globals_[b.name] = {std::move(value), b.is_var};
      }
    } catch (const Failure&) {   // what follows and reads it fails too
    }
  }
  return out;
}

/// What it imports is checked too, and binds its functions.
void Session::check_program(const ast::Program& program, const std::string& home, std::vector<Diagnostic>& found) {
  auto check_file = [&](const SourceFile& file, const std::string& path) {
    ParseResult parsed = parse(file);
    if (parsed.diagnostics.empty()) check_program(parsed.program, path, parsed.diagnostics);
    if (!parsed.diagnostics.empty()) throw Failure(std::move(parsed.diagnostics));
    return bound_names(parsed.program);
  };
  ModuleNames modules;
  for (const ast::StmtPtr& s : program.statements) {
    auto* import = s->as<ast::Import>();
    if (!import) continue;
    run_import(*import, s->span, home, check_file);
    const std::string name = import->bound_name();
    modules[name] = find(qualified(home, name))->as<Value::Module>()->names;
  }
  Names names(*this);
  auto known = [&](const std::string& n) { return find(qualified(home, n)) || find_constant(n) || find_builtin(n) || names.library_function(n); };
  std::vector<std::string> candidates = names.global_names(home);
  for (const std::string& n : builtin_names()) candidates.push_back(n);
  auto signature = [&](const std::string& n) -> std::optional<Signature> {
    if (find(qualified(home, n)) || find_constant(n)) return std::nullopt;
    if (ast::FunctionPtr f = names.library_function(n)) return signature_of(*f);
    if (const BuiltinDef* b = find_builtin(n)) return signature_of(*b);
    return std::nullopt;
  };
  std::vector<Diagnostic> wrong = check_names(program, known, candidates, modules, signature);
  if (wrong.empty()) check_functions(program, home, wrong);
  found.insert(found.end(), wrong.begin(), wrong.end());
}

/// Functions whose parameters all have types are elaborated for them; what they call must be defined before.
void Session::check_functions(const ast::Program& program, const std::string& home, std::vector<Diagnostic>& found) {
  Names names(*this);
  for (const ast::StmtPtr& s : program.statements) {
    auto* f = s->as<ast::FunctionStmt>();
    if (!f) continue;
    run_statement(*s, home);
    bool typed = std::all_of(f->function->params.begin(), f->function->params.end(), [](const ast::Param& p) { return p.type.has_value(); });
    if (!typed) continue;
    try {
      ast::Expr name{f->function->name_span, ast::Name{f->function->name}};
      const std::vector<Type> types = annotated_types(*f->function);
      Elaborator(names, home).function(name, std::vector<Tree<Type>>(types.begin(), types.end()));
    } catch (const Failure& failure) {
      // A global that only a run would bind is not a mistake.
      if (failure.diagnostics()[0].kind != Kind::Name) found.insert(found.end(), failure.diagnostics().begin(), failure.diagnostics().end());
    }
  }
}

}  // namespace tercet
