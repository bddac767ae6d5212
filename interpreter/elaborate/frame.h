// A function under construction, and the typed values that programs are made of while they are elaborated.
#pragma once
#include <map>
#include <optional>
#include <unordered_map>

#include "interpreter/elaborate/tree.h"
#include "interpreter/ir/function.h"

namespace tercet {

class Frame;

/// A scalar known while elaborating. A weak float keeps its double value until it meets a dtype.
struct Constant {
  int64_t integer = 0;    // integers and bool
  double real = 0;        // floats
  /// Known here, though another call of the same program may know it only when it runs: the value of an argument, a
  /// global, or a size. An `if` on it joins the types of both branches, so that all calls agree.
  bool soft = false;
};

/// One array value. Known scalars and sizes become operations only when an operation needs them.
struct Leaf {
  Type type;
  bool weak = false;
  Frame* frame = nullptr;            // where `id` lives; null while it is only a constant or a size
  ValueId id = no_value;
  std::optional<Constant> constant;  // scalars
  std::optional<Dim> dim;            // integer scalars whose value is this size
  Placement placement = {};
  bool untyped = false;              // the literal `[]`, before it meets a dtype: f32[0] until then
};
using Sym = Tree<Leaf>;

Leaf int_leaf(int64_t value, DType dtype = DType::I32, bool weak = true);
Leaf bool_leaf(bool value);
Leaf float_leaf(double value, DType dtype = DType::F32, bool weak = true);
Leaf size_leaf(const Dim& size);     // weak i64; soft when constant
/// The same with its constant, if it has one, soft.
Leaf softened(Leaf leaf);
/// A weak f32 stands for a literal, all digits of which count beside f64 data: it goes into functions as an f64 ("wide"), and
/// becomes an f32 where it is used as one.
bool keeps_digits(const Type& type, bool weak);
bool keeps_digits(const Leaf& leaf);

/// Builds one Function; closed bodies are frames inside frames. A value of an outer frame that is used here becomes a
/// parameter ("capture") whose operand the outer frame supplies.
class Frame {
 public:
  /// `isolated`: a function compiled on its own; constants that come from outside become parameters too.
  Frame(std::string name, Frame* parent, bool isolated = false);
  Builder& builder() { return builder_; }
  Frame* parent() const { return parent_; }
  bool isolated() const { return isolated_; }
  /// A new parameter (before any capture in the function's parameter order).
  Leaf param(const Type& type, bool weak);
  /// The same for a value that carry() gives.
  Leaf carried_param(const Type& type, bool weak);
  /// The position of a value among the parameters of param(), if it is one.
  std::optional<size_t> parameter(ValueId id) const;
  /// The value in this frame, as dtype `as` (its own when not given; weak constants convert exactly).
  ValueId use(const Leaf& leaf, std::optional<DType> as = std::nullopt, Span span = {});
  /// The value on its way into another function or out of this one.
  ValueId carry(const Leaf& leaf, Span span = {}) { return use(leaf, keeps_digits(leaf) ? std::optional(DType::F64) : std::nullopt, span); }
  static bool is_wide(const Leaf& leaf);
  /// With the digits of its dtype alone: what a function gives.
  Leaf rounded(const Leaf& leaf);
  /// The value as a size. Emits as_size the first time a value without a known size is asked: as far outside as the
  /// value can be computed, so that a size which is the same for all steps or lanes has one name outside of them.
  Dim size_of(const Leaf& leaf, Span span);
  Leaf result(ValueId id, bool weak = false) { return {builder_.type(id), weak, this, id, {}, {}}; }

  /// Globals that this function reads, as its parameters (isolated functions and statements only).
  std::map<std::string, Sym> globals;
  /// Which global's which leaf each of those parameters is.
  struct Hidden {
    std::string name;
    size_t leaf;
    bool operator==(const Hidden&) const = default;
  };
  std::vector<Hidden> hidden;

  /// Does an operation here define a symbol of the size?
  bool defines(const Dim& size) const;
  const std::vector<Leaf>& captures() const { return captures_; }   // outer values, in capture order
  bool checked(const Dim& a, const Dim& b);                         // notes a pair; true when it was noted before
  /// Ends the function. Parameters: those of param(), then the captures.
  FunctionPtr finish(std::vector<ValueId> results);
  /// The same with exactly these captures (a superset of its own): bodies of one operation read the same operands.
  FunctionPtr finish_ordered(std::vector<ValueId> results, std::span<const Leaf> captures);

 private:
  /// The same value in an enclosing frame, when it depends on nothing of this one.
  std::optional<Leaf> outside(ValueId id);
  bool own(const Dim& size) const;          // defined here, or a parameter brings it
  ValueId capture(const Leaf& leaf);
  ValueId constant(const Leaf& leaf, DType dtype);
  Frame* parent_;
  bool isolated_;
  Builder builder_;
  std::vector<ValueId> params_;
  std::vector<Leaf> captures_;
  std::vector<ValueId> capture_params_;
  std::map<std::pair<Frame*, ValueId>, ValueId> captured_;
  std::map<std::tuple<DType, bool, int64_t>, ValueId> constants_;
  std::map<std::pair<Frame*, ValueId>, Dim> sizes_;
  std::map<ValueId, std::optional<Leaf>> outside_;
  std::vector<std::pair<Dim, Dim>> checked_;
};

/// The captures of two bodies of one operation, each once: those of `a` first.
std::vector<Leaf> joined_captures(const Frame& a, const Frame& b);

}  // namespace tercet
