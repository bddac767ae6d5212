#include "interpreter/ops/element_loops.h"

#include <algorithm>
#include <type_traits>

#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

/// As many as are not worth a loop over them.
bool is_few(const Type& t) {
  constexpr int64_t few = 16;
  int64_t count = 1;
  for (const Dim& d : t.dims) {
    const std::optional<int64_t> size = d.constant();
    if (!size || *size > few || (count *= *size) > few) return false;
  }
  return true;
}

/// Reads the steps of a loop, those of loops and branches inside it too.
class StepReader {
 public:
  bool writes = false;   // into an array that is not just a few numbers

  bool fits(const Op& loop) {
    return loop.attrs.get_or<std::vector<Dim>>("defines", {}).empty() &&
           std::all_of(loop.bodies.begin(), loop.bodies.end(), [&](const FunctionPtr& body) { return fits(*body); });
  }

 private:
  bool fits(const Function& f) {
    return std::all_of(f.types.begin(), f.types.end(), [](const Type& t) { return is_number(t.dtype) && !t.is_ragged(); }) &&
           std::all_of(f.ops.begin(), f.ops.end(), [&](const Op& op) { return fits(f, op); });
  }
  bool fits(const Function& f, const Op& op) {
    return std::visit([&](const auto& code) { return fits(f, op, code); }, op.def->code);
  }

  template <class Kind> bool fits(const Function& f, const Op& op, const Kind&) {
    constexpr bool of_numbers = std::is_same_v<Kind, CodeElementwise> || std::is_same_v<Kind, CodeReduce> || std::is_same_v<Kind, CodeConcat> ||
                                std::is_same_v<Kind, CodeIota> || std::is_same_v<Kind, CodeSize>;
    return of_numbers && takes_few(f, op, 0) && gives_few(f, op);
  }
  bool fits(const Function&, const Op&, const CodeConstant&) { return true; }
  bool fits(const Function&, const Op&, const CodeView&) { return true; }      // whoever reads it reads a few
  bool fits(const Function&, const Op&, const CodeReshape&) { return true; }
  bool fits(const Function& f, const Op& op, const CodeGather&) { return takes_few(f, op, 1) && gives_few(f, op); }
  bool fits(const Function& f, const Op& op, const CodeScatter&) {
    writes |= !gives_few(f, op);
    return takes_few(f, op, 1);
  }
  bool fits(const Function& f, const Op& op, const CodeCheck& check) { return check.failed && takes_few(f, op, 0); }
  bool fits(const Function&, const Op& op, const CodeControl&) { return op.def != &call_op && fits(op); }

  static bool takes_few(const Function& f, const Op& op, size_t first) {
    return std::all_of(op.inputs.begin() + static_cast<std::ptrdiff_t>(first), op.inputs.end(), [&](ValueId v) { return is_few(f.type(v)); });
  }
  static bool gives_few(const Function& f, const Op& op) {
    for (uint32_t i = 0; i < op.outputs; ++i)
      if (!is_few(f.type(op.output(i)))) return false;
    return true;
  }
};

}  // namespace

bool writes_elements(const Op& loop) {
  StepReader reader;
  return reader.fits(loop) && reader.writes;
}

}  // namespace tercet
