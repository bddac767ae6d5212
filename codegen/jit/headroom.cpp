#include "codegen/jit/headroom.h"

#include <sys/mman.h>

namespace tercet::codegen {

bool has_memory_to_compile(size_t instructions) {
  // Measured: 1 kB an instruction beside 10 MB for the linker and the passes. More, as a kernel's memory is not even.
  constexpr size_t around = 48 << 20, for_each = 4 << 10;
  const size_t bytes = around + instructions * for_each;
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

}  // namespace tercet::codegen
