// What this machine can do at best, measured: the two figures that a fast program is bound by.
#pragma once
#include <cstdint>

namespace tercet::bench {

/// Processors this process may use.
int usable_processors();

/// Bytes per second of a[i] = b[i] + s * c[i] over three f32 arrays that take `bytes` together (McCalpin's STREAM
/// triad; three arrays are counted, so that a normal store's read of its line is not). The best of one thread and all,
/// normal and streaming stores, and a few tries: which level of the caches it measures depends on `bytes`.
double triad_bandwidth(int64_t bytes);

/// f32 operations per second of independent fused multiply-adds (two operations each) in registers, on all threads, at
/// the widest vector of the machine.
double fma_peak();

}  // namespace tercet::bench
