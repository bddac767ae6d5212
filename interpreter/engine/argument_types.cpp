#include "interpreter/engine/argument_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/diagnostic.h"

namespace tercet {
namespace {

constexpr int most_nested = 100;

[[noreturn]] void refuse(const std::string& what) {
  fail(Kind::Syntax, {}, what, "as in --args 'f32[n, 128], i32' or --args '(w=f32[d], b=f32), f32[n, d]'");
}

}  // namespace

ArgumentTypes::ArgumentTypes(std::string_view text) : rest_(text) {
  for (int depth = 0; char c : text)
    if (depth += (c == '(') - (c == ')'); depth > most_nested) refuse("the types of the arguments are nested too deeply");
  skip_spaces();
  while (!rest_.empty()) {
    arguments_.push_back(item());
    if (!rest_.empty() && !takes(',')) refuse(fmt::format("the types of the arguments go wrong at `{}`", rest_));
  }
}

void ArgumentTypes::skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

bool ArgumentTypes::takes(char c) {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  skip_spaces();
  return true;
}

Tree<size_t> ArgumentTypes::item() { return takes('(') ? group() : type(); }

/// What stands after a `(`: a record when its parts have names.
Tree<size_t> ArgumentTypes::group() {
  Tree<size_t>::Tuple parts;
  std::vector<std::string> names;
  while (!takes(')')) {
    if (rest_.empty()) refuse("a `(` of the types of the arguments is never closed");
    const size_t end = rest_.find_first_of("=,()[]");
    if (end != std::string_view::npos && rest_[end] == '=') {
      std::string name(rest_.substr(0, end));
      name.erase(name.find_last_not_of(" \t\n") + 1);
      names.push_back(std::move(name));
      rest_.remove_prefix(end);
      takes('=');
    }
    parts.elements.push_back(item());
    if (!takes(',') && !rest_.starts_with(')')) refuse(rest_.empty() ? "a `(` of the types of the arguments is never closed" : fmt::format("the types of the arguments go wrong at `{}`", rest_));
  }
  if (names.empty()) return parts;
  if (names.size() != parts.elements.size()) refuse("all parts of a record have names");
  return Tree<size_t>::Record{std::move(names), std::move(parts.elements)};
}

/// A type, up to the comma or bracket that ends it.
Tree<size_t> ArgumentTypes::type() {
  size_t end = 0;
  for (int depth = 0; end < rest_.size(); ++end) {
    const char c = rest_[end];
    if (depth == 0 && (c == ',' || c == '(' || c == ')')) break;
    depth += (c == '[') - (c == ']');
  }
  leaves_.emplace_back(rest_.substr(0, end));
  rest_.remove_prefix(end);
  skip_spaces();
  return leaves_.size() - 1;
}

std::string ArgumentTypes::signature() const {
  std::string out = "fn f(";
  for (size_t i = 0; i < leaves_.size(); ++i) out += fmt::format("{}p{}: {}", i ? ", " : "", i, leaves_[i]);
  return out + ") = 0";
}

std::vector<Tree<Type>> ArgumentTypes::trees(const std::vector<Type>& types) const {
  std::vector<Tree<Type>> out;
  for (const Tree<size_t>& t : arguments_) out.push_back(map_leaves<Type>(t, [&](size_t i) { return types.at(i); }));
  return out;
}

}  // namespace tercet
