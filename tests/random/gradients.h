// Random programs for gradients: compositions of what has a derivative, over a vector of four f64.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "codegen/backend.h"

namespace tercet::random_programs {

/// The definition of a function f from f64[4] to one f64.
std::string gradient_program(uint64_t seed);

struct GradientCounts { int64_t programs = 0, not_smooth = 0; };   // those with a kink near the point are not counted as programs
/// Compares grad(f) with differences, compiled with interpreted bit for bit, and vmap(grad f), grad(vmap f) with the rows one
/// by one. What differs, as text.
std::optional<std::string> check_gradient(uint64_t seed, std::shared_ptr<Backend> backend, CompileOptions options, GradientCounts& counts);

}  // namespace tercet::random_programs
