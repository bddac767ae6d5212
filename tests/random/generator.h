// The generator's state while it writes one function.
#pragma once
#include <functional>

#include "tests/random/generate.h"

namespace tercet::random_programs {

inline constexpr int64_t largest_count = 150000;   // elements of an array

/// Thrown where a maker asks for a larger one; whoever chose the maker chooses another.
struct TooLarge {};

struct Variable {
  std::string text;        // an expression that reads it
  Ty type;
  bool assignable = false; // a statement here may assign to it
  bool changes = false;    // declared with var: no closure may capture it
};

/// A function of the module that calls may name.
struct Helper {
  std::string name;
  std::vector<Ty> params;
  Ty result;
};

struct Scope {
  std::vector<Variable> variables;
  bool in_loop = false;
  bool may_return = false;
  Ty result;               // what `return` gives
};

class Generator {
 public:
  Generator(uint64_t seed) : rng(seed) {}

  Rng rng;
  std::vector<Helper> helpers;
  bool lanes = false;              // the function will run under vmap: no sizes that depend on values
  bool uses_contraction = false;
  int long_size = 0;               // not 0: some arrays of the function are this long

  // types.cpp
  DType any_dtype();
  DType float_dtype();
  DType int_dtype();
  int any_size();
  Ty any_type(int max_rank = 3);

  // leaves.cpp
  Code number(const Ty& t);                            // a literal of rank 0
  Code leaf(const Ty& t, Scope& s);
  std::string size(int n, Scope& s);                   // the number, or a size that is known to be it
  std::string shape(const std::vector<int>& sizes, Scope& s);
  Code index_below(int n, const std::vector<int>& shape, Scope& s, int depth);   // integers in 0 .. n-1

  // expressions.cpp
  Code expr(const Ty& t, Scope& s, int depth);
  /// An operand that broadcasts to t's shape.
  Code operand(const Ty& t, Scope& s, int depth);

  // the makers of expressions: null when they do not apply
  using Maker = Code (Generator::*)(const Ty&, Scope&, int);
  Code arithmetic(const Ty&, Scope&, int), comparison(const Ty&, Scope&, int), unary(const Ty&, Scope&, int),
      public_op(const Ty&, Scope&, int), choice(const Ty&, Scope&, int), conversion(const Ty&, Scope&, int);
  Code reduction(const Ty&, Scope&, int), cumulative(const Ty&, Scope&, int), statistics(const Ty&, Scope&, int),
      contraction(const Ty&, Scope&, int), ordering(const Ty&, Scope&, int), counting(const Ty&, Scope&, int),
      masked(const Ty&, Scope&, int);
  Code indexed(const Ty&, Scope&, int), sliced(const Ty&, Scope&, int), window(const Ty&, Scope&, int), gathered(const Ty&, Scope&, int),
      taken(const Ty&, Scope&, int), updated(const Ty&, Scope&, int);
  Code joined(const Ty&, Scope&, int), rearranged(const Ty&, Scope&, int), literal_array(const Ty&, Scope&, int), created(const Ty&, Scope&, int),
      drawn(const Ty&, Scope&, int);
  Code branch(const Ty&, Scope&, int), block(const Ty&, Scope&, int), comprehension(const Ty&, Scope&, int), folded(const Ty&, Scope&, int),
      mapped(const Ty&, Scope&, int), helper_call(const Ty&, Scope&, int), lambda_call(const Ty&, Scope&, int), structure(const Ty&, Scope&, int);

  // statements.cpp
  /// Statements, one a line; they may add variables to the scope.
  std::vector<Code> statements(Scope& s, int count, int depth);
  Code one_statement(Scope& s, int depth);
  /// The body of a function: statements and a last expression.
  Code body(const Ty& result, Scope& s, int count, int depth);
  /// The same for a tuple or record, `form` with one `$` for each part.
  Code body(const char* form, const std::vector<Ty>& parts, Scope& s, int count, int depth);
  std::string fresh(const char* stem) { return stem + std::to_string(names_++); }
  /// What a closure sees: variables that will not change.
  Scope closed(const Scope& s);

  /// e converted to t's dtype where it may have another.
  Code as(const Ty& t, Code e);

 private:
  Code any_statement(Scope& s, int depth), loop(Scope& s, int depth), loop_of_elements(Scope& s), conditional(Scope& s, int depth), assignment(Scope& s, int depth), print_statement(Scope& s, int depth);
  int names_ = 0;
};

}  // namespace tercet::random_programs
