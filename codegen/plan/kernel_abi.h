// How the driver calls a kernel's machine code. Code holds no addresses: all it touches comes through these arguments.
#pragma once
#include <cstdint>

namespace tercet {

struct KernelContext {
  void* const* buffers;        // first element of each of the kernel's buffers
  const int64_t* sizes;        // the program's size slots
  uint8_t* failed;             // set to 1 when a check fails
  void* const* totals;         // row reductions: null, or where each block's total goes instead of being combined
};

/// ranges[2 l] .. ranges[2 l + 1] is the part of loop l to run, for the loops that may be cut: all of an elementwise
/// kernel, the kept ones of reductions, and, of a row reduction, the reduced loop counted in blocks.
using KernelFunction = void (*)(const KernelContext*, const int64_t* ranges);

/// totals[2 r] takes the totals of reduction r (f16 and bf16 as f32, bool as a byte), totals[2 r + 1] the positions (i32)
/// of argmax and argmin.
inline constexpr int totals_per_reduction = 2;

}  // namespace tercet
