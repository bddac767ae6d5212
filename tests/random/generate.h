// Random programs: typed, so that most of them run, and made to meet as much of the language as possible.
//
// One module is a source with inputs, helper functions and a number of test functions, each of which is applied to
// inputs in one call. Some calls are under vmap; these also say what a loop over the lanes would call.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tests/random/code.h"
#include "tests/random/rng.h"

namespace tercet::random_programs {

struct Input {
  std::string name;
  Ty type;
  std::string text;        // the expression that makes it
};

struct Argument {
  std::string input;       // name of an input
  int axis = -1;           // mapped axis, -1: shared
  int rank = 0;            // of the input
};

/// What one parameter gets: an input, or a tuple or record (u=, v=) of two.
struct Group {
  enum Form { Plain, Tuple, Record } form = Plain;
  std::vector<Argument> parts;
};

/// One program: a function and how it is called.
struct Case {
  std::string name;                    // of the function
  Code definition;
  std::vector<Group> arguments;
  bool mapped = false;                 // under vmap
  int lanes = 0;
  bool close = false;                  // a contraction under vmap may differ from the loop within an error bound

  /// "f(a, b)", "(vmap[0, _] f)(a, b)", with what stands for the function and for the inputs ("g" -> prefix + "g").
  std::string call(const std::string& prefix = "") const;
  /// The call for one lane: "f(a[2], b)".
  std::string lane_call(int lane) const;
};

struct Module {
  uint64_t seed = 0;
  std::vector<Input> inputs;
  std::vector<Code> helpers;
  std::vector<Case> cases;
  /// Inputs and all definitions.
  std::string text() const;
};

Module generate(uint64_t seed, int cases);

}  // namespace tercet::random_programs
