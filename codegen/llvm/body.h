// The code of one kernel under construction: its function, its sizes and buffers, and the values of its nodes. The
// emitters of each schedule make the loops and ask this for what stands inside them. Private to codegen/llvm.
//
// A node is computed at its depth: inside as many loops as it depends on. Up to the last loop it is a single value;
// inside the last one, the vector loop, it is a vector of 16 lanes.
#pragma once
#include <llvm/IR/Module.h>

#include <unordered_map>

#include "codegen/llvm/loops.h"
#include "codegen/llvm/numbers.h"
#include "codegen/plan/kernel.h"

namespace tercet::codegen {

/// The type of KernelFunction.
llvm::FunctionType* kernel_type(llvm::LLVMContext& context);

class Body {
 public:
  /// Starts the kernel's function in `module`, with C linkage under `name`.
  Body(llvm::Module& module, const Kernel& kernel, const SizeTable& sizes, const std::string& name, int simd_bits);
  /// Ends it with a return.
  void finish();

  llvm::IRBuilder<>& builder() { return b_; }
  LlvmNumbers& numbers() { return numbers_; }
  const Kernel& kernel() const { return k_; }
  /// Whole vectors get code of their own: loads and stores under a mask are slower even where all lanes are on (AMD's
  /// prefetchers do not follow them: a third of the bandwidth). Else, where there is so much to compute that compiling
  /// it twice costs more, one body serves both, with a branch around each load and store.
  bool two_bodies() const { return k_.cost <= 24; }
  /// All that the kernel gives are contiguous stores of whole cache lines, which may go past the caches: a line that is
  /// overwritten as a whole need not be read first.
  bool can_stream() const;
  /// KernelContext::stream is set, and the stores of the vector loop from `begin` on are aligned to cache lines.
  llvm::Value* should_stream(llvm::Value* begin);
  /// While it is on, whole vectors are stored past the caches. Turning it off orders them before what follows.
  void set_streaming(bool on);
  int depth() const { return static_cast<int>(k_.loops.size()); }

  llvm::Value* size(const Dim& d);
  /// ranges[2 l] and ranges[2 l + 1].
  std::pair<llvm::Value*, llvm::Value*> range(size_t loop);
  llvm::Value* buffer(int32_t k);
  /// KernelContext::totals, one of the pointers there, and KernelContext::outputs.
  llvm::Value* totals();
  llvm::Value* total(uint64_t k);
  llvm::Value* outputs();
  /// Memory of the function itself for `count` elements of `type`.
  llvm::Value* scratch(llvm::Type* type, uint64_t count);

  /// While it lives, what is emitted starts where emitting stood among the loops, which it comes back to: for emitting the
  /// inside of a loop again.
  class Again;

  /// Emits what stands directly inside no loop.
  void emit_outermost();
  /// The counter of loop l is i from here on; emits what stands directly inside it. Not for the vector loop.
  void enter(size_t loop, llvm::Value* i);
  /// Enters the reduced loops, which run as one sequence, at an element of it. They stand before the vector loop.
  void enter_sequence(llvm::Value* element);
  /// The loops 0 .. count - 1 around what inside() emits.
  template <class Inside>
  void outer_loops(size_t count, const Inside& inside, size_t loop = 0);
  /// Emits the 16 points i .. i + 15 of the vector loop. `mask`: lanes to compute, null for all.
  void emit_lanes(llvm::Value* i, llvm::Value* mask);
  /// Only sets the vector loop's counter, for address().
  void at_column(llvm::Value* i) { counters_.back() = i; }
  /// Vectors over [begin, end), masked where they reach past it. lanes(i, mask, carried) -> carried emits one; it is
  /// called twice, for whole vectors (mask null) and for the rest, where masks cost time, and else once.
  template <class Lanes>
  Values vector_loop(llvm::Value* begin, llvm::Value* end, Values carried, Lanes lanes);

  /// Value of a node: single, or spread over the lanes.
  llvm::Value* single(NodeId n) const { return values_[static_cast<size_t>(n)]; }
  llvm::Value* lanes(NodeId n);
  /// Stores and checks of the innermost level, for the lanes just emitted (or the single point of a kernel without
  /// loops).
  void emit_effects(llvm::Value* mask);

  /// offset + coefficients * counters and single nodes, for an index over the loops entered so far.
  llvm::Value* address(const Index& index);
  /// The stride of an address along the vector loop.
  Dim stride(const Index& index) const { return index.of_loop(depth() - 1); }
  /// Stores a computed vector as dtype at memory[base], memory[base + stride], …
  void store_lanes(llvm::Value* v, DType dtype, llvm::Value* memory, llvm::Value* base, const Dim& stride,
                   llvm::Value* mask);
  /// The computed values that store_lanes stores; the same for one element.
  llvm::Value* load_lanes(DType dtype, llvm::Value* memory, llvm::Value* base, const Dim& stride, llvm::Value* mask);
  llvm::Value* load_single(DType dtype, int32_t buffer, llvm::Value* at);
  void store_single(llvm::Value* v, DType dtype, int32_t buffer, llvm::Value* at);
  /// From memory's form to the computed form and back (bool is a byte in memory, f16 two bytes, …).
  llvm::Value* from_memory(llvm::Value* v, DType dtype);
  llvm::Value* to_memory(llvm::Value* v, DType dtype);
  llvm::Type* memory_type(DType dtype, bool vector);
  /// <0, 1, …, 15>
  static llvm::Constant* lane_numbers(llvm::Type* integer);

 private:
  /// An address during the loops: what is known of it outside the current one.
  struct Running {
    const Index* index;
    llvm::Value* outer = nullptr;  // null: 0
  };

  /// A load of the vector loop between two others of the same array, which hold all its lanes; -1: it is none.
  struct Between {
    NodeId first = no_node, last = no_node;
    int64_t at = 0, distance = 0;   // elements behind the first load: this one, the last one
  };
  void find_overlaps();
  llvm::Value* load_between(const Between& b);

  void emit_node(size_t n, llvm::Value* mask);
  void advance(int depth);
  /// Sum so far plus the terms of the loop at `depth` and of nodes computed there.
  llvm::Value* stepped(const Running& r, int depth);
  llvm::Value* add_product(llvm::Value* sum, llvm::Value* factor, const Dim& coefficient);
  /// Offsets that differ from lane to lane because nodes in the address do; null when none does.
  llvm::Value* lane_offsets(const Index& index);
  llvm::Value* lane_steps(llvm::Value* stride);

  llvm::Value* emit_load(const Node& n, const Running& r, llvm::Value* mask);
  llvm::Value* load_contiguous(llvm::Type* type, llvm::Value* pointer, llvm::Value* mask);
  llvm::Value* load_scattered(llvm::Type* type, llvm::Value* base, llvm::Value* offsets, llvm::Value* mask);
  llvm::Value* load_by_stride(llvm::Type* type, llvm::Value* base, llvm::Value* start, const Dim& stride,
                              llvm::Value* mask);
  llvm::Value* emit_index(const Node& n, const Running& r);
  llvm::Value* emit_clamp(const Node& n);
  llvm::Value* emit_compute(const Node& n);
  void emit_check(const Check& c, llvm::Value* mask);
  llvm::Value* context_field(unsigned byte_offset, llvm::Type* type);

  const Kernel& k_;
  const SizeTable& sizes_;
  llvm::Function* f_;
  llvm::IRBuilder<> b_, entry_;  // entry_: loads done once, before everything else
  LlvmNumbers numbers_;
  llvm::Value *context_, *ranges_;
  std::unordered_map<SizeSlot, llvm::Value*> loaded_sizes_;
  std::vector<llvm::Value*> buffers_;
  std::vector<llvm::Value*> counters_, values_, spread_;  // per loop; per node
  std::vector<Between> between_;                          // per node
  std::unordered_map<size_t, llvm::Value*> edges_;        // first and last loads of the lanes that are being emitted
  std::vector<Running> running_;                          // of each node, then of each store
  llvm::Value* whole_ = nullptr;                          // all lanes are on, where that is worth asking
  bool in_lanes_ = false, streaming_ = false;
};

class Body::Again {
 public:
  explicit Again(Body& body) : body_(body), running_(body.running_) { go_back(); }
  ~Again() { go_back(); }
  Again(const Again&) = delete;

 private:
  void go_back() {
    body_.running_ = running_;
    body_.in_lanes_ = false;
    body_.numbers_.set_lanes(1);
  }
  Body& body_;
  std::vector<Running> running_;
};

template <class Inside>
void Body::outer_loops(size_t count, const Inside& inside, size_t loop) {
  if (loop == count) return inside();
  auto [begin, end] = range(loop);
  simple_loop(b_, begin, end, 1, [&](llvm::Value* i) {
    enter(loop, i);
    outer_loops(count, inside, loop + 1);
  });
}

template <class Lanes>
Values Body::vector_loop(llvm::Value* begin, llvm::Value* end, Values carried, Lanes lanes) {
  llvm::Value* whole = begin;  // where whole vectors end
  if (two_bodies()) {
    llvm::Value* count = b_.CreateSub(end, begin);
    whole = b_.CreateAdd(begin, b_.CreateAnd(count, b_.getInt64(-static_cast<int64_t>(vector_lanes))));
    carried = counted_loop(b_, begin, whole, vector_lanes, carried,
                           [&](llvm::Value* i, const Values& c) { return lanes(i, nullptr, c); });
  }
  carried = counted_loop(b_, whole, end, vector_lanes, carried, [&](llvm::Value* i, const Values& c) {
    llvm::Value* left =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(end, i), b_.getInt64(vector_lanes));
    llvm::Value* limit = b_.CreateVectorSplat(vector_lanes, b_.CreateTrunc(left, b_.getInt32Ty()));
    llvm::Value* mask = b_.CreateICmpSLT(lane_numbers(b_.getInt32Ty()), limit);
    if (!two_bodies()) whole_ = b_.CreateICmpEQ(left, b_.getInt64(vector_lanes));
    return lanes(i, mask, c);
  });
  in_lanes_ = false;
  whole_ = nullptr;
  numbers_.set_lanes(1);
  return carried;
}

}  // namespace tercet::codegen
