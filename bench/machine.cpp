#include "bench/machine.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace tercet::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Seconds that `threads` threads need for work(thread), started together.
template <class Work>
double time_together(int threads, const Work& work) {
  Clock::time_point start;
  std::barrier gate(threads, [&]() noexcept { start = Clock::now(); });
  auto body = [&](int i) {
    gate.arrive_and_wait();
    work(i);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(body, i);
  body(0);
  for (std::thread& t : others) t.join();
  return seconds_since(start);
}

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float[], Free>;

Floats make_floats(int64_t count) {
  auto bytes = static_cast<size_t>((count * 4 + 63) / 64 * 64);
  return Floats(static_cast<float*>(std::aligned_alloc(64, bytes)));
}

void triad(float* a, const float* b, const float* c, int64_t count, bool stream) {
  const __m256 s = _mm256_set1_ps(3.0f);
  for (int64_t i = 0; i < count; i += 16) {  // counts are multiples of 16
    __m256 low = _mm256_fmadd_ps(_mm256_load_ps(c + i), s, _mm256_load_ps(b + i));
    __m256 high = _mm256_fmadd_ps(_mm256_load_ps(c + i + 8), s, _mm256_load_ps(b + i + 8));
    if (stream) {
      _mm256_stream_ps(a + i, low);
      _mm256_stream_ps(a + i + 8, high);
    } else {
      _mm256_store_ps(a + i, low);
      _mm256_store_ps(a + i + 8, high);
    }
  }
  if (stream) _mm_sfence();
}

constexpr int64_t fma_steps = 400'000;  // under a millisecond: some tries run undisturbed on a shared machine
constexpr int chains = 16;              // enough to hide the latency of two units

__attribute__((target("avx512f"))) float fma_512() {
  __m512 x[chains], m = _mm512_set1_ps(0.999f), k = _mm512_set1_ps(0.001f);
  for (int j = 0; j < chains; ++j) x[j] = _mm512_set1_ps(static_cast<float>(j));
  for (int64_t i = 0; i < fma_steps; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < chains; ++j) x[j] = _mm512_fmadd_ps(x[j], m, k);
  for (int j = 1; j < chains; ++j) x[0] = _mm512_add_ps(x[0], x[j]);
  return _mm512_cvtss_f32(x[0]);
}

constexpr int chains_256 = 12;  // of 16 registers

float fma_256() {
  __m256 x[chains_256], m = _mm256_set1_ps(0.999f), k = _mm256_set1_ps(0.001f);
  for (int j = 0; j < chains_256; ++j) x[j] = _mm256_set1_ps(static_cast<float>(j));
  for (int64_t i = 0; i < fma_steps; ++i)
#pragma GCC unroll 12
    for (int j = 0; j < chains_256; ++j) x[j] = _mm256_fmadd_ps(x[j], m, k);
  for (int j = 1; j < chains_256; ++j) x[0] = _mm256_add_ps(x[0], x[j]);
  return _mm256_cvtss_f32(x[0]);
}

}  // namespace

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

double triad_bandwidth(int64_t bytes) {
  int64_t best_threads = usable_processors();
  double best = 0;
  for (int64_t threads : {int64_t{1}, best_threads}) {
    const int64_t share = std::max<int64_t>(16, bytes / 12 / threads / 16 * 16), count = share * threads;
    Floats a = make_floats(count), b = make_floats(count), c = make_floats(count);
    std::fill_n(a.get(), count, 0.0f);
    for (int64_t i = 0; i < count; ++i) {   // no two pages alike: a host may keep one for several
      b.get()[i] = static_cast<float>(i % 1'000'003);
      c.get()[i] = static_cast<float>(i % 999'983);
    }
    const int64_t rounds = std::max<int64_t>(1, 50'000'000 / count);
    for (bool stream : {false, true})
      for (int tries = 0; tries < 9; ++tries) {
        double seconds = time_together(static_cast<int>(threads), [&](int i) {
          for (int64_t r = 0; r < rounds; ++r)
            triad(a.get() + i * share, b.get() + i * share, c.get() + i * share, share, stream);
        });
        best = std::max(best, 12.0 * static_cast<double>(count * rounds) / seconds);
      }
    if (threads == best_threads) break;
  }
  return best;
}

double fma_peak() {
  const bool wide = __builtin_cpu_supports("avx512f");
  const int threads = usable_processors();
  volatile float sink = 0;
  double best = 0;
  for (int tries = 0; tries < 200; ++tries) {
    double seconds = time_together(threads, [&](int) { sink = wide ? fma_512() : fma_256(); });
    double per_thread = 2.0 * static_cast<double>(fma_steps) * (wide ? chains * 16 : chains_256 * 8);
    best = std::max(best, per_thread * threads / seconds);
  }
  return best;
}

}  // namespace tercet::bench
