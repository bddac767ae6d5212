#include "tests/random/gradients.h"

#include <fmt/format.h>

#include <vector>

#include "interpreter/engine/session.h"
#include "tests/random/rng.h"

namespace tercet::random_programs {
namespace {

/// Marks in a shape: V and W are vectors of four, R is a parameter of a function inside.
const std::vector<std::string> leaves{"x", "x[::-1]", "x * 0.5", "sin(x)", "f64([0.3, -0.8, 0.5, 1.2])", "roll(x, 1)"};
const std::vector<std::string> unary{
    "sin(V)", "tanh(V)", "sigmoid(V)", "exp(V * 0.3)", "sqrt(V * V + 1.0)", "softplus(V)", "abs(V)", "relu(V)", "log1p(V * V)", "cumsum(V) * 0.4",
    "softmax(V)", "sort(V)", "flip(V)", "(V - mean(V))", "layer_norm(V)", "cummax(V)", "cumprod(V * 0.7)", "gelu(V)", "silu(V)", "erf(V)", "-V",
    "V ** 2 * 0.3", "V ** 3 * 0.1", "(V * norm(V) * 0.3)", "(V * prod(V * 0.8))", "(V * max(V) * 0.3)", "(V + logsumexp(V))", "(V * std(V))",
    "V[[2, 0, 2, 1]]", "concat((V[2:], V[:2]))", "reshape(transpose(reshape(V, (2, 2))), 4)", "top_k(V, 4)[0]", "V[::-1]", "atan(V)", "cbrt(V * V + 0.5)",
    "checkpoint(u => sin(u) * u)(V)", "[sin(r) * 0.5 + r for r in V]", "map(r => sin(r) * 0.5, V)", "vmap(r => if r > 0.2 { r * r } else { sin(r) })(V)",
    "deeper(V, 3)", "early(V)", "flatten(vmap(row => softmax(row))(ragged(V, [1, 3])))", "flatten(vmap(row => cumsum(row) * sum(row))(ragged(V, [2, 0, 2])))",
    "flatten(vmap(row => sort(row) * mean(row))(ragged(V, [3, 1])))", "(V + sum(jacobian(u => sin(u) * u[0])(V)) * 0.1)", "grad(u => sum(sin(u) * u))(V)",
    "pmap[0, devices=2, split=true](r => sin(r) * 0.5)(V)"};
const std::vector<std::string> binary{
    "(V + W)", "(V - W)", "(V * W)", "V / (W * W + 1.5)", "maximum(V, W)", "minimum(V, W)", "where(V > W, V, W * 0.5)", "hypot(V, W + 2.0)", "logaddexp(V, W)",
    "atan2(V, W * W + 1.5)", "concat((V[1:], W[:1]))", "reshape(reshape(V, (2, 2)) @ reshape(W, (2, 2)), 4)", "stack((V, W))[1]", "sum(outer(V, W), axis=0) * 0.3",
    "(V * dot(V, W) * 0.3)", "put(V, [0, 2, 0], W[:3], op=\"add\")", "put(V, [3, 1, 3], W[1:])", "put(V, [0, 2, 2], W[:3], op=\"max\")",
    "{ var y = V; y[1] = W[0] * y[2]; y[2:] += W[:2]; y }", "(if sum(V) > 0.4 { V } else { sin(W) })", "{ var s = V; for i in 0..3 { s = tanh(s + W * 0.5) }; s }",
    "{ var s = V; var n = 0; while n < 4 and sum(s * s) > 0.5 { s = s * 0.8 + W * 0.1; n = n + 1 }; s }",
    "{ var s = V; for i in 0..4 { if s[i] > 1.0 { break }; s = s * 0.9 + W[i] * 0.2 }; s }", "fold((c, r) => tanh(c + r * 0.5), V, stack((W, V)))",
    "scan((c, r) => (c * 0.5 + r, c * r), V, stack((W, V)))[1][1]", "map(r => sin(r) * sum(V) * 0.3, W)", "vmap[0, _]((r, v) => r * max(v) + sum(v) * 0.1)(W, V)",
    "vmap((r, v) => { var s = r; while s < 2.0 { s = s * 1.5 + v * v + 0.3 }; s })(abs(V), W)", "lerp(V, W, 0.3)", "vmap((a, b) => a * b)(V, W)",
    "jvp(u => sin(u) * u, V, W)[1]", "(V * W[2] + W * V[1])"};

class Writer {
 public:
  explicit Writer(uint64_t seed) : rng_(seed) {}
  std::string vector(int depth) {
    if (depth == 0 || rng_.below(8) == 0) return pick(leaves);
    std::string shape = rng_.below(2) ? pick(unary) : pick(binary);
    std::string v = vector(depth - 1), w = shape.find('W') == std::string::npos ? "" : vector(rng_.below(depth));
    // Bound to names, so that a part that is used twice is computed once.
    int number = next_++;
    std::string out, first = fmt::format("a{}", number), second = fmt::format("b{}", number);
    for (char c : shape) out += c == 'V' ? first : c == 'W' ? second : std::string(1, c);
    return fmt::format("{{ let {} = {}; {}{} }}", first, v, w.empty() ? "" : fmt::format("let {} = {}; ", second, w), out);
  }

 private:
  const std::string& pick(const std::vector<std::string>& from) { return rng_.pick(from); }
  Rng rng_;
  int next_ = 0;
};

constexpr const char* helpers =
    "fn deeper(v, n) = if n == 0 { v } else { tanh(deeper(v * 0.9, n - 1)) + v * 0.1 }\n"
    "fn early(v) { if v[0] > 0.6 { return v * v }; for i in 0..3 { if v[i] < -0.5 { return sin(v) } }; v * 0.7 }\n"
    "fn difference(x, h) = [(f(put(x, i, x[i] + h)) - f(put(x, i, x[i] - h))) / (2.0 * h) for i in 0..4]\n"
    "fn near(a, b, t) = all(abs(a - b) <= t * (1.0 + maximum(abs(a), abs(b))))\n"
    "let point = f64([0.31, -0.72, 1.13, 0.54])\n"
    "let points = stack((point, point * 0.7 + 0.05, point[::-1] * 1.1))\n";

}  // namespace

std::string gradient_program(uint64_t seed) {
  Writer writer(seed);
  return fmt::format("fn f(x) = sum({} * f64([0.7, -0.4, 1.1, 0.3]))\n", writer.vector(3));
}

std::optional<std::string> check_gradient(uint64_t seed, std::shared_ptr<Backend> backend, CompileOptions options, GradientCounts& counts) {
  std::string printed, program = gradient_program(seed);
  SessionOptions o;
  o.backend = std::move(backend);
  o.compile = options;
  o.write = [&](std::string_view text) { printed += text; };
  Session session(std::move(o));
  auto told = [&](const std::string& text) {
    printed.clear();
    Outcome out = session.run(session.add_source("program", text));
    for (const Diagnostic& d : out.diagnostics) printed += render(d, session.sources());
    return printed;
  };
  auto holds = [&](const std::string& condition) { return told("print(" + condition + ")\n") == "true\n"; };
  if (std::string error = told(program + helpers); !error.empty()) return program + error;
  if (!holds("near(difference(point, 1e-6), difference(point, 3e-5), 1e-5) and all(isfinite(difference(point, 1e-6)))")) {
    if (std::string error = told("print(grad(f)(point))"); error.find("error") != std::string::npos) return program + error;
    ++counts.not_smooth;
    return std::nullopt;
  }
  ++counts.programs;
  std::string interpreted = told("print(grad(f)(point))\n"), compiled = told("print((jit grad f)(point))\n");
  if (!holds("near(grad(f)(point), difference(point, 1e-6), 2e-6)"))
    return program + "gradient " + interpreted + "differences " + told("print(difference(point, 1e-6))\n");
  // A value under a second name of its size is one more place where cotangents are added up, which can group them otherwise.
  counts.other_bits += interpreted != compiled;
  if (!holds("near(grad(f)(point), (jit grad f)(point), 1e-12)")) return program + "interpreted " + interpreted + "compiled " + compiled;
  if (!holds("near(vmap(grad(f))(points), stack((grad(f)(points[0]), grad(f)(points[1]), grad(f)(points[2]))), 1e-10)"))
    return program + "vmap of the gradient " + told("print(vmap(grad(f))(points))\n") + "row by row " + told("print(grad(f)(points[0]), grad(f)(points[1]), grad(f)(points[2]))\n");
  if (!holds("near(grad(x => sum(vmap(f)(x)))(points), vmap(grad(f))(points), 1e-10)"))
    return program + "gradient of vmap " + told("print(grad(x => sum(vmap(f)(x)))(points))\n") + "vmap of the gradient " + told("print(vmap(grad(f))(points))\n");
  return std::nullopt;
}

}  // namespace tercet::random_programs
