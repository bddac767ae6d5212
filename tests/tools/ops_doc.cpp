// Writes docs/ops.md from the table of operations:  ops_doc > docs/ops.md
#include <cstdio>
#include <string>

#include "interpreter/ops/rows.h"

using namespace tercet;

namespace {

template <class... F> struct Cases : F... { using F::operator()...; };
template <class... F> Cases(F...) -> Cases<F...>;

std::string surface_of(const OpDef& op) {
  if (auto* p = std::get_if<Public>(&op.surface)) return std::string("`") + op.name + "(" + p->params + ")`";
  return "";
}

const char* effect_of(const OpDef& op) {
  switch (op.effect) {
    case Effect::Pure: return "";
    case Effect::Endless: return "may not end";
    case Effect::Check: return "check";
    case Effect::Output: return "output";
  }
  return "?";
}

const char* batch_of(const OpDef& op) {
  return std::visit(Cases{[](BatchElementwise) { return "elementwise"; }, [](BatchCustom) { return "own rule"; },
                          [](BatchByLoop) { return "one lane at a time"; }}, op.batch);
}

std::string diff_of(const OpDef& op) {
  return std::visit(Cases{[](ByPartials) -> std::string { return "by partials"; },
                          [](Linear) -> std::string { return "linear"; },
                          [](Multilinear) -> std::string { return "linear in each operand"; },
                          [](ByRule) -> std::string { return "own rule"; },
                          [](NotDifferentiable d) { return std::string("no: ") + d.why; },
                          [](NotYet) -> std::string { return "not yet"; }}, op.diff);
}

}  // namespace

int main() {
  std::printf("# Operations\nThe rows of the operation table, what every program becomes. Made by `./dev docs`; do not edit.\n\n"
              "| row | meaning | by name | effect | `vmap` | derivative |\n| --- | --- | --- | --- | --- | --- |\n");
  for (const OpDef* op : op_table())
    std::printf("| `%s` | %s | %s | %s | %s | %s |\n", op->name, op->doc, surface_of(*op).c_str(), effect_of(*op),
                batch_of(*op), diff_of(*op).c_str());
}
