// Seeded random numbers for tests: SplitMix64 (Steele, Lea, Flood 2014), the same everywhere.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tercet::random_programs {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// 0 .. n - 1
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  /// low .. high, both included
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T> T pick(std::initializer_list<T> list) { return list.begin()[below(static_cast<int>(list.size()))]; }
  template <class T> const T& pick(const std::vector<T>& list) { return list[static_cast<size_t>(below(static_cast<int>(list.size())))]; }

 private:
  uint64_t state_;
};

}  // namespace tercet::random_programs
