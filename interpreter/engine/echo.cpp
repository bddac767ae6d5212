#include "interpreter/engine/echo.h"

#include "grammar/ast_printer.h"
#include "interpreter/elaborate/builtin.h"
#include "interpreter/engine/session.h"
#include "interpreter/runtime/print.h"

namespace tercet {
namespace {

std::string pattern_text(const ast::Pattern& pattern) {
  if (!pattern.is_tuple) return pattern.name;
  std::string out;
  for (const ast::Pattern& element : pattern.elements) out += (out.empty() ? "" : ", ") + pattern_text(element);
  return "(" + out + ")";
}

}  // namespace

std::string signature_text(const ast::FunctionDef& f) {
  std::string params;
  for (const ast::Param& p : f.params) {
    params += (params.empty() ? "" : ", ") + pattern_text(p.pattern);
    if (p.default_value) params += "=" + print(*p.default_value);
  }
  return "fn" + (f.name.empty() ? "" : " " + f.name) + "(" + params + ")";
}

namespace {

std::string function_text(const Value& value) {
  if (auto* c = value.as<Value::Closure>()) return signature_text(*c->code);
  if (auto* b = value.as<Value::Builtin>()) return std::string("fn ") + b->def->name + "(" + b->def->params + ")";
  auto* t = value.as<Value::Transformed>();
  std::string options = t->spec->text.empty() ? "" : "[" + t->spec->text + "]";
  return ast::spelling(t->spec->kind) + options + " " + function_text(*t->function);
}

}  // namespace

std::string full_type(const Value& value) {
  std::string out;
  if (auto* tuple = value.as<Value::Tuple>()) {
    for (const Value& element : tuple->elements) out += (out.empty() ? "" : ", ") + full_type(element);
    return "(" + out + (tuple->elements.size() == 1 ? ",)" : ")");
  }
  if (auto* record = value.as<Value::Record>()) {
    for (size_t i = 0; i < record->names.size(); ++i)
      out += (i ? ", " : "") + record->names[i] + ": " + full_type(record->values[i]);
    return "(" + out + ")";
  }
  if (value.is_function()) return function_text(value);
  if (auto* handle = value.as<Handle>()) return handle->type;
  return type_text(value);
}

std::string echo_text(const Value& value) {
  std::string type = full_type(value);
  if (value.is_none() || value.is_function() || value.as<Handle>() || value.as<Value::Module>()) return type;
  auto* array = value.leaf();
  std::string text = array && array->dtype == DType::Str && array->rank() == 0 ? format_inside(*array) : value_text(value);
  return type + (text.find('\n') == std::string::npos ? " " : "\n") + text;
}

}  // namespace tercet
