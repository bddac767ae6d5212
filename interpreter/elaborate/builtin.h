// The library's names that are not written in Tercet: each has parameters and a lowering to operations.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "interpreter/elaborate/frame.h"
#include "interpreter/ir/op_def.h"

namespace tercet {

class Elaborator;

/// Arguments in parameter order; absent ones are nullopt.
using BuiltinArguments = std::vector<std::optional<Sym>>;

struct BuiltinDef {
  const char* name;
  /// "x, axis=, keepdims=": a name followed by = may be left out; a leading * takes any number of positional arguments.
  const char* params;
  const char* doc;
  Sym (*lower)(Elaborator&, BuiltinArguments&);
  /// The public elementwise row this stands for, or null.
  const OpDef* op = nullptr;
};

/// A builtin of that name (or a public elementwise row), or null.
const BuiltinDef* find_builtin(const std::string& name);
std::vector<std::string> builtin_names();
/// The builtins of each part of the library, as `import` names them.
const std::map<std::string, std::vector<std::string>>& builtin_parts();
/// Does it read or write files? A host may forbid that.
bool uses_files(const BuiltinDef& def);
/// The value of `nan`, `inf`, `pi` or `e`; nullopt for any other name.
std::optional<double> find_constant(const std::string& name);
using BuiltinList = std::span<const BuiltinDef>;
extern const BuiltinList creation_builtins, shape_builtins, reduction_builtins, indexing_builtins, language_builtins,
    linear_builtins, text_builtins, order_builtins, random_builtins, derivative_builtins, device_builtins, file_builtins;

}  // namespace tercet
