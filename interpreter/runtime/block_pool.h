// Memory of large buffers, kept after use. The first touch of a page costs more than the work on it (the kernel zeroes
// it), so a block that is freed waits for the next buffer of its size class. Thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tercet {

/// At least `bytes` bytes, uninitialised and aligned to 64 (large ones to huge pages); nullptr when there is no memory.
std::byte* take_block(int64_t bytes);
/// Gives back a block taken with the same `bytes`.
void give_block(std::byte* block, int64_t bytes);

}  // namespace tercet
