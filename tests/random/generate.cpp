// Modules: inputs, helpers, and the functions under test with their calls.
#include "tests/random/generate.h"

#include <fmt/format.h>

#include "tests/random/generator.h"

namespace tercet::random_programs {
namespace {

std::string input_value(Rng& rng, DType t) {
  if (t == DType::Bool) return rng.chance(50) ? "true" : "false";
  if (is_float(t)) {
    if (rng.chance(10)) return rng.pick({"nan", "inf", "-inf", "-0.0", "1e-40", "-1e-40", "3e38", "1e-8", "65504.0", "0.0"});
    return fmt::format("{}", fmt::format("{:.3f}", static_cast<double>(rng.between(-4000, 4000)) / (rng.chance(50) ? 1000.0 : 250.0)));
  }
  if (rng.chance(6)) return rng.pick({"127", "-128", "255", "32767", "-2147483648", "2147483647", "65536"});
  return std::to_string(is_signed_int(t) ? rng.between(-12, 30) : rng.between(0, 40));
}

Input input(Rng& rng, const std::string& name, const Ty& t) {
  std::string dtype = name_of(t.dtype);
  if (t.count() == 0) return {name, t, dtype + "(zeros(" + shape_text(t.shape) + "))"};
  if (t.rank() == 0) return {name, t, dtype + "(" + input_value(rng, t.dtype) + ")"};
  std::string list;
  if (t.count() > 500) {
    std::string values = fmt::format("arange({}) * {} % {} - {}", t.count(), rng.pick({1, 7, 37}), rng.pick({13, 101, 1009}), rng.below(50));
    return {name, t, fmt::format("{}(reshape({}{}, {}))", dtype, values, is_float(t.dtype) ? " / 7" : "", shape_text(t.shape))};
  }
  for (int64_t i = 0; i < t.count(); ++i) list += (i ? ", " : "") + input_value(rng, t.dtype);
  return {name, t, fmt::format("reshape({}([{}]), {})", dtype, list, shape_text(t.shape))};
}

/// `given` with a lane axis, as the mapped form of a parameter.
Ty with_lanes(Ty t, int lanes, int axis) {
  t.shape.insert(t.shape.begin() + axis, lanes);
  return t;
}

class ModuleWriter {
 public:
  explicit ModuleWriter(uint64_t seed) : g_(seed) {}

  Module write(int cases) {
    for (int i = 0, n = g_.rng.between(1, 3); i < n; ++i) helper();
    for (int i = 0; i < cases; ++i) test_case(i);
    return std::move(module_);
  }

 private:
  /// An input of that type: one that is there, or a new one.
  std::string input_of(const Ty& t) {
    std::vector<std::string> fitting;
    for (const Input& in : module_.inputs)
      if (in.type == t) fitting.push_back(in.name);
    if (!fitting.empty() && g_.rng.chance(70)) return g_.rng.pick(fitting);
    module_.inputs.push_back(input(g_.rng, fmt::format("g{}", module_.inputs.size()), t));
    return module_.inputs.back().name;
  }

  std::string annotation(const Ty& t) {
    if (g_.rng.chance(75)) return "";
    std::string sizes;
    for (int n : t.shape) sizes += (sizes.empty() ? "" : ", ") + (g_.rng.chance(60) ? fmt::format("d{}", n) : std::to_string(n));
    return std::string(": ") + name_of(t.dtype) + (t.rank() ? "[" + sizes + "]" : "");
  }

  void helper() {
    Helper h{fmt::format("help_{}", g_.helpers.size()), {}, g_.any_type(2)};
    Scope s;
    std::string params;
    for (int i = 0, n = g_.rng.between(1, 3); i < n; ++i) {
      Ty t = g_.any_type(2);
      h.params.push_back(t);
      std::string name = fmt::format("q{}", i);
      params += (i ? ", " : "") + name;
      s.variables.push_back({name, t});
    }
    s.may_return = g_.rng.chance(30);
    g_.lanes = true;
    module_.helpers.push_back(fixed("fn " + h.name + "(" + params + ") $\n", {g_.body(h.result, s, g_.rng.below(3), g_.rng.between(1, 3))}));
    g_.helpers.push_back(std::move(h));
  }

  void test_case(int number) {
    Case c;
    c.name = fmt::format("test_{}", number);   // f16 is a dtype
    c.mapped = g_.rng.chance(45);
    c.lanes = g_.rng.pick({1, 2, 3, 3, 4, 5, 9, 17});
    g_.lanes = c.mapped;
    g_.uses_contraction = false;
    g_.long_size = g_.rng.chance(4) ? g_.rng.pick({1000, 4095, 4097, 9001, 70000}) : 0;
    Scope s;
    std::string params;
    int groups = g_.rng.between(1, 3);
    bool any_mapped = false;
    for (int i = 0; i < groups; ++i) {
      std::string name = fmt::format("a{}", i);
      params += (i ? ", " : "") + name;
      int form = g_.rng.below(10);   // 0: tuple, 1: record
      std::vector<Argument> group;
      for (int k = 0, n = form < 2 ? 2 : 1; k < n; ++k) {
        Ty t = g_.any_type(2), given = t;
        if (c.mapped && t.count() > 10000) t.shape = given.shape = {3};
        Argument a;
        if (c.mapped && (g_.rng.chance(60) || (i == groups - 1 && !any_mapped))) {
          a.axis = g_.rng.chance(75) ? 0 : g_.rng.below(t.rank() + 1);
          given = with_lanes(t, c.lanes, a.axis);
          any_mapped = true;
        }
        a.rank = given.rank();
        a.input = input_of(given);
        s.variables.push_back({form == 0 ? fmt::format("{}[{}]", name, k) : form == 1 ? name + (k ? ".v" : ".u") : name, t});
        if (form >= 2) params += annotation(t);
        group.push_back(a);
      }
      c.arguments.push_back({form == 0 ? Group::Tuple : form == 1 ? Group::Record : Group::Plain, group});
    }
    if (g_.rng.chance(20) && !module_.inputs.empty()) {   // a global, which the function reads as it is at the call
      const Input& global = g_.rng.pick(module_.inputs);
      if (global.type.count() < 1000) s.variables.push_back({global.name, global.type});
    }
    int form = g_.rng.below(10), statements = g_.rng.pick({0, 0, 0, 0, 1, 1, 2, 4}), depth = g_.rng.pick({1, 1, 1, 2, 2, 2, 3, 4});
    s.may_return = form >= 2 && g_.rng.chance(25);
    Code body = form >= 2 ? g_.body(g_.any_type(), s, statements, depth)
                          : g_.body(form == 0 ? "($, $)" : "(u=$, v=$)", {g_.any_type(), g_.any_type()}, s, statements, depth);
    c.definition = fixed("fn " + c.name + "(" + params + ") $\n", {body});
    g_.long_size = 0;
    c.close = c.mapped && g_.uses_contraction;
    module_.cases.push_back(std::move(c));
  }

  Generator g_;
  Module module_;
};

/// One argument with each part written by `part`.
template <class F> std::string written(const Group& group, F part) {
  if (group.form == Group::Plain) return part(group.parts[0]);
  std::string out = "(";
  for (size_t k = 0; k < group.parts.size(); ++k)
    out += std::string(k ? ", " : "") + (group.form == Group::Record ? k ? "v=" : "u=" : "") + part(group.parts[k]);
  return out + ")";
}

template <class F> std::string written(const std::vector<Group>& groups, F part) {
  std::string out;
  for (const Group& g : groups) out += (out.empty() ? "" : ", ") + written(g, part);
  return out;
}

}  // namespace

std::string Case::call(const std::string& prefix) const {
  std::string values = written(arguments, [&](const Argument& a) { return prefix + a.input; });
  if (!mapped) return name + "(" + values + ")";
  std::string specs = written(arguments, [](const Argument& a) { return a.axis < 0 ? "_" : std::to_string(a.axis); });
  return "(vmap[" + specs + "] " + name + ")(" + values + ")";
}

std::string Case::lane_call(int lane) const {
  return name + "(" + written(arguments, [&](const Argument& a) {
    if (a.axis < 0) return a.input;
    std::string out = a.input + "[";
    for (int k = 0; k < a.axis; ++k) out += ":, ";
    return out + std::to_string(lane) + "]";
  }) + ")";
}

std::string Module::text() const {
  std::string out;
  for (const Input& in : inputs) out += "let " + in.name + " = " + in.text + "\n";
  for (const Code& h : helpers) h->write(out);
  for (const Case& c : cases) c.definition->write(out);
  return out;
}

Module generate(uint64_t seed, int cases) {
  Module m = ModuleWriter(Rng(seed).next()).write(cases);   // far apart: the streams of neighbouring seeds would overlap
  m.seed = seed;
  return m;
}

}  // namespace tercet::random_programs
