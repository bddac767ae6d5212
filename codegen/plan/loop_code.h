// A loop as one piece of machine code: its body's kernels, the loops and branches inside it, and where each value lies, with
// no array made and no step chosen while it runs. A step of a loop of scalars costs a hundred times as much otherwise.
//
// An element of an array of one element lies in a cell, which optimised code keeps in a register; of a larger array a pointer is
// known, and memory changes hands by swapping pointers. All sizes are known when the loop starts.
// Example (`print`):
//   loop 0 while
//     kernel 0 of program 1 (c0, c2, c3)
//     while c3
//       kernel 0 of program 2 (c1, c0, c4, c5)
//       c1 = c4, c0 = c5
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "codegen/plan/kernel.h"

namespace tercet::codegen {

struct Program;
struct ProgramSet;

/// Where a value lies while the loop runs.
struct Place {
  enum Kind : uint8_t { None, Cell, Pointer } kind = None;
  int32_t number = -1;
  friend bool operator==(const Place&, const Place&) = default;
};

struct LoopCode {
  /// Kernel `kernel` of part `part` with these buffers.
  struct RunKernel {
    size_t part, kernel;
    std::vector<Place> buffers;
    std::vector<SizeSlot> extents, bounds;   // as in KernelStep
  };
  /// First all cells, as if at once; then the pointers in order: either memory changes hands, or its bytes are copied.
  struct Assign {
    struct Move {
      int32_t to, from;
      bool swap;
    };
    std::vector<std::pair<int32_t, int32_t>> cells;   // to, from
    std::vector<Move> pointers;
  };
  struct Choose;
  struct Repeat;
  using Item = std::variant<RunKernel, Assign, std::unique_ptr<Choose>, std::unique_ptr<Repeat>>;
  using Block = std::vector<Item>;
  struct Choose {
    int32_t condition;   // a cell
    Block yes, no;
  };
  /// A row of the array at `pointer`, and the place that stands for it during a step.
  struct Row {
    Place place;
    int32_t pointer;
  };
  /// `while` has a condition, `scan` a length.
  struct Repeat {
    size_t number;            // within its LoopCode, 0 is the outermost
    int around = -1;          // the number of the one that it stands in
    Block condition;          // gives `test`
    int32_t test = -1;        // a cell; -1: a scan
    Dim length{};
    bool reverse = false;
    int32_t index = -1;       // of a scan: a cell
    std::vector<Row> rows, stacked;   // read and written by each step of a scan
    Block body;
    Assign next;              // after the stacked rows: what is carried to the next step
  };

  /// One run of a program's steps inside the loop: its sizes are `first_size` .. of all sizes.
  struct Part {
    const Program* program;
    size_t first_size;
  };
  struct Pointer {
    DType dtype;
    std::vector<Dim> dims;
    bool made;             // memory that the loop needs, besides what it is given
  };
  /// What the loop is given, and what it gives: place of each operand and result of the operation.
  const Op* op = nullptr;
  std::vector<Place> operands, results;
  std::vector<int> result_ranks;
  std::vector<DType> cells;
  std::vector<Pointer> pointers;
  std::vector<Part> parts;
  size_t size_count = 0;                                      // of all parts
  std::vector<std::pair<uint64_t, Dim>> bindings;             // symbols that parts bind, in order
  std::vector<std::pair<int32_t, uint64_t>> cell_constants;   // cell, bits
  std::vector<std::pair<int32_t, Array>> constants;           // pointer, value
  /// It is left to the general way when one of these is: pairs of shapes of different counts, copies of more than a few bytes
  /// that the general way does not make.
  std::vector<std::pair<std::vector<Dim>, std::vector<Dim>>> equal_counts;
  std::vector<int32_t> copied;                                // pointers
  size_t repeats = 0;
  Repeat outermost;
};

/// Whether its steps are lanes: nothing is carried from one to the next, and they may run side by side.
bool is_over_lanes(const LoopCode& loop);
/// Whether nothing but a size that is 0 keeps the loop from running as its code.
bool always_fits(const LoopCode& loop);
std::string print(const LoopCode& loop, size_t number);
/// Equal for loops whose code is equal, given the symbols of its kernels.
std::string code_key(const LoopCode& loop, const std::vector<std::string>& kernel_keys);
/// Calls visit(const LoopCode::RunKernel&, const LoopCode::Repeat& around) for every kernel of a loop.
template <class Visit> void for_each_kernel(const LoopCode::Block& block, const LoopCode::Repeat& around, const Visit& visit);
template <class Visit> void for_each_kernel(const LoopCode::Repeat& repeat, const Visit& visit) {
  for_each_kernel(repeat.condition, repeat, visit);
  for_each_kernel(repeat.body, repeat, visit);
}
template <class Visit> void for_each_kernel(const LoopCode::Block& block, const LoopCode::Repeat& around, const Visit& visit) {
  for (const LoopCode::Item& item : block) {
    if (auto* kernel = std::get_if<LoopCode::RunKernel>(&item)) visit(*kernel, around);
    if (auto* choose = std::get_if<std::unique_ptr<LoopCode::Choose>>(&item)) {
      for_each_kernel((*choose)->yes, around, visit);
      for_each_kernel((*choose)->no, around, visit);
    }
    if (auto* repeat = std::get_if<std::unique_ptr<LoopCode::Repeat>>(&item)) for_each_kernel(**repeat, visit);
  }
}

/// Calls visit(const LoopCode::Repeat&) for every repetition, outer ones first.
template <class Visit> void for_each_repeat(const LoopCode::Block& block, const Visit& visit);
template <class Visit> void for_each_repeat(const LoopCode::Repeat& repeat, const Visit& visit) {
  visit(repeat);
  for_each_repeat(repeat.body, visit);
  for_each_repeat(repeat.condition, visit);
}
template <class Visit> void for_each_repeat(const LoopCode::Block& block, const Visit& visit) {
  for (const LoopCode::Item& item : block) {
    if (auto* choose = std::get_if<std::unique_ptr<LoopCode::Choose>>(&item)) {
      for_each_repeat((*choose)->yes, visit);
      for_each_repeat((*choose)->no, visit);
    }
    if (auto* repeat = std::get_if<std::unique_ptr<LoopCode::Repeat>>(&item)) for_each_repeat(**repeat, visit);
  }
}

/// Makes the code of every loop of the set that can be one piece, the outermost first; the native steps refer to them.
void find_loops(ProgramSet& set);

}  // namespace tercet::codegen
