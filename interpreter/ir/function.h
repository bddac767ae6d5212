// The typed array IR: a Function is parameters, operations in order, and results. No jumps.
//
// Values are numbers local to their function (ValueId). Control flow is operations with closed bodies, which are
// Functions that read nothing but their parameters. Symbols of sizes may be shared with the enclosing function; a bare
// symbol in a type gets its value where it first appears: from a parameter's shape, or from an operation's result.
// A Function never changes once built: passes read one and build another through a Builder, whose every emit runs the
// operation's `infer`, so that an ill-typed function cannot exist.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "interpreter/ir/dim.h"
#include "interpreter/runtime/array.h"

namespace tercet {

struct OpDef;
class Function;
using FunctionPtr = std::shared_ptr<const Function>;

/// dtype and sizes of a value. Rank 0 is a scalar.
struct Type {
  DType dtype = DType::F32;
  std::vector<Dim> dims;

  int rank() const { return static_cast<int>(dims.size()); }
  bool is_ragged() const;
  std::string text() const;                              // "f32[n, 3]", "i32"
  friend bool operator==(const Type&, const Type&) = default;
};

using ValueId = uint32_t;
inline constexpr ValueId no_value = UINT32_MAX;

/// A named constant of an operation. Opaque things (a compiled function, a vocabulary) are shared pointers.
using Attr = std::variant<int64_t, double, bool, std::string, DType, Dim, std::vector<int64_t>, std::vector<Dim>, Array,
                          std::shared_ptr<const void>>;

/// The constants of an operation by name. Few, so a sorted vector.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const char*, Attr>> list) { for (auto& [k, v] : list) set(k, v); }
  void set(std::string_view key, Attr value);
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The attribute, which must be there with this type.
  template <class T> const T& get(std::string_view key) const {
    const Attr* a = find(key);
    TERCET_CHECK(a && std::holds_alternative<T>(*a));
    return std::get<T>(*a);
  }
  template <class T> T get_or(std::string_view key, T fallback) const {
    const Attr* a = find(key);
    return a && std::holds_alternative<T>(*a) ? std::get<T>(*a) : fallback;
  }
  const Attr* find(std::string_view key) const;
  const std::vector<std::pair<std::string, Attr>>& items() const { return items_; }
  std::vector<std::pair<std::string, Attr>>& items() { return items_; }

 private:
  std::vector<std::pair<std::string, Attr>> items_;
};

struct Op {
  const OpDef* def = nullptr;
  std::vector<ValueId> inputs;
  ValueId first_output = 0;        // results are first_output .. first_output + outputs - 1
  uint32_t outputs = 1;
  Attrs attrs;
  std::vector<FunctionPtr> bodies;
  Span span;

  ValueId output(uint32_t i = 0) const { return first_output + i; }
};

class Function {
 public:
  // What a Builder adds to never moves: rules hold on to a type or an operation while they emit others.
  std::string name;
  std::vector<ValueId> params;     // in calling order
  std::deque<Op> ops;
  std::vector<ValueId> results;
  std::deque<Type> types;          // of every value
  std::vector<uint32_t> last_use;  // per value: the last operation that reads it; UINT32_MAX for results

  const Type& type(ValueId v) const { return types[v]; }
  std::vector<Type> param_types() const;
  std::vector<Type> result_types() const;
};

/// What `infer` of an operation sees.
/// Elements that may not be there: asking for one that is not is a fault of whoever made the operation.
template <class T> struct CheckedSpan : std::span<const T> {
  CheckedSpan(std::span<const T> s) : std::span<const T>(s) {}
  const T& operator[](size_t i) const {
    TERCET_CHECK(i < this->size());
    return std::span<const T>::operator[](i);
  }
};
/// The size along an axis that an attribute may name.
inline const Dim& size_at(const std::vector<Dim>& dims, int64_t axis) {
  TERCET_CHECK(axis >= 0 && static_cast<size_t>(axis) < dims.size());
  return dims[static_cast<size_t>(axis)];
}
inline Dim& size_at(std::vector<Dim>& dims, int64_t axis) { return const_cast<Dim&>(size_at(std::as_const(dims), axis)); }
inline void require_rank(const Type& t, int64_t least) { TERCET_CHECK(t.rank() >= least); }

struct InferInput {
  CheckedSpan<Type> operands;
  const Attrs& attrs;
  CheckedSpan<FunctionPtr> bodies;
  Span span;
};

/// Builds one Function. Example:
///   Builder b("double");  ValueId x = b.param({DType::F32, {n}});
///   ValueId y = b.emit(add_op, {x, x}, {}, span);  FunctionPtr f = b.finish({y});
class Builder {
 public:
  explicit Builder(std::string name);
  Builder(const Builder&) = delete;
  ValueId param(Type type);
  /// Appends an operation with one result; its `infer` may throw a Failure.
  ValueId emit(const OpDef& def, std::vector<ValueId> inputs, Attrs attrs = {}, Span span = {},
               std::vector<FunctionPtr> bodies = {});
  /// Appends an operation with any number of results. A pure operation on scalars that stands already is not appended
  /// again: sizes computed twice have one name then.
  std::vector<ValueId> emit_many(const OpDef& def, std::vector<ValueId> inputs, Attrs attrs = {}, Span span = {},
                                 std::vector<FunctionPtr> bodies = {});
  const Type& type(ValueId v) const { return function_->types[v]; }
  /// The operation that defines a value, or nullptr for a parameter.
  const Op* definition(ValueId v) const;
  const Function& peek() const { return *function_; }
  /// Where building stands, to come back to: what was emitted since is gone.
  size_t mark() const { return function_->ops.size(); }
  void rollback(size_t mark);
  /// What was printed since the mark is not: that code turned out to stand elsewhere. (Its checks may stay.)
  void drop_output(size_t mark);
  /// Another order for the parameters (the same ones).
  void set_params(std::vector<ValueId> params) { function_->params = std::move(params); }
  /// Ends building; the Builder may not be used afterwards. Operations that nothing needs are dropped.
  FunctionPtr finish(std::vector<ValueId> results);

 private:
  std::shared_ptr<Function> function_;
  /// The place of an equal operation among the scalar ones, else npos after noting that `op` is at the end.
  size_t find_scalar(const Op& op, std::span<const Type> outputs);
  std::vector<uint32_t> definitions_;   // index of the defining op per value, UINT32_MAX for parameters
  std::unordered_multimap<size_t, size_t> scalars_;   // hash to index of an operation
};

/// Copies every operation of `f` into `out`, with f's parameters standing for `arguments`; returns its results there.
/// Types are inferred anew, so sizes adapt to the arguments'.
std::vector<ValueId> inline_function(Builder& out, const Function& f, std::span<const ValueId> arguments);

/// Text of a function, one operation a line:  %3 = add(%1, %2) : f32[n]
std::string print(const Function& f);
/// A text that is equal for functions that mean the same by construction: sizes and values named by first appearance,
/// constants by content, spans left out of it except for operations that can fail.
std::string fingerprint(const Function& f);
/// Error `internal` when a rule of the IR is broken (use before definition, types that infer does not give, …).
void verify(const Function& f);

}  // namespace tercet
