#include "codegen/plan/band.h"

#include <algorithm>

namespace tercet::codegen {
namespace {

constexpr size_t fewest_kernels = 2;

/// The kernel of a step if bands may hold it: its outermost loop goes over rows that do not meet.
const Kernel* kernel_of(const Program& p, const Step& step) {
  auto* s = std::get_if<KernelStep>(&step.what);
  if (!s || !step.binds.empty()) return nullptr;
  const Kernel& k = p.kernels[s->kernel];
  bool rows = !k.loops.empty() && !k.loops[0].reduced && !k.loops[0].unrolled && !k.scatter;
  for (const Store& store : k.stores) rows &= store.rows > 0;
  for (const Reduction& reduction : k.reductions) rows &= reduction.rows > 0;
  return rows ? &k : nullptr;
}

/// The q for which whole == rows * q, where one of the products of the last axes of what the kernel writes is one.
std::optional<Dim> quotient(const Function& f, const Kernel& k, const Dim& whole, const Dim& rows) {
  if (whole == rows) return Dim(1);
  for (const Store& store : k.stores) {
    const std::vector<Dim>& dims = f.type(k.buffers[static_cast<size_t>(store.buffer)]).dims;
    Dim inner(1);
    for (size_t a = dims.size(); a-- > 0;) {
      inner = inner * dims[a];
      if (rows * inner == whole) return inner;
    }
  }
  return std::nullopt;
}

class BandFinder {
 public:
  explicit BandFinder(Program& p) : p_(p), f_(*p.function) {}

  void run() {
    for (size_t at = 0; at < p_.steps.size(); ++at)
      if (!extend(at)) {
        close();
        extend(at);
      }
    close();
  }

 private:
  /// Adds step `at` to the band that is open, or opens one with it.
  bool extend(size_t at) {
    const Kernel* k = kernel_of(p_, p_.steps[at]);
    if (!k) return false;
    const Dim& extent = k->loops[0].extent;
    if (members_.empty()) {
      first_ = at;
      rows_ = extent;
      members_.push_back({k, Dim(1)});
      return true;
    }
    if (!reads_by_row(*k)) return false;
    if (auto q = quotient(f_, *k, extent, rows_)) {
      members_.push_back({k, *q});
      return true;
    }
    std::vector<Member> longer;   // the rows of this kernel may be longer: those so far are parts of them
    for (const Member& m : members_) {
      auto q = quotient(f_, *m.kernel, m.kernel->loops[0].extent, extent);
      if (!q) return false;
      longer.push_back({m.kernel, *q});
    }
    members_ = std::move(longer);
    rows_ = extent;
    members_.push_back({k, Dim(1)});
    return true;
  }
  bool made_here(ValueId v) const {
    for (size_t m = 0; m < members_.size(); ++m) {
      const std::vector<ValueId>& written = std::get<KernelStep>(p_.steps[first_ + m].what).written;
      if (std::find(written.begin(), written.end(), v) != written.end()) return true;
    }
    return false;
  }
  bool reads_by_row(const Kernel& k) const {
    return std::all_of(k.nodes.begin(), k.nodes.end(), [&](const Node& n) {
      return n.kind != NodeKind::Load || n.rows > 0 || !made_here(k.buffers[static_cast<size_t>(n.buffer)]);
    });
  }

  void close() {
    if (members_.size() >= fewest_kernels) {
      Band band{first_, members_.size(), p_.sizes.slot(rows_), {}, {}};
      for (const Member& m : members_) band.units.push_back(p_.sizes.slot(m.units));
      find_scratch(band);
      drop_unsafe_reuse();
      p_.bands.push_back(std::move(band));
    }
    members_.clear();
  }
  /// What is made and dies inside of the band.
  void find_scratch(Band& band) {
    std::vector<ValueId> dead;
    for (size_t m = 0; m < members_.size(); ++m) dead.insert(dead.end(), p_.steps[first_ + m].dies.begin(), p_.steps[first_ + m].dies.end());
    for (ValueId v : dead)
      if (made_here(v)) band.scratch.push_back(v);
  }
  /// Memory is taken over only from what the kernels before read row by row too: other rows still need it.
  void drop_unsafe_reuse() {
    for (size_t m = 0; m < members_.size(); ++m)
      for (ValueId& from : std::get<KernelStep>(p_.steps[first_ + m].what).reuse)
        if (from != no_value && read_across(from)) from = no_value;
  }
  bool read_across(ValueId v) const {
    for (const Member& m : members_)
      for (const Node& n : m.kernel->nodes)
        if (n.kind == NodeKind::Load && n.rows == 0 && m.kernel->buffers[static_cast<size_t>(n.buffer)] == v) return true;
    return false;
  }

  struct Member {
    const Kernel* kernel;
    Dim units;   // steps of its loop 0 in a row
  };
  Program& p_;
  const Function& f_;
  size_t first_ = 0;
  Dim rows_;
  std::vector<Member> members_;
};

}  // namespace

void find_bands(Program& program) { BandFinder(program).run(); }

}  // namespace tercet::codegen
