#include "interpreter/runtime/block_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

namespace tercet {
namespace {

constexpr int64_t huge_page = 2 << 20;
constexpr int64_t smallest_kept = 256 << 10;  // below, the allocator keeps pages itself
constexpr size_t most_blocks = 64;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool keeps = false;  // so that a use after free shows
#else
constexpr bool keeps = true;
#endif

/// Sizes are rounded up to eighths of a power of two, so that nearly equal ones share a class.
int64_t class_of(int64_t bytes) {
  if (bytes < smallest_kept) return (bytes + 63) / 64 * 64;
  auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes)) / 8);
  return (bytes + step - 1) / step * step;
}

std::byte* allocate(int64_t size) {
  int64_t alignment = size >= 2 * huge_page ? huge_page : 64;
  size = (size + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(size));
  if (block && alignment == huge_page) madvise(block, static_cast<size_t>(size), MADV_HUGEPAGE);
  return static_cast<std::byte*>(block);
}

class Pool {
 public:
  std::byte* take(int64_t size) {
    std::lock_guard lock(mutex_);
    for (size_t i = blocks_.size(); i-- > 0;)  // the latest is the likeliest to be in a cache
      if (blocks_[i].size == size) {
        std::byte* block = blocks_[i].memory;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
        kept_ -= size;
        return block;
      }
    return nullptr;
  }
  void give(std::byte* block, int64_t size) {
    if (size > limit_) return std::free(block);
    std::lock_guard lock(mutex_);
    try {
      blocks_.push_back({block, size});
    } catch (const std::bad_alloc&) {   // there is no room for the note of it
      return std::free(block);
    }
    kept_ += size;
    while (kept_ > limit_ || blocks_.size() > most_blocks) drop_oldest();
  }
  void clear() {
    std::lock_guard lock(mutex_);
    while (!blocks_.empty()) drop_oldest();
  }

 private:
  struct Block {
    std::byte* memory;
    int64_t size;
  };
  void drop_oldest() {
    kept_ -= blocks_.front().size;
    std::free(blocks_.front().memory);
    blocks_.pop_front();
  }
  static int64_t eighth_of_machine() {
    return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE)) / 8;
  }

  std::mutex mutex_;
  std::deque<Block> blocks_;
  int64_t kept_ = 0;
  const int64_t limit_ = eighth_of_machine();
};

/// Freed blocks of up to a kilobyte, by thread: an allocation of aligned memory takes several times as long.
class SmallBlocks {
 public:
  ~SmallBlocks() {
    ended_ = true;
    for (Block* b : first_)
      while (b) std::free(std::exchange(b, b->next));
  }
  static bool fits(int64_t size) { return size <= largest && !ended_; }
  std::byte* take(int64_t size) {
    Block*& first = first_[static_cast<size_t>(size / 64)];
    if (!first) return allocate(size);
    --count_[static_cast<size_t>(size / 64)];
    return reinterpret_cast<std::byte*>(std::exchange(first, first->next));
  }
  void give(std::byte* block, int64_t size) {
    const auto k = static_cast<size_t>(size / 64);
    if (count_[k] == most) return std::free(block);
    ++count_[k];
    first_[k] = new (block) Block{first_[k]};
  }

 private:
  struct Block {
    Block* next;
  };
  static constexpr int64_t largest = 1024;
  static constexpr int most = 64;
  static inline thread_local bool ended_ = false;   // buffers may outlive it
  Block* first_[largest / 64 + 1] = {};
  int count_[largest / 64 + 1] = {};
};
thread_local SmallBlocks small_blocks;

Pool& pool() {
  static Pool* pool = new Pool;  // never destroyed: buffers may outlive static objects
  return *pool;
}

}  // namespace

std::byte* take_block(int64_t bytes) {
  int64_t size = class_of(bytes);
  if (keeps && SmallBlocks::fits(size)) return small_blocks.take(size);
  if (!keeps || size < smallest_kept) return allocate(size);
  if (std::byte* kept = pool().take(size)) return kept;
  std::byte* block = allocate(size);
  if (block) return block;
  pool().clear();  // what is kept may be what is missing
  return allocate(size);
}

void give_block(std::byte* block, int64_t bytes) {
  int64_t size = class_of(bytes);
  if (keeps && SmallBlocks::fits(size))
    small_blocks.give(block, size);
  else if (!keeps || size < smallest_kept)
    std::free(block);
  else
    pool().give(block, size);
}

}  // namespace tercet
