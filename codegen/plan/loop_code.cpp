#include "codegen/plan/loop_code.h"

#include <fmt/format.h>

#include "codegen/plan/program.h"

namespace tercet::codegen {
namespace {

std::string text_of(Place p) { return fmt::format("{}{}", p.kind == Place::Cell ? 'c' : 'p', p.number); }

class Text {
 public:
  explicit Text(const LoopCode& loop) : loop_(loop) {}
  void repeat(const LoopCode::Repeat& r, int indent) {
    if (r.test < 0) {
      line(indent, fmt::format("for c{} in 0..{}{} as loop {}", r.index, r.length.text(), r.reverse ? " reversed" : "", r.number));
      for (const LoopCode::Row& row : r.rows) line(indent + 1, fmt::format("{} = p{}[c{}]", text_of(row.place), row.pointer, r.index));
    } else {
      line(indent, fmt::format("loop {}", r.number));
      block(r.condition, indent + 1);
      line(indent, fmt::format("while c{}", r.test));
    }
    block(r.body, indent + 1);
    for (const LoopCode::Row& row : r.stacked) line(indent + 1, fmt::format("p{}[c{}] = {}", row.pointer, r.index, text_of(row.place)));
    print(r.next, indent + 1);
  }
  std::string text;

 private:
  void line(int indent, const std::string& what) { text += std::string(static_cast<size_t>(2 * indent), ' ') + what + "\n"; }
  void block(const LoopCode::Block& b, int indent) {
    for (const LoopCode::Item& item : b) std::visit([&](const auto& x) { print(x, indent); }, item);
  }
  void print(const LoopCode::RunKernel& k, int indent) {
    std::string out;
    for (Place p : k.buffers) out += (out.empty() ? "" : ", ") + text_of(p);
    line(indent, fmt::format("kernel {} of program {} ({})", k.kernel, loop_.parts[k.part].program->number, out));
  }
  void print(const LoopCode::Assign& a, int indent) {
    for (auto [to, from] : a.cells) line(indent, fmt::format("c{} = c{}", to, from));
    for (const LoopCode::Assign::Move& m : a.pointers) line(indent, fmt::format("p{} {} p{}", m.to, m.swap ? "<->" : "= copy of", m.from));
  }
  void print(const std::unique_ptr<LoopCode::Choose>& c, int indent) {
    line(indent, fmt::format("if c{}", c->condition));
    block(c->yes, indent + 1);
    line(indent, "else");
    block(c->no, indent + 1);
  }
  void print(const std::unique_ptr<LoopCode::Repeat>& r, int indent) { repeat(*r, indent); }

  const LoopCode& loop_;
};

}  // namespace

bool is_over_lanes(const LoopCode& loop) { return loop.op->attrs.get_or<bool>("lanes", false); }

bool always_fits(const LoopCode& loop) {
  bool scalars = loop.copied.empty() && loop.equal_counts.empty();
  for_each_kernel(loop.outermost, [&](const LoopCode::RunKernel& run, const LoopCode::Repeat&) {
    scalars &= loop.parts[run.part].program->kernels[run.kernel].loops.empty();
  });
  return scalars;
}

std::string print(const LoopCode& loop, size_t number) {
  Text out(loop);
  out.repeat(loop.outermost, 1);
  return fmt::format("loop code {}\n", number) + out.text;
}

// A kernel's key tells its sizes by their slots; extents of its loops are among them.
std::string code_key(const LoopCode& loop, const std::vector<std::string>& kernel_keys) {
  std::string out = print(loop, 0);
  for (Place p : loop.operands) out += " " + text_of(p);
  for (Place p : loop.results) out += " " + text_of(p);
  for (DType cell : loop.cells) out += fmt::format(" {}", tercet::name_of(cell));
  for (auto [cell, bits] : loop.cell_constants) out += fmt::format(" c{}={}", cell, bits);
  for (const LoopCode::Pointer& p : loop.pointers) out += fmt::format(" {}", tercet::name_of(p.dtype));
  for (const LoopCode::Part& p : loop.parts) out += fmt::format(" {}", p.first_size);
  for_each_kernel(loop.outermost, [&](const LoopCode::RunKernel& run, const LoopCode::Repeat&) {
    for (SizeSlot s : run.extents) out += fmt::format(" s{}", s);
  });
  for (const std::string& key : kernel_keys) out += "\n" + key;
  return out;
}

}  // namespace tercet::codegen
