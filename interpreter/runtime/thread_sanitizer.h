// Debian's oneTBB is not built for ThreadSanitizer, which therefore cannot see that work handed to a worker, and its
// results handed back, are ordered. These calls tell it; in other builds they are nothing.
// Before giving work away and after doing some: publish(). Before doing some and after waiting for all: observe().
#pragma once
#include <atomic>

namespace tercet {

#if defined(__SANITIZE_THREAD__)
inline std::atomic<int> handed_over{0};
inline void publish() { handed_over.fetch_add(1, std::memory_order_release); }
inline void observe() { (void)handed_over.load(std::memory_order_acquire); }
#else
inline void publish() {}
inline void observe() {}
#endif

}  // namespace tercet
