// Rows: bit operations on integers; & | ^ ~ are logical on bool.
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

struct And { template <class N> static N apply(N a, N b) { return static_cast<N>(a & b); } };
struct Or { template <class N> static N apply(N a, N b) { return static_cast<N>(a | b); } };
struct Xor { template <class N> static N apply(N a, N b) { return static_cast<N>(a ^ b); } };
struct Not {
  template <ScalarInt N> static N apply(N x) { return static_cast<N>(~x); }
  static bool apply(bool x) { return !x; }
  static Num apply(Num x) { return ~x; }
};

/// Bits of x's type. For plain numbers the result is a constant of the compiler.
template <class N> int width_of(N x) { return static_cast<int>(size_of(dtype_of(x))) * 8; }

/// A shift by `width` or more moves every bit out; a negative count counts as that many (as unsigned it is large).
struct ShiftLeft {
  template <class N> static N apply(N x, N n) {
    N zero = like(x, 0), limit = like(x, width_of(x));
    auto fits = both(n >= zero, n < limit);
    return select(fits, shl(x, select(fits, n, zero)), zero);
  }
};
struct ShiftRight {
  template <class N> static N apply(N x, N n) {
    N zero = like(x, 0), limit = like(x, width_of(x));
    auto fits = both(n >= zero, n < limit);
    N last = like(x, width_of(x) - 1);   // an arithmetic shift by it leaves the sign only
    N far = select(x < zero, shr(x, last), zero);
    return select(fits, shr(x, select(fits, n, zero)), far);
  }
};

constexpr NotDifferentiable on_integers{"it works on integers"};

}  // namespace

const OpDef bit_and_op = binary_op<And, Domain::IntsAndBool>("bit_and", "Bits set in both; on bool: and.", Internal{}, on_integers);
const OpDef bit_or_op = binary_op<Or, Domain::IntsAndBool>("bit_or", "Bits set in one or both; on bool: or.", Internal{}, on_integers);
const OpDef bit_xor_op = binary_op<Xor, Domain::IntsAndBool>("bit_xor", "Bits that differ; on bool: not equal.", Internal{}, on_integers);
const OpDef bit_not_op = unary_op<Not, Domain::IntsAndBool>("bit_not", "All bits inverted; on bool: not.", Internal{}, on_integers);
const OpDef shift_left_op = binary_op<ShiftLeft, Domain::Ints>("shift_left", "Bits moved up; by the width or more gives 0.", Internal{}, on_integers);
const OpDef shift_right_op = binary_op<ShiftRight, Domain::Ints>("shift_right", "Bits moved down, keeping the sign.", Internal{}, on_integers);

namespace {
constexpr const OpDef* rows[] = {&bit_and_op, &bit_or_op, &bit_xor_op, &bit_not_op, &shift_left_op, &shift_right_op};
}
const Family bit_rows = rows;

}  // namespace tercet
