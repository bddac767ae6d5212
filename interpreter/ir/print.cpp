// The text form of functions: one operation a line, bodies indented below it.
#include <fmt/format.h>

#include <utility>

#include "interpreter/ir/function.h"
#include "interpreter/ir/op_def.h"

namespace tercet {
namespace {

std::string attr_text(const Attr& attr) {
  struct Visitor {
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const { return fmt::format("\"{}\"", v); }
    std::string operator()(DType v) const { return name_of(v); }
    std::string operator()(const Dim& v) const { return v.text(); }
    std::string operator()(const std::vector<int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
    std::string operator()(const std::vector<Dim>& v) const { return to_string(v); }
    std::string operator()(const Array& a) const {
      if (a.count() == 1 && a.dtype <= DType::F64) return is_float(a.dtype) ? fmt::format("{}", a.as_double()) : fmt::format("{}", a.as_int());
      return fmt::format("{}{}", name_of(a.dtype), to_string(a.shape));
    }
    std::string operator()(const std::shared_ptr<const void>&) const { return "<handle>"; }
  };
  return std::visit(Visitor{}, attr);
}

void print_function(std::string& out, const Function& f, const std::string& indent) {
  out += indent + f.name + "(";
  for (size_t i = 0; i < f.params.size(); ++i)
    out += fmt::format("{}%{}: {}", i ? ", " : "", f.params[i], f.type(f.params[i]).text());
  out += ") {\n";
  for (const Op& op : f.ops) {
    out += indent + "  ";
    for (uint32_t i = 0; i < op.outputs; ++i)
      out += fmt::format("{}%{}: {}", i ? ", " : "", op.output(i), f.type(op.output(i)).text());
    out += fmt::format("{}{}(", op.outputs ? " = " : "", op.def->name);
    for (size_t i = 0; i < op.inputs.size(); ++i) out += fmt::format("{}%{}", i ? ", " : "", op.inputs[i]);
    out += ")";
    if (!op.attrs.items().empty()) {
      out += " {";
      const char* separator = "";
      for (auto& [name, value] : op.attrs.items()) out += fmt::format("{}{}={}", std::exchange(separator, ", "), name, attr_text(value));
      out += "}";
    }
    out += "\n";
    for (const FunctionPtr& body : op.bodies) print_function(out, *body, indent + "    ");
  }
  out += indent + "  return";
  for (size_t i = 0; i < f.results.size(); ++i) out += fmt::format("{} %{}", i ? "," : "", f.results[i]);
  out += "\n" + indent + "}\n";
}

}  // namespace

std::string print(const Function& f) {
  std::string out;
  print_function(out, f, "");
  return out;
}

void verify(const Function& f) {
  std::vector<bool> defined(f.types.size());
  for (ValueId p : f.params) defined[p] = true;
  for (const Op& op : f.ops) {
    std::vector<Type> operands;
    for (ValueId v : op.inputs) {
      TERCET_CHECK(v < f.types.size() && defined[v]);
      operands.push_back(f.types[v]);
    }
    std::vector<Type> results = op.def->infer({operands, op.attrs, op.bodies, op.span});
    TERCET_CHECK(results.size() == op.outputs);
    for (uint32_t i = 0; i < op.outputs; ++i) {
      TERCET_CHECK(results[i] == f.types[op.output(i)]);
      defined[op.output(i)] = true;
    }
    for (const FunctionPtr& body : op.bodies) verify(*body);
  }
  for (ValueId r : f.results) TERCET_CHECK(r < f.types.size() && defined[r]);
}

}  // namespace tercet
