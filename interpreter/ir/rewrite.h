// Reading and rewriting functions: what every pass is made of.
#pragma once
#include <functional>
#include <unordered_map>

#include "interpreter/ir/function.h"

namespace tercet {

enum class Effect : uint8_t;   // interpreter/ir/op_def.h
using DimMap = std::unordered_map<uint64_t, Dim>;

/// Calls f for every size in an attribute.
void for_each_dim(const Attr& attr, const std::function<void(const Dim&)>& f);
/// The attribute with every size replaced.
Attr map_dims(const Attr& attr, const std::function<Dim(const Dim&)>& f);
/// Attributes with sizes substituted; symbols of "defines" become new ones, which are added to `map`.
Attrs rewrite_attrs(const Attrs& attrs, DimMap& map);
/// All symbols that occur in a function's types and attributes.
void collect_symbols(const Function& f, std::vector<uint64_t>& out);
/// The symbols that an operation defines; those that a function's operations do, inside their bodies too.
std::vector<uint64_t> defined_by(const Op& op);
void collect_defined(const Function& f, std::vector<uint64_t>& out);
/// Does the size depend on one of these symbols?
bool mentions(const Dim& d, const std::vector<uint64_t>& symbols);
/// Attributes with symbols replaced, those of "defines" too.
Attrs substitute(const Attrs& attrs, const DimMap& map);
/// The same function with symbols replaced (the function itself when nothing changes).
FunctionPtr substitute(const FunctionPtr& f, const DimMap& map);
/// Adds to `map` what makes the sizes of `pattern` (bare symbols) equal to those of `actual`.
void bind_sizes(const std::vector<Dim>& pattern, const std::vector<Dim>& actual, DimMap& map);
/// True when the operation or one inside its bodies has at least this effect.
bool reaches(const Op& op, Effect least);
/// Do the lanes or devices of the axis at `level` meet here (attr "over"), or inside of its bodies? False for level -1.
bool meets_over(const Op& op, int64_t level);
bool meets_over(const Function& f, int64_t level);
/// Effects that are seen from outside: failed checks and output.
bool has_effects(const Op& op);
bool has_effects(const Function& f);
/// Drops the operations not kept and renumbers the values.
void compact(Function& f, const std::vector<bool>& keep);

/// Re-emits `f` op by op into `out`; `visit` may take an op over by returning its results.
/// `values` maps f's values to out's and starts with the parameters bound; `map` holds the size substitution.
std::vector<ValueId> rebuild(Builder& out, const Function& f, std::unordered_map<ValueId, ValueId>& values, DimMap& map);

}  // namespace tercet
