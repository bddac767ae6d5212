// The text form of functions: one operation a line, bodies indented below it. reader.h describes it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "interpreter/ir/function.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/runtime/keys.h"

namespace tercet {
namespace {

constexpr int64_t longest_constant = 64;   // elements

/// A floating number that reads back as one: 1.0, 1e+30, nan, -inf.
template <class T> std::string real_text(T v) {
  std::string out = fmt::format("{}", v);
  return out.find_first_not_of("-0123456789") == std::string::npos ? out + ".0" : out;
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out + "\"";
}

std::string element_text(const Array& a, int64_t i) {
  return visit_dtype(a.dtype, [&]<class T>() -> std::string {
    const T& x = a.data<T>()[i];
    if constexpr (std::is_same_v<T, StringRef>) return quoted_text(x.view());
    else if constexpr (std::is_same_v<T, KeyBits>) return fmt::format("{}", word_of(x));
    else if constexpr (std::is_same_v<T, bool>) return x ? "true" : "false";
    else if constexpr (std::is_integral_v<T>) return fmt::format("{}", x);
    else if (auto v = Compute<T>::load(x); v != v) return "nan";   // NaNs are one value
    else return real_text(v);
  });
}

std::string array_text(const Array& a) {
  std::string out = std::string(a.weak ? "weak " : "") + name_of(a.dtype) + to_string(a.shape) + " [";
  if (a.ragged || a.count() > longest_constant) return out + "…]";
  for (int64_t i = 0; i < a.count(); ++i) out += (i ? ", " : "") + element_text(a, i);
  return out + "]";
}

class Printer {
 public:
  std::string out;

  /// Names every size in order of first appearance, so that no two share a name.
  void sizes(const Function& f) {
    note(f);
    std::string line;
    std::set<std::string> taken;
    for (Named& n : named_) {
      std::string base = n.name;
      for (int k = 2; !taken.insert(n.name).second; ++k) n.name = base + "_" + std::to_string(k);
      line += (line.empty() ? "" : ", ") + n.name + (n.not_one ? "!" : "");
    }
    // Terms of a size are ordered by age, and so the youngest name stands first.
    for (size_t i = named_.size(); i-- > 0;) names_[named_[i].id] = Dim::symbol(named_[i].name, named_[i].not_one);
    if (!line.empty()) out += "sizes " + line + "\n";
  }

  void function(const Function& f, const std::string& indent) {
    std::map<ValueId, size_t> numbers;
    auto value = [&](ValueId v) { return fmt::format("%{}", numbers.try_emplace(v, numbers.size()).first->second); };
    auto typed = [&](ValueId v) { return value(v) + ": " + type(f.type(v)); };
    out += indent + f.name + "(";
    for (size_t i = 0; i < f.params.size(); ++i) out += (i ? ", " : "") + typed(f.params[i]);
    out += ") {\n";
    for (const Op& op : f.ops) {
      out += indent + "  ";
      for (uint32_t i = 0; i < op.outputs; ++i) out += (i ? ", " : "") + typed(op.output(i));
      out += fmt::format("{}{}(", op.outputs ? " = " : "", op.def->name);
      for (size_t i = 0; i < op.inputs.size(); ++i) out += (i ? ", " : "") + value(op.inputs[i]);
      out += ")";
      if (!op.attrs.items().empty()) {
        out += " {";
        const char* separator = "";
        for (auto& [name, attr] : op.attrs.items()) out += fmt::format("{}{}={}", std::exchange(separator, ", "), name, attribute(attr));
        out += "}";
      }
      out += "\n";
      for (const FunctionPtr& body : op.bodies) function(*body, indent + "    ");
    }
    out += indent + "  return";
    for (size_t i = 0; i < f.results.size(); ++i) out += (i ? ", " : " ") + value(f.results[i]);
    out += "\n" + indent + "}\n";
  }

 private:
  struct Named { uint64_t id; std::string name; bool not_one; };

  void note(const Dim& d) {
    for (const DimTerm& t : std::vector<DimTerm>(d.terms()))
      for (const DimAtomPtr& f : t.factors) {
        if (f->kind == DimAtom::Symbol && std::none_of(named_.begin(), named_.end(), [&](const Named& n) { return n.id == f->id; }))
          named_.push_back({f->id, f->name, f->not_one});
        note(f->a);
        note(f->b);
      }
  }
  void note(const Function& f) {
    auto types = [&](std::span<const ValueId> values) {
      for (ValueId v : values)
        for (const Dim& d : f.type(v).dims) note(d);
    };
    types(f.params);
    for (const Op& op : f.ops) {
      for (uint32_t i = 0; i < op.outputs; ++i)
        for (const Dim& d : f.type(op.output(i)).dims) note(d);
      for (auto& [name, attr] : op.attrs.items()) for_each_dim(attr, [&](const Dim& d) { note(d); });
      for (const FunctionPtr& body : op.bodies) note(*body);
    }
  }

  std::string size(const Dim& d) const { return d.substitute(names_).text(); }
  std::string list(const std::vector<Dim>& dims) const {
    std::string all;
    for (const Dim& d : dims) all += (all.empty() ? "" : ", ") + size(d);
    return "[" + all + "]";
  }
  std::string type(const Type& t) const { return name_of(t.dtype) + (t.dims.empty() ? std::string() : list(t.dims)); }

  std::string attribute(const Attr& attr) const {
    struct Visitor {
      const Printer& p;
      std::string operator()(int64_t v) const { return fmt::format("{}", v); }
      std::string operator()(double v) const { return real_text(v); }
      std::string operator()(bool v) const { return v ? "true" : "false"; }
      std::string operator()(const std::string& v) const { return quoted_text(v); }
      std::string operator()(DType v) const { return name_of(v); }
      std::string operator()(const Dim& v) const { return "<" + p.size(v) + ">"; }
      std::string operator()(const std::vector<int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
      std::string operator()(const std::vector<Dim>& v) const { return "<" + p.list(v) + ">"; }
      std::string operator()(const Array& a) const { return array_text(a); }
      std::string operator()(const std::shared_ptr<const void>&) const { return "<handle>"; }
    };
    return std::visit(Visitor{*this}, attr);
  }

  std::vector<Named> named_;
  DimMap names_;
};

}  // namespace

std::string print(const Function& f) {
  Printer p;
  p.sizes(f);
  p.function(f, "");
  return p.out;
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
    std::vector<Type> results = op.def->infer({std::span<const Type>(operands), op.attrs, std::span<const FunctionPtr>(op.bodies), op.span});
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
