#include "interpreter/elaborate/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/builtin.h"
#include "interpreter/elaborate/lowering.h"

namespace tercet {

Signature signature_of(const ast::FunctionDef& f) {
  Signature out{f.name.empty() ? "this function" : fmt::format("`{}`", f.name), {}, {}};
  for (const ast::Param& p : f.params) out.parameters.push_back({p.pattern.is_tuple ? "(…)" : p.pattern.name, p.default_value != nullptr, false});
  return out;
}

Signature signature_of(const BuiltinDef& def) {
  Signature out{fmt::format("`{}`", def.name), {}, fmt::format("{}({})", def.name, def.params)};
  std::string word;
  for (char c : std::string(def.params) + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      word += c;
      continue;
    }
    if (word.empty()) continue;
    const bool rest = word.front() == '*', optional = word.back() == '=';
    out.parameters.push_back({word.substr(rest, word.size() - rest - optional), optional || rest, rest});
    word.clear();
  }
  return out;
}

std::vector<size_t> match_arguments(const Signature& callee, const std::vector<ArgumentPlace>& arguments, Span call) {
  const std::vector<Parameter>& parameters = callee.parameters;
  std::vector<std::string> names;
  std::string listed;
  for (const Parameter& p : parameters) {
    names.push_back(p.name);
    listed += (listed.empty() ? "" : ", ") + p.name + (p.optional && !p.rest ? "=" : "");
  }
  std::vector<size_t> out;
  std::vector<bool> given(parameters.size());
  size_t next = 0;
  for (const ArgumentPlace& a : arguments) {
    size_t at = next;
    const Span span = a.span.known() ? a.span : call;
    if (a.name.empty()) {
      if (at >= parameters.size())
        fail(Kind::Type, span, fmt::format("{} takes {}, and this call gives more", callee.title, plural(parameters.size(), "argument")), callee.usage);
      if (!parameters[at].rest) ++next;
    } else {
      at = static_cast<size_t>(std::find(names.begin(), names.end(), a.name) - names.begin());
      if (at == names.size()) {
        const std::string near = closest_name(a.name, names);
        fail(Kind::Name, span, fmt::format("{} has no parameter `{}`", callee.title, a.name),
             !near.empty() ? fmt::format("did you mean `{}`?", near) : names.empty() ? "it takes none" : "its parameters are " + listed);
      }
    }
    if (given[at] && !parameters[at].rest) fail(Kind::Type, span, fmt::format("`{}` is given twice", names[at]));
    given[at] = true;
    out.push_back(at);
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!given[i] && !parameters[i].optional)
      fail(Kind::Type, call, fmt::format("{} needs the argument `{}`", callee.title, names[i]),
           !callee.usage.empty() ? callee.usage : fmt::format("it takes {}", plural(parameters.size(), "argument")));
  return out;
}

}  // namespace tercet
