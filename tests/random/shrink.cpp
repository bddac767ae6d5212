// Making a failing module smaller: whole cases, statements and expressions are left out as long as it still fails.
#include <algorithm>
#include <chrono>
#include <functional>

#include "tests/random/check.h"

namespace tercet::random_programs {
namespace {

Code copy_of(const Code& c) {
  Code out = std::make_shared<Node>(*c);
  for (Code& child : out->children) child = copy_of(child);
  return out;
}

Module copy_of(const Module& m) {
  Module out = m;
  for (Code& h : out.helpers) h = copy_of(h);
  for (Case& c : out.cases) c.definition = copy_of(c.definition);
  return out;
}

void all_slots(Code& slot, std::vector<Code*>& out) {
  out.push_back(&slot);
  for (Code& child : slot->children) all_slots(child, out);
}

/// What may stand in place of a node: nothing, something of its type inside it, the plainest value.
std::vector<Code> smaller(const Code& c) {
  std::vector<Code> out;
  if (c->kind == Node::Statement) out.push_back(fixed(""));
  if (c->kind != Node::Expression) return out;
  Code plain = code(c->type, plain_text(c->type));
  if (plain->text().size() < c->text().size()) out.push_back(plain);
  std::function<void(const Code&)> find = [&](const Code& at) {
    for (const Code& child : at->children) {
      if (child->kind == Node::Expression && child->type == c->type) out.push_back(child);
      else find(child);
    }
  };
  find(c);
  return out;
}

}  // namespace

Module shrink(const Module& module, const Difference& difference, Checker& checker, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  Module best = copy_of(module);
  auto fails = [&] {
    Counts ignored;
    auto d = checker.check(best, difference.needs_jit_all(), ignored);
    return d && d->comparison == difference.comparison;
  };
  if (difference.case_index >= 0 && best.cases.size() > 1) {
    std::vector<Case> all = best.cases;
    best.cases = {all[static_cast<size_t>(difference.case_index)]};
    if (!fails()) best.cases = all;
  }
  for (size_t i = best.cases.size(); i-- > 0 && best.cases.size() > 1;) {
    Case removed = best.cases[i];
    best.cases.erase(best.cases.begin() + static_cast<std::ptrdiff_t>(i));
    if (!fails()) best.cases.insert(best.cases.begin() + static_cast<std::ptrdiff_t>(i), removed);
  }
  for (bool progress = true; progress && Clock::now() < end;) {
    progress = false;
    std::vector<Code*> slots;
    for (Case& c : best.cases) all_slots(c.definition, slots);
    for (Code& h : best.helpers) all_slots(h, slots);
    std::stable_sort(slots.begin(), slots.end(), [](Code* a, Code* b) { return (*a)->text().size() > (*b)->text().size(); });
    for (size_t i = 0; i < slots.size() && !progress && Clock::now() < end; ++i) {
      Code before = *slots[i];
      for (const Code& candidate : smaller(before)) {
        *slots[i] = candidate;
        if (fails()) {
          progress = true;
          break;
        }
        *slots[i] = before;
      }
    }
  }
  // Helpers and inputs that are not needed.
  for (size_t i = best.helpers.size(); i-- > 0;) {
    Code removed = best.helpers[i];
    best.helpers.erase(best.helpers.begin() + static_cast<std::ptrdiff_t>(i));
    if (!fails()) best.helpers.insert(best.helpers.begin() + static_cast<std::ptrdiff_t>(i), removed);
  }
  for (size_t i = best.inputs.size(); i-- > 0;) {
    Input removed = best.inputs[i];
    best.inputs.erase(best.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    if (!fails()) best.inputs.insert(best.inputs.begin() + static_cast<std::ptrdiff_t>(i), removed);
  }
  return best;
}

}  // namespace tercet::random_programs
