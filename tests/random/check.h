// Runs a module every way there is and compares: reference evaluator, compiled, vmap against a loop over the lanes.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "codegen/backend.h"
#include "interpreter/engine/session.h"
#include "tests/random/generate.h"

namespace tercet::random_programs {

/// What differs: which comparison, in which case, and both sides as text.
struct Difference {
  std::string comparison;      // "jit", "jit_all", "loops", "lanes", "internal", "slow"
  int case_index = -1;         // -1: only when all cases run together
  std::string text;
  /// It is found only where a module is checked in these ways too (`jit_all` of Checker::check).
  bool needs_jit_all() const { return comparison == "jit_all" || comparison == "loops"; }
};

struct Counts {
  int64_t modules = 0, programs = 0;     // programs: functions that ran in at least two ways
  int64_t failed_alike = 0;              // of these, those that end in the same run-time error
  int64_t lanes_compared = 0;            // of these, those compared with a loop over lanes
  int64_t rejected = 0;                  // what does not elaborate: a type, a known limit
  std::map<std::string, int64_t> reasons;     // why rejected
  std::map<std::string, std::string> examples;
};

class Checker {
 public:
  /// Without a back end only vmap is compared with the loop.
  Checker(std::shared_ptr<Backend> backend, CompileOptions compile) : backend_(std::move(backend)), compile_(compile) {}
  /// All of a module's cases; `jit_all`: once more with every statement compiled whole, and with the evaluator's loops compiled.
  std::optional<Difference> check(const Module& module, bool jit_all, Counts& counts);

  int seconds_per_run = 20;

 private:
  std::shared_ptr<Backend> backend_;
  CompileOptions compile_;
};

/// The smallest module found that still differs in the same comparison. Stops after `seconds`.
Module shrink(const Module& module, const Difference& difference, Checker& checker, double seconds);

}  // namespace tercet::random_programs
