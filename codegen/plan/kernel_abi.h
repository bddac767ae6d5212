// How the driver calls a kernel's machine code. Code holds no addresses: all it touches comes through these arguments.
#pragma once
#include <cstdint>

namespace tercet::codegen {

struct KernelContext {
  void* const* buffers;  // first element of each of the kernel's buffers
  const int64_t* sizes;  // the program's size slots
  uint8_t* failed;       // set to 1 when a check fails
  void* const* totals;   // null when a reduced sequence is one block; else where the totals of blocks go, see below
  int64_t outputs;       // elements of each reduction's result
  uint8_t stream;        // 1: results are larger than the caches, and nobody reads them soon
};

/// ranges[2 l] .. ranges[2 l + 1] is the part of loop l to run. Of the reduced loops of a reduction, which run as one
/// sequence, the first one's range counts blocks and the others' are not read.
using KernelFunction = void (*)(const KernelContext*, const int64_t* ranges);

/// totals[2 r] takes the totals of reduction r (f16 and bf16 as f32, bool as a byte), totals[2 r + 1] the positions
/// (i32) of argmax and argmin; each is [blocks, outputs].
inline constexpr int totals_per_reduction = 2;

}  // namespace tercet::codegen
