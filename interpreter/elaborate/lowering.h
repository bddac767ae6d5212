// What the lowerings of the library's names (builtins_*.cpp) share.
#pragma once
#include "interpreter/elaborate/elaborator.h"

namespace tercet {

/// Whether an optional argument was left out; `none` says the same.
inline bool absent(const std::optional<Sym>& argument) { return !argument || argument->is_none(); }

/// "1 argument", "2 arguments".
inline std::string plural(size_t n, const char* word) { return std::to_string(n) + " " + word + (n == 1 ? "" : "s"); }

/// The dtype that an argument names (f32, or the text "f32"); error `type` where it is none (builtins_creation.cpp).
DType dtype_argument(Elaborator& e, const std::optional<Sym>& value, DType fallback);

/// The field `unknown` of a vocabulary that has an entry for unknown tokens; without one it is none (builtins_files.cpp).
Leaf unknown_entry(Elaborator& e, std::string_view token);

/// What `errors=` of a function that reads text says: "strict" (an error, the default) or "replace" (builtins_files.cpp).
bool replaces_invalid(Elaborator& e, const std::optional<Sym>& errors);

/// Keys that come of a key, as split(k, n): n may be a shape (builtins_random.cpp).
Sym split_key(Elaborator& e, const Sym& key, const std::optional<Sym>& n);

/// The function that a transform of kind Grad makes of `of`; `spec` brings the options (gradients.cpp).
Sym derivative_of(Derivative kind, Sym of, TransformSpec spec = {});

/// The product of sizes: 1 of none.
inline Dim element_count(std::span<const Dim> sizes) {
  Dim count(1);
  for (const Dim& d : sizes) count = count * d;
  return count;
}

/// All elements in row-major order along one axis.
inline Leaf flattened(Elaborator& e, const Leaf& x) { return e.reshape(e.frame().result(e.use(x)), {element_count(x.type.dims)}); }

/// The elements of rows of different length, one row after another.
inline Leaf values_of_rows(Elaborator& e, const Leaf& x) { return e.emit(*find_op("flatten"), {e.use(x)}, {{"defines", Dim::symbol("total")}}, x.weak); }

/// The product of the sizes of some axes of x.
inline Dim element_count_along(const Leaf& x, std::span<const int64_t> axes) {
  std::vector<Dim> sizes;
  for (int64_t k : axes) sizes.push_back(x.type.dims[static_cast<size_t>(k)]);
  return element_count(sizes);
}

}  // namespace tercet
