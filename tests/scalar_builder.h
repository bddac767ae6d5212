// A NumberBuilder that computes at once, on single numbers: shows that a function uses the vocabulary as every back end
// understands it (dtypes of operands match, masks are Bool, shifts are in range).
#pragma once
#include <catch2/catch.hpp>
#include <deque>

#include "interpreter/runtime/number.h"

namespace tercet {

class ScalarBuilder : public NumberBuilder {
 public:
  template <class T> Num input(T x) { return make(dtype_for<T>(), to_bits(x)); }
  template <class T> T value(Num x) const {
    CHECK(x.dtype == dtype_for<T>());
    return from_bits<T>(bits(x));
  }

  Num constant_float(DType dtype, double value) override {
    REQUIRE(is_float(dtype));
    return dtype == DType::F32 ? input(static_cast<float>(value)) : input(value);
  }
  Num constant_int(DType dtype, uint64_t value) override {
    REQUIRE(!is_float(dtype));
    return with(dtype, [&]<class T>() { return input(static_cast<T>(value)); });
  }
  Num unary(NumUnary op, Num a) override {
    return with(a.dtype, [&]<class T>() -> Num {
      const T x = from_bits<T>(bits(a));
      if constexpr (std::is_same_v<T, bool>) {
        REQUIRE(op == NumUnary::Not);
        return input(!x);
      } else if constexpr (std::is_floating_point_v<T>) {
        switch (op) {
          case NumUnary::Neg: return input(-x);
          case NumUnary::Abs: return input(absolute(x));
          case NumUnary::Sqrt: return input(square_root(x));
          case NumUnary::Floor: return input(round_floor(x));
          case NumUnary::Ceil: return input(round_ceil(x));
          case NumUnary::Trunc: return input(round_trunc(x));
          case NumUnary::RoundEven: return input(round_even(x));
          case NumUnary::IsNan: return input(is_nan(x));
          default: FAIL("not for floats"); return a;
        }
      } else {
        switch (op) {
          case NumUnary::Neg: return input(wrap_sub(T(0), x));
          case NumUnary::Not: return input(static_cast<T>(~x));
          case NumUnary::Abs: return input(absolute(x));
          case NumUnary::CountLeadingZeros: return input(leading_zeros(x));
          case NumUnary::PopCount: return input(pop_count(x));
          default: FAIL("not for integers"); return a;
        }
      }
    });
  }
  Num binary(NumBinary op, Num a, Num b) override {
    REQUIRE(a.dtype == b.dtype);
    return with(a.dtype, [&]<class T>() -> Num {
      const T x = from_bits<T>(bits(a)), y = from_bits<T>(bits(b));
      if constexpr (std::is_same_v<T, bool>) {
        REQUIRE((op == NumBinary::And || op == NumBinary::Or || op == NumBinary::Xor));
        return input(op == NumBinary::And ? x && y : op == NumBinary::Or ? x || y : x != y);
      } else {
        switch (op) {
          case NumBinary::Add: return input(wrap_add(x, y));
          case NumBinary::Sub: return input(wrap_sub(x, y));
          case NumBinary::Mul: return input(wrap_mul(x, y));
          case NumBinary::Min: return input(minimum(x, y));
          case NumBinary::Max: return input(maximum(x, y));
          default: break;
        }
        if constexpr (std::is_floating_point_v<T>) {
          REQUIRE(op == NumBinary::Div);
          return input(x / y);
        } else {
          if (op == NumBinary::Shl || op == NumBinary::Shr) REQUIRE((y >= T(0) && static_cast<uint64_t>(y) < 8 * sizeof(T)));
          switch (op) {
            case NumBinary::And: return input(static_cast<T>(x & y));
            case NumBinary::Or: return input(static_cast<T>(x | y));
            case NumBinary::Xor: return input(static_cast<T>(x ^ y));
            case NumBinary::Shl: return input(shl(x, y));
            case NumBinary::Shr: return input(shr(x, y));
            case NumBinary::DivTrunc: return input(div_trunc(x, y));
            case NumBinary::RemTrunc: return input(rem_trunc(x, y));
            case NumBinary::MulHigh:
              if constexpr (std::is_same_v<T, uint32_t>) return input(mul_high(x, y));
              [[fallthrough]];
            default: FAIL("not for integers"); return a;
          }
        }
      }
    });
  }
  Num compare(NumCompare op, Num a, Num b) override {
    REQUIRE(a.dtype == b.dtype);
    REQUIRE(a.dtype != DType::Bool);
    return with(a.dtype, [&]<class T>() -> Num {
      const T x = from_bits<T>(bits(a)), y = from_bits<T>(bits(b));
      switch (op) {
        case NumCompare::Eq: return input(x == y);
        case NumCompare::Ne: return input(x != y);
        case NumCompare::Lt: return input(x < y);
        case NumCompare::Le: return input(x <= y);
        case NumCompare::Gt: return input(x > y);
        default: return input(x >= y);
      }
    });
  }
  Num fma(Num a, Num b, Num c) override {
    REQUIRE((is_float(a.dtype) && a.dtype == b.dtype && b.dtype == c.dtype));
    if (a.dtype == DType::F32) return input(std::fma(get<float>(a), get<float>(b), get<float>(c)));
    return input(std::fma(get<double>(a), get<double>(b), get<double>(c)));
  }
  Num select(Num mask, Num a, Num b) override {
    REQUIRE((mask.dtype == DType::Bool && a.dtype == b.dtype));
    return get<bool>(mask) ? a : b;
  }
  Num bitcast(Num x, DType to) override {
    REQUIRE(size_of(x.dtype) == size_of(to));
    return make(to, bits(x));
  }
  Num convert(Num x, DType to) override {
    return with(x.dtype, [&]<class From>() -> Num {
      return with(to, [&]<class To>() -> Num { return input(cast<To>(from_bits<From>(bits(x)))); });
    });
  }

 private:
  template <class T> static uint64_t to_bits(T x) {
    uint64_t out = 0;
    __builtin_memcpy(&out, &x, sizeof x);
    return out;
  }
  template <class T> static T from_bits(uint64_t bits) {
    T out;
    __builtin_memcpy(&out, &bits, sizeof out);
    return out;
  }
  uint64_t bits(Num x) const {
    REQUIRE(x.builder == this);
    return *static_cast<const uint64_t*>(x.handle);
  }
  template <class T> T get(Num x) const { return from_bits<T>(bits(x)); }
  Num make(DType dtype, uint64_t bits) {
    values_.push_back(bits);
    return {this, &values_.back(), dtype};
  }
  template <class F> Num with(DType dtype, F f) {
    switch (dtype) {
      case DType::Bool: return f.template operator()<bool>();
      case DType::I8: return f.template operator()<int8_t>();
      case DType::I16: return f.template operator()<int16_t>();
      case DType::I32: return f.template operator()<int32_t>();
      case DType::I64: return f.template operator()<int64_t>();
      case DType::U8: return f.template operator()<uint8_t>();
      case DType::U16: return f.template operator()<uint16_t>();
      case DType::U32: return f.template operator()<uint32_t>();
      case DType::U64: return f.template operator()<uint64_t>();
      case DType::F32: return f.template operator()<float>();
      case DType::F64: return f.template operator()<double>();
      default: FAIL("a dtype that never occurs"); return {};
    }
  }

  std::deque<uint64_t> values_;
};

}  // namespace tercet
