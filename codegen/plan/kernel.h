// Loop IR: one kernel is a nest of loops around a graph of scalar values, with stores, reductions and checks at the
// innermost level. It says WHAT is computed at each point of the iteration space and how the space is walked; the
// emitters of codegen/llvm turn it into vector code. Nothing here depends on a CPU.
//
// Example (`print`):
//   kernel 0 row_reduce
//     for i0 < n, vector i1 < m reduced
//       %0: f32 = load b0[i0*m + i1]
//       %1: f32 = exp(%0)
//       sum %1 -> b1[i0]
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/index.h"
#include "codegen/plan/size_table.h"
#include "interpreter/ir/op_def.h"

namespace tercet::codegen {

inline constexpr int vector_lanes = 16;  // of every dtype: one 512-bit register of f32
inline constexpr NodeId no_node = -1;

enum class NodeKind : uint8_t {
  Load,        // element of a buffer at `address`
  IndexValue,  // `address` itself as a number of `dtype`
  Constant,    // one element with the given bits
  Compute,     // op's CodeElementwise on the operands
  Clamp        // operand 0 as i64, moved into [0, bound]
};

/// Of an access to memory, `rows`: that many of the outermost loops count, in order, through the first axes of the array.
/// Where it is 1 or more, one step of loop 0 keeps to a stretch of the array that no other step touches.
struct Node {
  NodeKind kind;
  DType dtype;  // f16 and bf16 are computed as f32 and rounded after each operation
  int32_t buffer = -1;
  Index address{};
  int rows = 0;
  uint64_t bits = 0;
  const Op* op = nullptr;
  std::vector<NodeId> operands{};
  Dim bound{};
  int depth = 0;  // number of loops around it: set by schedule()
};

struct Loop {
  Dim extent;
  bool reduced = false;
  bool unrolled = false;  // always run as a whole
};
struct Store {
  NodeId value;
  int32_t buffer;
  Index address;
  DType dtype;
  int rows;
};
struct Reduction {
  ReduceKind kind;
  NodeId value;
  int32_t buffer;
  Index address;
  DType dtype;
  int rows;
};
struct Check {
  const Op* op;
  std::vector<NodeId> operands;
  NodeId live = no_node;
};
/// Combines `value` into the element at `address`, point after point in the order of the loops; points with an index
/// that clamping changes (out of range) are left out.
struct Scatter {
  enum Mode : uint8_t { Set, Add, Mul, Max, Min } mode;
  struct Bound {
    NodeId index, clamped;
  };
  NodeId value;
  int32_t buffer;
  Index address;
  DType dtype;
  std::vector<Bound> bounds;
};

/// How the iteration space is walked. The last loop is the vector loop, but for scatters whose index depends on it.
enum class Schedule : uint8_t {
  Elementwise,   // no reduction
  Interleaved,   // no reduction; the last loop but one goes along a short last axis of known size and is unrolled
  RowReduce,     // kept loops, then ONE reduced loop, which is the vector loop
  ColumnReduce,  // kept loops, reduced loops, then a kept loop, which is the vector loop
  SmallReduce,   // the same with at most 16 reduced points, whose number is known
  Scatter        // loops in the order of the scattered values; "reduced" are those whose points may meet in an element
};

struct Kernel {
  Schedule schedule = Schedule::Elementwise;
  std::vector<Loop> loops;  // outermost first
  std::vector<Node> nodes;  // operands before users
  std::vector<Store> stores;
  std::vector<Reduction> reductions;
  std::vector<Check> checks;
  std::optional<Scatter> scatter;
  std::vector<ValueId> buffers;  // what buffer number k of the kernel is in its function
  bool fast_math = false;        // products and sums may fuse, and zeros lose their signs
  int64_t cost = 1;              // scalar operations per point, for deciding about threads

  /// Number of the first reduced loop; of loops when none is.
  size_t first_reduced() const;
  /// Every size that its code reads; they all have slots in the program's table.
  std::vector<Dim> sizes() const;
};

const char* name_of(Schedule schedule);
const char* name_of(ReduceKind kind);
std::string print(const Kernel& kernel, int number);
/// Equal for kernels of one program whose code is equal. Code kept on disk is found by it too (codegen/jit/program_key.h), so
/// everything that emitting reads belongs in it.
std::string code_key(const Kernel& kernel, const SizeTable& sizes);

}  // namespace tercet::codegen
