// Elementary functions: error bounds on samples, special values of C99 and IEEE, and the builder path = the plain path.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "interpreter/runtime/scalar_math.h"
#include "tests/scalar_builder.h"

namespace tercet {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

template <class T, class Exact> double ulps(T got, Exact exact) {
  constexpr int digits = std::numeric_limits<T>::digits, lowest = std::numeric_limits<T>::min_exponent - digits;
  const T rounded = static_cast<T>(exact);
  if (std::isnan(got) && std::isnan(rounded)) return 0;
  if (std::isnan(got) || std::isnan(rounded)) return 1e30;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e30;
  const int exponent = rounded == 0 ? lowest : std::max(lowest, std::ilogb(rounded) - (digits - 1));
  return static_cast<double>(std::fabs(std::ldexp(static_cast<Exact>(got) - exact, -exponent)));
}

using Reference = long double (*)(long double);

/// Largest error over samples of [low, high], half of them with a random exponent.
template <class F, class T> double worst(Reference reference, double low, double high) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  double most = 0;
  for (int i = 0; i < 20000; ++i) {
    double x = low + (high - low) * unit(random);
    if (i % 2) x = std::ldexp(x, -static_cast<int>(random() % 30));
    if (!(x >= low && x <= high)) continue;
    const T value = static_cast<T>(x);
    const double error = ulps(F::apply(value), reference(value));
    if (error > most) most = error;
  }
  return most;
}

#define REFERENCE(f) [](long double x) -> long double { return f(x); }

template <class F> void within(const char* name, Reference reference, double low, double high, double f32, double f64) {
  INFO(name);
  CHECK(worst<F, float>(reference, low, high) <= f32);
  CHECK(worst<F, double>(reference, low, high) <= f64);
}

TEST_CASE("elementary functions stay within the errors of docs/numerics.md", "[math]") {
  within<Exp>("exp", REFERENCE(std::exp), -87, 88, 1, 1);
  within<Exp2>("exp2", REFERENCE(std::exp2), -125, 127, 1, 1);
  within<Expm1>("expm1", REFERENCE(std::expm1), -20, 88, 1.1, 1.1);
  within<Log>("log", REFERENCE(std::log), 0, 9, 1, 1);
  within<Log2>("log2", REFERENCE(std::log2), 0, 9, 1.1, 1.1);
  within<Log10>("log10", REFERENCE(std::log10), 0, 9, 1.1, 1.1);
  within<Log1p>("log1p", REFERENCE(std::log1p), -1, 9, 1, 1);
  within<Sqrt>("sqrt", REFERENCE(std::sqrt), 0, 9, 0.5, 0.501);
  within<Rsqrt>("rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 0.001, 9, 1.5, 1.5);
  within<Cbrt>("cbrt", REFERENCE(std::cbrt), -9, 9, 0.6, 0.6);
  within<Sin>("sin", REFERENCE(std::sin), -3000, 3000, 0.51, 1);
  within<Cos>("cos", REFERENCE(std::cos), -3000, 3000, 0.51, 1);
  within<Tan>("tan", REFERENCE(std::tan), -3000, 3000, 0.51, 1);
  within<Asin>("asin", REFERENCE(std::asin), -1, 1, 2, 2);
  within<Acos>("acos", REFERENCE(std::acos), -1, 1, 1.5, 1.5);
  within<Atan>("atan", REFERENCE(std::atan), -99, 99, 1.5, 1.5);
  within<Sinh>("sinh", REFERENCE(std::sinh), -88, 88, 1.5, 1.5);
  within<Cosh>("cosh", REFERENCE(std::cosh), -88, 88, 2, 1.5);
  within<Tanh>("tanh", REFERENCE(std::tanh), -20, 20, 1, 1);
  within<Asinh>("asinh", REFERENCE(std::asinh), -99, 99, 0.51, 2);
  within<Acosh>("acosh", REFERENCE(std::acosh), 1, 99, 0.51, 2.5);
  within<Atanh>("atanh", REFERENCE(std::atanh), -1, 1, 0.51, 2);
  within<Erf>("erf", REFERENCE(std::erf), -6, 6, 1, 1);
  within<Erfc>("erfc", REFERENCE(std::erfc), -6, 9, 0.51, 3.5);
  within<Lgamma>("lgamma", REFERENCE(std::lgamma), 0.001, 90, 0.51, 4);
  within<Sigmoid>("sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 2.5, 2.5);
  within<Softplus>("softplus", [](long double x) { return std::log1p(std::exp(x)); }, -80, 80, 2, 2);
}

TEST_CASE("erfinv inverts erf", "[math]") {
  for (double x = -0.999999; x < 1; x += 0.000317) {
    const double y = ErfInv::apply(x);
    CHECK(std::fabs(std::erf(y) - x) <= 3e-16);
    const auto narrow = static_cast<float>(x);
    CHECK(ulps(ErfInv::apply(narrow), ErfInv::apply(static_cast<double>(narrow))) <= 1);
  }
  CHECK(ErfInv::apply(1.0) == inf);
  CHECK(ErfInv::apply(-1.0f) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(ErfInv::apply(1.5)));
}

TEST_CASE("pow, atan2, hypot and fmod on pairs", "[math]") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  double most_pow32 = 0, most_pow64 = 0, most_atan2 = 0, most_hypot = 0;
  for (int i = 0; i < 50000; ++i) {
    const double x = std::exp(30 * unit(random)), y = 20 * unit(random), z = std::ldexp(unit(random), i % 60 - 30);
    const auto fx = static_cast<float>(x), fy = static_cast<float>(y / 8);
    most_pow32 = std::max(most_pow32, ulps(Pow::apply(fx, fy), std::pow(static_cast<double>(fx), static_cast<double>(fy))));
    most_pow64 = std::max(most_pow64, ulps(Pow::apply(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))));
    most_atan2 = std::max(most_atan2, ulps(Atan2::apply(z, y), std::atan2(static_cast<long double>(z), static_cast<long double>(y))));
    most_hypot = std::max(most_hypot, ulps(Hypot::apply(z, y), std::hypot(static_cast<long double>(z), static_cast<long double>(y))));
    const double huge = std::bit_cast<double>(random()), other = std::bit_cast<double>(random());
    if (huge == huge && other == other) CHECK(Fmod::apply(huge, other) == std::fmod(huge, other));
    const auto narrow = static_cast<float>(huge), narrow_other = static_cast<float>(other);
    const float expected = std::fmod(narrow, narrow_other), got = Fmod::apply(narrow, narrow_other);
    CHECK(std::isnan(expected) == std::isnan(got));
    if (!std::isnan(expected)) CHECK(std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(expected));
  }
  CHECK(most_pow32 <= 0.51);
  CHECK(most_pow64 <= 1);
  CHECK(most_atan2 <= 2);
  CHECK(most_hypot <= 0.6);
}

/// Equal as numbers with their sign; any NaN equals any NaN.
template <class T> bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class F> void agrees_at_edges(const char* name, double (*reference)(double), std::initializer_list<double> also = {}) {
  std::vector<double> points = {0.0, -0.0, inf, -inf, nan, 1, -1};
  points.insert(points.end(), also);
  for (double x : points) {
    INFO(name << "(" << x << ")");
    CHECK(same(F::apply(x), reference(x)));
    CHECK(same(F::apply(static_cast<float>(x)), static_cast<float>(reference(static_cast<float>(x)))));
  }
}
#define EDGE(F, f, ...) agrees_at_edges<F>(#f, [](double x) { return f(x); }, {__VA_ARGS__})

TEST_CASE("special values are those of C99", "[math]") {
  // Exact results, limits and domain errors; ±1 only where the result is exact or is rounded the same by any good libm.
  for (double x : {0.0, -0.0, inf, -inf, nan}) {
    CHECK(same(Exp::apply(x), std::exp(x)));
    CHECK(same(Exp2::apply(x), std::exp2(x)));
    CHECK(same(Expm1::apply(x), std::expm1(x)));
    CHECK(same(Log1p::apply(x), std::log1p(x)));
    CHECK(same(Sin::apply(x), std::sin(x)));
    CHECK(same(Cos::apply(x), std::cos(x)));
    CHECK(same(Tan::apply(x), std::tan(x)));
    CHECK(same(Asin::apply(x), std::asin(x)));
    CHECK(same(Acos::apply(x), std::acos(x)));
    CHECK(same(Atan::apply(x), std::atan(x)));
    CHECK(same(Sinh::apply(x), std::sinh(x)));
    CHECK(same(Cosh::apply(x), std::cosh(x)));
    CHECK(same(Tanh::apply(x), std::tanh(x)));
    CHECK(same(Asinh::apply(x), std::asinh(x)));
    CHECK(same(Acosh::apply(x), std::acosh(x)));
    CHECK(same(Atanh::apply(x), std::atanh(x)));
    CHECK(same(Erf::apply(x), std::erf(x)));
    CHECK(same(Erfc::apply(x), std::erfc(x)));
    const auto f = static_cast<float>(x);
    CHECK(same(Exp::apply(f), std::exp(f)));
    CHECK(same(Sin::apply(f), std::sin(f)));
    CHECK(same(Tanh::apply(f), std::tanh(f)));
    CHECK(same(Erf::apply(f), std::erf(f)));
    CHECK(same(Atan::apply(f), std::atan(f)));
  }
  EDGE(Log, std::log);
  EDGE(Log2, std::log2, 2, 0.25, 0x1p-1074);
  EDGE(Log10, std::log10);
  EDGE(Sqrt, std::sqrt, 4);
  EDGE(Cbrt, std::cbrt);
  CHECK(Cbrt::apply(27.0) == 3);
  CHECK(Cbrt::apply(-8.0f) == -2);
  CHECK(Cbrt::apply(0x1p-1074) == 0x1p-358);
  EDGE(Atanh, std::atanh, 2);
  EDGE(Lgamma, std::lgamma, 2, -2, -5);
  EDGE(Floor, std::floor, 2.5, -2.5);
  EDGE(Round, std::nearbyint, 0.5, 1.5, 2.5, -0.5);
  CHECK(Exp::apply(1000.0) == inf);
  CHECK(Exp::apply(-1000.0) == 0);
  CHECK(Exp::apply(-0x1.74p+9) == std::exp(-0x1.74p+9));  // denormal results
  CHECK(Exp::apply(-103.0f) == std::exp(-103.0f));
  CHECK(Expm1::apply(100.0f) == std::numeric_limits<float>::infinity());
  CHECK(Sinh::apply(1e300) == inf);
  CHECK(std::isnan(Log::apply(-1.0)));
  CHECK(std::isnan(Acosh::apply(-7.0)));
  CHECK(std::isnan(Asin::apply(1.5f)));
  CHECK(Lgamma::apply(-0x0.8p-1022) == std::lgamma(-0x0.8p-1022));
  CHECK(Sigmoid::apply(-95.0f) == Approx(std::exp(-95.0)).epsilon(1e-4));
  CHECK(LogAddExp::apply(-inf, -inf) == -inf);
  CHECK(LogAddExp::apply(inf, 3.0) == inf);
  CHECK(same(Sign::apply(-0.0), -0.0));
  CHECK(std::isnan(Sign::apply(nan)));
  CHECK(Sign::apply(-7) == -1);
}

TEST_CASE("pow and atan2 at special pairs are those of C99", "[math]") {
  const double points[] = {0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, inf, -inf, nan, 1e300, -1e300, 0x1p53 - 1, 1 - 0x1p-53, 1 + 0x1p-52, 0x1p-1074};
  for (double x : points)
    for (double y : points) {
      INFO(x << ", " << y);
      const double expected = std::pow(x, y), got = Pow::apply(x, y);
      CHECK((same(got, expected) || ulps(got, static_cast<long double>(expected)) <= 2));
      CHECK(std::signbit(got) == std::signbit(std::isnan(expected) ? got : expected));
      CHECK((same(Atan2::apply(x, y), std::atan2(x, y)) || ulps(Atan2::apply(x, y), std::atan2(static_cast<long double>(x), static_cast<long double>(y))) <= 2));
      CHECK(same(Fmod::apply(x, y), std::fmod(x, y)));
      const auto fx = static_cast<float>(x), fy = static_cast<float>(y);
      const float narrow = static_cast<float>(std::pow(static_cast<double>(fx), static_cast<double>(fy)));
      CHECK(same(Pow::apply(fx, fy), narrow));
      CHECK(same(Hypot::apply(fx, fy), std::hypot(fx, fy)));
    }
}

TEST_CASE("sin and cos are right for the largest arguments", "[math]") {
  // Values of MPFR; 0x1.921fb54442d18p+1 is the f64 next to pi, the last ones are hard cases of range reduction.
  CHECK(Sin::apply(0x1.921fb54442d18p+1) == 0x1.1a62633145c07p-53);
  CHECK(Sin::apply(1e22) == -0x1.b453ab76bf397p-1);
  CHECK(Cos::apply(1e22) == 0x1.0be2cef01c8f4p-1);
  CHECK(Tan::apply(1e300) == 0x1.6be411f37ac77p+0);
  CHECK(Sin::apply(1.7976931348623157e308) == 0x1.452fc98b34e97p-8);
  CHECK(Cos::apply(6381956970095103.0 * 0x1p797) == -0x1.14ae72e6ba22fp-61);
  CHECK(Sin::apply(3.4028235e38f) == -0x1.0b33665089575p-1f);
  CHECK(Cos::apply(3.4028235e38f) == 0x1.b4bf2c79bdfcep-1f);
}

TEST_CASE("floor division and modulo as Python has them", "[math]") {
  struct Case { double a, b, quotient, modulo; };
  for (auto [a, b, quotient, modulo] : {Case{7, 2, 3, 1}, Case{-7, 2, -4, 1}, Case{7, -2, -4, -1}, Case{-7, -2, 3, -1},
                                        Case{6, -3, -2, -0.0}, Case{-6, 3, -2, 0.0}, Case{-1, inf, -1, inf}, Case{1, -inf, -1, -inf},
                                        Case{0.0, -5, -0.0, -0.0}, Case{-0.0, 5, -0.0, 0.0}, Case{1, 0, inf, nan},
                                        Case{-1, 0, -inf, nan}, Case{0, 0, nan, nan}, Case{inf, 2, nan, nan}, Case{5.5, 0.1, 54, 0.09999999999999970}}) {
    INFO(a << " // " << b);
    CHECK(same(FloorDiv::apply(a, b), quotient));
    CHECK((same(Modulo::apply(a, b), modulo) || std::fabs(Modulo::apply(a, b) - modulo) < 1e-16));
    if (a == std::floor(a) || std::isinf(a)) CHECK(same(FloorDiv::apply(static_cast<float>(a), static_cast<float>(b)), static_cast<float>(quotient)));
  }
  for (int a = -20; a <= 20; ++a)
    for (int b = -7; b <= 7; ++b) {
      const int quotient = b ? static_cast<int>(std::floor(static_cast<double>(a) / b)) : 0;
      CHECK(FloorDiv::apply(a, b) == quotient);
      CHECK(Modulo::apply(a, b) == (b ? a - quotient * b : 0));
      CHECK(FloorDiv::apply(static_cast<int8_t>(a), static_cast<int8_t>(b)) == quotient);
    }
  CHECK(FloorDiv::apply(std::numeric_limits<int32_t>::min(), -1) == std::numeric_limits<int32_t>::min());
  CHECK(Modulo::apply(std::numeric_limits<int64_t>::min(), int64_t{-1}) == 0);
  CHECK(FloorDiv::apply(uint8_t{200}, uint8_t{7}) == 28);
}

TEST_CASE("integer power wraps", "[math]") {
  CHECK(IntPower::apply(3, 5) == 243);
  CHECK(IntPower::apply(0, 0) == 1);
  CHECK(IntPower::apply(-2, 31) == std::numeric_limits<int32_t>::min());
  CHECK(IntPower::apply(int8_t{7}, int8_t{4}) == static_cast<int8_t>(2401));
  CHECK(Pow::apply(int64_t{-3}, int64_t{3}) == -27);
}

// ---- the compiler's path ----
template <class F, class T> void builder_agrees(const char* name, T x) {
  ScalarBuilder builder;
  const T plain = F::apply(x), built = builder.value<T>(F::apply(builder.input(x)));
  INFO(name << "(" << x << ") of " << name_of(dtype_for<T>()));
  CHECK(same(plain, built));
}
template <class F, class T> void builder_agrees(const char* name, T x, T y) {
  ScalarBuilder builder;
  const T plain = F::apply(x, y), built = builder.value<T>(F::apply(builder.input(x), builder.input(y)));
  INFO(name << "(" << x << ", " << y << ") of " << name_of(dtype_for<T>()));
  if constexpr (std::is_integral_v<T>) CHECK(plain == built);
  else CHECK(same(plain, built));
}

TEST_CASE("a function means the same in code under construction as on plain numbers", "[math]") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 60; ++i) {
    const double x = i < 8 ? std::initializer_list<double>{0.0, -0.0, inf, -inf, nan, 1, 0x1p-1074, -700}.begin()[i]
                           : std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63 - 8 + i % 16);
    const double y = std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -60);
#define UNARY(F) builder_agrees<F>(#F, x), builder_agrees<F>(#F, static_cast<float>(x));
#define BINARY(F) builder_agrees<F>(#F, x, y), builder_agrees<F>(#F, static_cast<float>(x), static_cast<float>(y));
#define INTEGERS(F) builder_agrees<F>(#F, static_cast<int32_t>(random()), static_cast<int32_t>(random() % 19) - 9), \
    builder_agrees<F>(#F, static_cast<uint8_t>(random()), static_cast<uint8_t>(random())), \
    builder_agrees<F>(#F, static_cast<int64_t>(random()), static_cast<int64_t>(random() >> 40));
    UNARY(Exp) UNARY(Exp2) UNARY(Expm1) UNARY(Log) UNARY(Log2) UNARY(Log10) UNARY(Log1p) UNARY(Sqrt) UNARY(Rsqrt) UNARY(Cbrt)
    UNARY(Sin) UNARY(Cos) UNARY(Tan) UNARY(Asin) UNARY(Acos) UNARY(Atan) UNARY(Sinh) UNARY(Cosh) UNARY(Tanh) UNARY(Asinh)
    UNARY(Acosh) UNARY(Atanh) UNARY(Erf) UNARY(Erfc) UNARY(ErfInv) UNARY(Lgamma) UNARY(Sigmoid) UNARY(Softplus) UNARY(Sign)
    UNARY(Round) UNARY(Floor) UNARY(Ceil) UNARY(Trunc)
    BINARY(Atan2) BINARY(Pow) BINARY(Hypot) BINARY(Fmod) BINARY(LogAddExp) BINARY(CopySign) BINARY(FloorDiv) BINARY(Modulo)
    INTEGERS(FloorDiv) INTEGERS(Modulo) INTEGERS(IntPower) INTEGERS(Pow)
  }
}

}  // namespace
}  // namespace tercet
