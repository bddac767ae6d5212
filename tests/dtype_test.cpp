// Element types: names, the promotion lattice (jax-semantics section 0), 16-bit conversions.
#include <catch2/catch.hpp>
#include <bit>
#include <cmath>
#include <random>

#include "interpreter/runtime/dtype.h"
#include "interpreter/runtime/half_rows.h"

namespace tercet {
namespace {

constexpr DType numbers[] = {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16,
                             DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

DType weak_promote(DType a, bool a_weak, DType b, bool b_weak, bool expected_weak) {
  bool weak = !expected_weak;
  const DType result = promote(a, a_weak, b, b_weak, &weak);
  CHECK(weak == expected_weak);
  bool weak_other = !expected_weak;
  CHECK(promote(b, b_weak, a, a_weak, &weak_other) == result);
  CHECK(weak_other == weak);
  return result;
}

TEST_CASE("dtype names read back and sizes match", "[dtype]") {
  for (int i = 0; i < dtype_count; ++i) {
    DType back;
    CHECK(parse_dtype(name_of(static_cast<DType>(i)), &back));
    CHECK(back == static_cast<DType>(i));
  }
  DType none = DType::Key;
  CHECK_FALSE(parse_dtype("f128", &none));
  CHECK(none == DType::Key);
  CHECK(size_of(DType::Bool) == 1);
  CHECK(size_of(DType::BF16) == 2);
  CHECK(size_of(DType::Str) == 16);
  CHECK(size_of(DType::Key) == 16);
}

TEST_CASE("promotion is a join", "[dtype]") {
  for (DType a : numbers) {
    CHECK(promote(a, a) == a);
    CHECK(promote(a, DType::Bool) == a);
    for (DType b : numbers) {
      CHECK(promote(a, b) == promote(b, a));
      CHECK(promote(a, promote(a, b)) == promote(a, b));
    }
  }
  CHECK(promote(DType::U8, DType::I8) == DType::I16);
  CHECK(promote(DType::U16, DType::I8) == DType::I32);
  CHECK(promote(DType::U32, DType::I32) == DType::I64);
  CHECK(promote(DType::U8, DType::I64) == DType::I64);
  CHECK(promote(DType::U64, DType::I8) == DType::F32);
  CHECK(promote(DType::I64, DType::F16) == DType::F16);
  CHECK(promote(DType::F16, DType::BF16) == DType::F32);
  CHECK(promote(DType::BF16, DType::F64) == DType::F64);
}

TEST_CASE("a weak operand bends to the other within its category", "[dtype]") {
  CHECK(weak_promote(DType::I32, true, DType::I8, false, false) == DType::I8);
  CHECK(weak_promote(DType::I64, true, DType::U8, false, false) == DType::U8);
  CHECK(weak_promote(DType::I32, true, DType::F16, false, false) == DType::F16);
  CHECK(weak_promote(DType::F32, true, DType::BF16, false, false) == DType::BF16);
  CHECK(weak_promote(DType::F32, true, DType::I64, false, false) == DType::F32);
  CHECK(weak_promote(DType::I32, true, DType::Bool, false, false) == DType::I32);
  CHECK(weak_promote(DType::F32, true, DType::Bool, false, false) == DType::F32);
  CHECK(weak_promote(DType::I32, true, DType::I64, true, true) == DType::I64);
  CHECK(weak_promote(DType::I64, true, DType::F32, true, true) == DType::F32);
  CHECK(weak_promote(DType::I32, false, DType::F32, false, false) == DType::F32);
}

/// The 16-bit value nearest to x among all, ties to the even pattern: by search.
template <class T> uint16_t nearest_bits(double x, uint16_t infinity, double overflow) {
  if (std::fabs(x) >= overflow) return infinity;
  uint16_t best = 0;
  double distance = std::fabs(x);
  for (uint32_t bits = 1; bits < infinity; ++bits) {
    const double d = std::fabs(static_cast<double>(to_float(T{static_cast<uint16_t>(bits)})) - std::fabs(x));
    if (d < distance || (d == distance && bits % 2 == 0)) best = static_cast<uint16_t>(bits), distance = d;
  }
  return best;
}

TEST_CASE("16-bit floats round to nearest even", "[dtype]") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const float h = to_float(Half{pattern}), b = to_float(BFloat{pattern});
    if (std::isnan(h)) CHECK(to_half(h).bits == 0x7e00);
    else CHECK(to_half(h).bits == pattern);
    if (std::isnan(b)) CHECK(to_bfloat(b).bits == 0x7fc0);
    else CHECK(to_bfloat(b).bits == pattern);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const float x = std::ldexp(static_cast<float>(random() >> 8), -24 + static_cast<int>(random() % 42) - 25);
    CHECK(to_half(x).bits == nearest_bits<Half>(x, 0x7c00, 65520));
    CHECK(to_half(-x).bits == (nearest_bits<Half>(x, 0x7c00, 65520) | 0x8000));
    CHECK(to_bfloat(x).bits == nearest_bits<BFloat>(x, 0x7f80, 3.4e38));
  }
  CHECK(to_half(65519.996f).bits == 0x7bff);
  CHECK(to_half(65520.0f).bits == 0x7c00);
  CHECK(to_half(0x1p-25f).bits == 0);
  CHECK(to_half(0x1.000002p-25f).bits == 1);
  CHECK(to_half(-0.0f).bits == 0x8000);
  CHECK(to_bfloat(3.4028235e38f).bits == 0x7f80);
  CHECK(to_bfloat(std::bit_cast<float>(0xffffffffu)).bits == 0x7fc0);
}

TEST_CASE("rows of 16-bit floats convert as single ones do", "[dtype]") {
  std::vector<Half> halves(65536);
  std::vector<BFloat> bfloats(65536);
  std::vector<float> from_half(65536), from_bfloat(65536), any(65536);
  std::mt19937 random(2);
  for (uint32_t i = 0; i < 65536; ++i) {
    halves[i].bits = bfloats[i].bits = static_cast<uint16_t>(i);
    any[i] = std::bit_cast<float>(static_cast<uint32_t>(i % 2 ? random() : 0x38000000u + (random() & 0x0fffffffu)));
  }
  widen_row(halves.data(), 65533, from_half.data());
  widen_row(bfloats.data(), 65533, from_bfloat.data());
  std::vector<Half> narrow_half(65536);
  std::vector<BFloat> narrow_bfloat(65536);
  narrow_row(any.data(), 65533, narrow_half.data());
  narrow_row(any.data(), 65533, narrow_bfloat.data());
  size_t different = 0;
  for (size_t i = 0; i < 65533; ++i) {
    different += std::bit_cast<uint32_t>(from_half[i]) != std::bit_cast<uint32_t>(to_float(halves[i]));
    different += std::bit_cast<uint32_t>(from_bfloat[i]) != std::bit_cast<uint32_t>(to_float(bfloats[i]));
    different += narrow_half[i].bits != to_half(any[i]).bits;
    different += narrow_bfloat[i].bits != to_bfloat(any[i]).bits;
  }
  CHECK(different == 0);
}

}  // namespace
}  // namespace tercet
