// Vectors for intermediate work of any size. Memory comes from the pool of arrays (large pages, kept for the next one), and
// elements of trivial types are not set when they come to be, so that no long stretch passes before the loop that polls.
#pragma once
#include <new>
#include <utility>
#include <vector>

#include "interpreter/runtime/block_pool.h"

namespace tercet {

template <class T> struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() = default;
  template <class U> ScratchAllocator(const ScratchAllocator<U>&) {}   // NOLINT: allocators convert
  T* allocate(size_t n) {
    std::byte* memory = take_block(static_cast<int64_t>(n * sizeof(T)));
    if (!memory) throw std::bad_alloc();
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t n) { give_block(reinterpret_cast<std::byte*>(memory), static_cast<int64_t>(n * sizeof(T))); }
  template <class U> void construct(U* at) { ::new (static_cast<void*>(at)) U; }
  template <class U, class... A> void construct(U* at, A&&... arguments) { ::new (static_cast<void*>(at)) U(std::forward<A>(arguments)...); }
  bool operator==(const ScratchAllocator&) const = default;
};

template <class T> using Scratch = std::vector<T, ScratchAllocator<T>>;

}  // namespace tercet
