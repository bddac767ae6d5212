// Identity of functions by content, so that code compiled for one elaboration serves the next.
#include <fmt/format.h>

#include <unordered_map>

#include "interpreter/ir/function.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"

namespace tercet {
namespace {

class Writer {
 public:
  std::string out;

  void function(const Function& f) {
    out += "fn(";
    for (ValueId p : f.params) out += fmt::format("{}:", p), type(f.type(p));
    out += ")";
    for (const Op& op : f.ops) {
      out += fmt::format("{}{}(", op.def->name, op.first_output);
      for (ValueId v : op.inputs) out += fmt::format("{},", v);
      out += ")";
      // An error names its place, so code from two places is not one.
      if (op.def->effect != Effect::Pure || !op.bodies.empty()) out += fmt::format("@{}:{}", op.span.file, op.span.begin);
      for (auto& [name, value] : op.attrs.items()) out += name, out += '=', attribute(value);
      for (uint32_t i = 0; i < op.outputs; ++i) type(f.type(op.output(i)));
      for (const FunctionPtr& body : op.bodies) function(*body);
    }
    for (ValueId r : f.results) out += fmt::format("^{}", r);
  }

 private:
  void type(const Type& t) {
    out += fmt::format("{}[", static_cast<int>(t.dtype));
    for (const Dim& d : t.dims) size(d), out += ',';
    out += ']';
  }

  void size(const Dim& d) {
    if (auto c = d.constant()) {
      out += fmt::format("{}", *c);
      return;
    }
    // Terms are in an order that depends on symbol numbers; symbols are named in the order of first appearance here,
    // which for functions elaborated alike is the same.
    for (const DimTerm& t : d.terms()) {
      out += fmt::format("+{}", t.coefficient);
      for (const DimAtomPtr& a : t.factors) {
        if (a->id) out += fmt::format("*s{}{}", symbols_.emplace(a->id, symbols_.size()).first->second, a->not_one ? "!" : "");
        else {
          out += fmt::format("*{}(", static_cast<int>(a->kind));
          size(a->a);
          out += ';';
          size(a->b);
          out += ')';
        }
      }
    }
  }

  void attribute(const Attr& attr) {
    if (auto* a = std::get_if<Array>(&attr)) {
      out += fmt::format("{}{}", static_cast<int>(a->dtype), to_string(a->shape));
      if (a->dtype == DType::Str) for (int64_t i = 0; i < a->count(); ++i) out += a->data<StringRef>()[i].view(), out += '\0';
      else out.append(reinterpret_cast<const char*>(a->raw()), static_cast<size_t>(a->bytes()));
    } else if (auto* handle = std::get_if<std::shared_ptr<const void>>(&attr)) {
      out += fmt::format("{}", handle->get());
    } else if (auto* d = std::get_if<Dim>(&attr)) {
      size(*d);
    } else if (auto* many = std::get_if<std::vector<Dim>>(&attr)) {
      for (const Dim& d : *many) size(d), out += ',';
    } else if (auto* text = std::get_if<std::string>(&attr)) {
      out += *text, out += '\0';
    } else if (auto* ints = std::get_if<std::vector<int64_t>>(&attr)) {
      out += fmt::format("[{}]", fmt::join(*ints, ","));
    } else if (auto* i = std::get_if<int64_t>(&attr)) {
      out += fmt::format("{};", *i);
    } else if (auto* b = std::get_if<bool>(&attr)) {
      out += *b ? 't' : 'f';
    } else if (auto* t = std::get_if<DType>(&attr)) {
      out += fmt::format("d{}", static_cast<int>(*t));
    } else if (auto* real = std::get_if<double>(&attr)) {
      out += fmt::format("{:a}", *real);
    }
  }

  std::unordered_map<uint64_t, size_t> symbols_;
};

}  // namespace

std::string fingerprint(const Function& f) {
  Writer w;
  w.function(f);
  return w.out;
}

}  // namespace tercet
