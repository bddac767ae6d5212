// Values as the language sees them: trees whose leaves are arrays. `Tree<Array>` is a value of a session; `Tree<Leaf>` is
// the same thing while a program is elaborated, with typed values under construction in place of arrays.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "grammar/ast.h"
#include "interpreter/runtime/array.h"

namespace tercet {

struct OpDef;
struct BuiltinDef;

/// A transform's brackets, read: what stands for each parameter, and the options.
struct AxisSpec {
  enum class Kind : uint8_t { Axis, Shared, Tuple, Record } kind = Kind::Shared;
  int64_t axis = 0;
  std::vector<std::string> names;      // Record
  std::vector<AxisSpec> children;      // Tuple, Record
};
/// What a transform of kind Grad gives: the functions grad, value_and_grad, … differ in this only.
enum class Derivative : uint8_t { Gradient, ValueAndGradient, Jacobian, Pullback, Checkpoint, Custom };
struct TransformSpec {
  ast::TransformKind kind = ast::TransformKind::Jit;
  Derivative derivative = Derivative::Gradient;
  bool aux = false;                    // option aux=: the function gives (value, more)
  Span span;
  std::vector<AxisSpec> positional;
  std::vector<std::pair<std::string, AxisSpec>> named;
  std::vector<std::string> wanted;     // grad: parameters, by name or by position ("0", "-1"), as written
  int64_t out = 0;
  int64_t size = -1;                   // option size=, -1: not given
  int64_t threads = 0;                 // jit's option threads=
  bool fast_math = false;              // jit's option math="fast"
  std::string axis;                    // option axis=: the axis's name
  int64_t devices = 0;                 // pmap's option devices=, 0: not given
  bool split = false, out_common = false;   // pmap's options split= and out=_
  std::string reduce;                  // pmap's option reduce=
  std::string text;                    // as written, for identity and messages
};

/// Where the names of stdlib/ live. The program's own have the home "", those of an imported file its path.
inline constexpr const char* library_home = "stdlib";
/// A session's name for a global of a file: its own name in the program, one that no program can write in others.
inline std::string qualified(const std::string& home, const std::string& name) { return home.empty() ? name : home + "::" + name; }

/// An opaque thing that is not the program's.
inline constexpr const char* host_function = "host function";
struct Handle {
  std::string type;                    // host_function: `object` is a HostFunction (ir/host_function.h)
  std::shared_ptr<const void> object;
};

template <class L> struct Tree {
  struct None {};
  struct Tuple { std::vector<Tree> elements; };
  struct Record { std::vector<std::string> names; std::vector<Tree> values; };
  struct Range { std::shared_ptr<const Tree> low, high; };
  struct Captured { std::string name; Tree value; };
  /// A function of the program with the locals it captured. `home`: the file whose globals it sees.
  struct Closure {
    ast::FunctionPtr code;
    std::vector<Captured> captured;
    std::string home;
    bool library() const { return home == library_home; }
  };
  struct Transformed { std::shared_ptr<const TransformSpec> spec; std::shared_ptr<const Tree> function; };
  struct Builtin { const BuiltinDef* def; };
  /// What `import` gives: the globals of another file. Their values are looked up there.
  struct Module { std::string home; std::vector<std::string> names; };

  std::variant<L, None, Tuple, Record, Range, Closure, Transformed, Builtin, Handle, Module> node{None{}};

  Tree() = default;
  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, Tree>>>
  Tree(T&& value) : node(std::forward<T>(value)) {}

  template <class T> const T* as() const { return std::get_if<T>(&node); }
  template <class T> T* as() { return std::get_if<T>(&node); }
  const L* leaf() const { return as<L>(); }
  bool is_none() const { return std::holds_alternative<None>(node); }
  bool is_function() const { return as<Closure>() || as<Transformed>() || as<Builtin>() || (as<Handle>() && as<Handle>()->type == host_function); }
  static Tree unit() { return Tuple{}; }
};

template <class L> const Tree<L>* field(const typename Tree<L>::Record& record, std::string_view name) {
  for (size_t i = 0; i < record.names.size(); ++i)
    if (record.names[i] == name) return &record.values[i];
  return nullptr;
}

/// Rebuilds a tree with every leaf replaced by f(leaf), in a fixed order (the order of leaves everywhere).
template <class To, class From, class F> Tree<To> map_leaves(const Tree<From>& tree, F&& f) {
  using A = Tree<From>;
  using B = Tree<To>;
  auto all = [&](const std::vector<A>& from) {
    std::vector<B> out;
    for (const A& t : from) out.push_back(map_leaves<To>(t, f));
    return out;
  };
  auto one = [&](const std::shared_ptr<const A>& t) { return std::make_shared<const B>(map_leaves<To>(*t, f)); };
  if (auto* x = tree.leaf()) return B(f(*x));
  if (auto* x = tree.template as<typename A::Tuple>()) return typename B::Tuple{all(x->elements)};
  if (auto* x = tree.template as<typename A::Record>()) return typename B::Record{x->names, all(x->values)};
  if (auto* x = tree.template as<typename A::Range>()) {
    auto low = one(x->low);
    return typename B::Range{low, one(x->high)};
  }
  if (auto* x = tree.template as<typename A::Closure>()) {
    typename B::Closure out{x->code, {}, x->home};
    for (auto& [name, value] : x->captured) out.captured.push_back({name, map_leaves<To>(value, f)});
    return out;
  }
  if (auto* x = tree.template as<typename A::Transformed>()) return typename B::Transformed{x->spec, one(x->function)};
  if (auto* x = tree.template as<typename A::Builtin>()) return typename B::Builtin{x->def};
  if (auto* x = tree.template as<Handle>()) return *x;
  if (auto* x = tree.template as<typename A::Module>()) return typename B::Module{x->home, x->names};
  return {};
}

/// The leaves in the order of map_leaves.
template <class L> void collect_leaves(const Tree<L>& tree, std::vector<L>& out) {
  map_leaves<L>(tree, [&](const L& leaf) { out.push_back(leaf); return leaf; });
}

using Value = Tree<Array>;   // a value of a session

}  // namespace tercet
