// Random programs for gradients: compositions of what has a derivative, over a vector of four f64.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "codegen/backend.h"

namespace tercet::random_programs {

/// The definition of a function f from f64[4] to one f64.
std::string gradient_program(uint64_t seed);

struct GradientCounts {
  int64_t programs = 0;
  int64_t not_smooth = 0;   // more that have a kink near the point
  int64_t other_bits = 0;   // of the programs: compiled and interpreted differ in the last bits
};
/// Compares grad(f) with differences, compiled with interpreted, and vmap(grad f), grad(vmap f) with the rows one
/// by one. What differs, as text.
std::optional<std::string> check_gradient(uint64_t seed, std::shared_ptr<Backend> backend, CompileOptions options, GradientCounts& counts);

}  // namespace tercet::random_programs
