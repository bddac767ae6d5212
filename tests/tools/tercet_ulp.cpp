// Measures the elementary functions of interpreter/runtime/scalar_math.h and prints the largest error of each in units
// in the last place (ulp).
//
//   tercet_ulp [--every N] [--samples N] [NAME…]
//
// f32: every value (or each N-th) against the f64 function of the C library, whose own error is 2^-29 of an f32 ulp.
// f64: random samples (default 1,000,000 a function) against MPFR with 200 bits.
#pragma GCC optimize("O3,no-trapping-math,no-math-errno")
#include <mpfr.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "interpreter/runtime/scalar_math.h"

namespace {

using namespace tercet;

template <class T> struct Worst {
  double ulps = 0;
  T at = 0, second = 0;
  uint64_t wrong = 0;  // NaN or infinity where there should be none, or the other way round
  T wrong_at = 0;
  void merge(const Worst& other) {
    if (other.ulps > ulps) ulps = other.ulps, at = other.at, second = other.second;
    if (wrong == 0) wrong_at = other.wrong_at;
    wrong += other.wrong;
  }
};

/// Distance in ulps of T from `exact`, which is `rounded` in T.
template <class T, class Exact> double distance(T got, T rounded, Exact exact) {
  constexpr int digits = std::numeric_limits<T>::digits, lowest = std::numeric_limits<T>::min_exponent - digits;
  int exponent = rounded == 0 ? lowest : std::max(lowest, std::ilogb(rounded) - (digits - 1));
  if (std::isinf(rounded)) exponent = std::numeric_limits<T>::max_exponent - digits;
  const Exact value = std::isinf(got) ? std::copysign(std::ldexp(Exact(1), std::numeric_limits<T>::max_exponent), Exact(got)) : Exact(got);
  return static_cast<double>(std::fabs(std::ldexp(value - exact, -exponent)));
}

/// `floor`: results smaller than this are measured in its ulps (an absolute error).
template <class T, class Exact>
void judge(Worst<T>& worst, T x, T second, T got, T rounded, Exact exact, double floor) {
  if ((std::isnan(got) && std::isnan(rounded)) || (std::isinf(rounded) && got == rounded)) return;
  const bool same_kind = std::isnan(got) == std::isnan(rounded) && !(std::isinf(exact) && got != rounded) &&
                         !(got == 0 && rounded == 0 && std::signbit(got) != std::signbit(rounded));
  if (!same_kind) {
    if (worst.wrong++ == 0) worst.wrong_at = x;
    return;
  }
  if (std::isinf(exact)) return;
  const double ulps = distance(got, std::max<T>(std::fabs(rounded), static_cast<T>(floor)), exact);
  if (ulps > worst.ulps) worst.ulps = ulps, worst.at = x, worst.second = second;
}

using Mpfr1 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Mpfr2 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

struct Function {
  std::string name;
  void (*f32)(const float*, const float*, float*, int);
  void (*f64)(const double*, const double*, double*, int);
  double (*reference)(double, double);
  std::function<void(mpfr_ptr, mpfr_srcptr, mpfr_srcptr)> exact;
  bool binary;
  double low, high;  // where most f64 samples are
  /// Near the zeros of lgamma at negative x the error is absolute: in ulps of 1.
  double floor_at(double x) const { return name == "lgamma" && x < 0 ? 1 : 0; }
};

template <class F, class T> void run1(const T* x, const T*, T* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = F::apply(x[i]);
}
template <class F, class T> void run2(const T* x, const T* z, T* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = F::apply(x[i], z[i]);
}

template <class F> Function unary(const char* name, double (*reference)(double, double), Mpfr1 exact, double low, double high) {
  return {name, run1<F, float>, run1<F, double>, reference,
          [exact](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) { exact(r, x, MPFR_RNDN); }, false, low, high};
}
template <class F> Function binary(const char* name, double (*reference)(double, double), Mpfr2 exact, double low, double high) {
  return {name, run2<F, float>, run2<F, double>, reference,
          [exact](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) { exact(r, x, y, MPFR_RNDN); }, true, low, high};
}

int exact_lgamma(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  int sign;
  return mpfr_lgamma(r, &sign, x, rounding);
}
int exact_sigmoid(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_neg(r, x, rounding);
  mpfr_exp(r, r, rounding);
  mpfr_add_ui(r, r, 1, rounding);
  return mpfr_ui_div(r, 1, r, rounding);
}
int exact_softplus(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_cmp_ui(x, 2000) > 0) return mpfr_set(r, x, rounding);
  mpfr_exp(r, x, rounding);
  return mpfr_log1p(r, r, rounding);
}
double reference_softplus(double x, double) {
  return static_cast<double>(std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(static_cast<long double>(x)))));
}
/// By Newton's method on erf/erfc from a double starting value.
int exact_erfinv(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  const double start = ErfInv::apply(mpfr_get_d(x, MPFR_RNDN));
  mpfr_t y, f, g, c;
  mpfr_inits2(300, y, f, g, c, nullptr);
  mpfr_set_d(y, start, MPFR_RNDN);
  if (std::isfinite(start) && start != 0) {
    for (int i = 0; i < 3; ++i) {
      if (std::fabs(start) < 0.5) {
        mpfr_erf(f, y, MPFR_RNDN);
        mpfr_sub(f, f, x, MPFR_RNDN);
      } else {
        mpfr_erfc(f, y, MPFR_RNDN);        // (1 - x) - erfc(y)
        mpfr_ui_sub(g, 1, x, MPFR_RNDN);
        mpfr_sub(f, g, f, MPFR_RNDN);
      }
      mpfr_sqr(g, y, MPFR_RNDN);
      mpfr_exp(g, g, MPFR_RNDN);
      mpfr_const_pi(c, MPFR_RNDN);
      mpfr_sqrt(c, c, MPFR_RNDN);
      mpfr_div_2ui(c, c, 1, MPFR_RNDN);
      mpfr_mul(f, f, g, MPFR_RNDN);
      mpfr_mul(f, f, c, MPFR_RNDN);
      mpfr_sub(y, y, f, MPFR_RNDN);
    }
  }
  mpfr_set(r, y, rounding);
  mpfr_clears(y, f, g, c, nullptr);
  return 0;
}
double reference_erfinv(double x, double) { return ErfInv::apply(x); }  // f64 is measured against MPFR on its own

#define C1(f) [](double x, double) { return f(x); }
#define C2(f) [](double x, double y) { return f(x, y); }

std::vector<Function> functions() {
  return {
      unary<Exp>("exp", C1(std::exp), mpfr_exp, -745, 710),
      unary<Exp2>("exp2", C1(std::exp2), mpfr_exp2, -1074, 1024),
      unary<Expm1>("expm1", C1(std::expm1), mpfr_expm1, -40, 710),
      unary<Log>("log", C1(std::log), mpfr_log, 0, 4),
      unary<Log2>("log2", C1(std::log2), mpfr_log2, 0, 4),
      unary<Log10>("log10", C1(std::log10), mpfr_log10, 0, 4),
      unary<Log1p>("log1p", C1(std::log1p), mpfr_log1p, -1, 4),
      unary<Sqrt>("sqrt", C1(std::sqrt), mpfr_sqrt, 0, 4),
      unary<Rsqrt>("rsqrt", [](double x, double) { return static_cast<double>(1.0L / std::sqrt(static_cast<long double>(x))); },
                   mpfr_rec_sqrt, 0, 4),
      unary<Cbrt>("cbrt", C1(std::cbrt), mpfr_cbrt, -8, 8),
      unary<Sin>("sin", C1(std::sin), mpfr_sin, -100, 100),
      unary<Cos>("cos", C1(std::cos), mpfr_cos, -100, 100),
      unary<Tan>("tan", C1(std::tan), mpfr_tan, -100, 100),
      unary<Asin>("asin", C1(std::asin), mpfr_asin, -1, 1),
      unary<Acos>("acos", C1(std::acos), mpfr_acos, -1, 1),
      unary<Atan>("atan", C1(std::atan), mpfr_atan, -5, 5),
      unary<Sinh>("sinh", C1(std::sinh), mpfr_sinh, -711, 711),
      unary<Cosh>("cosh", C1(std::cosh), mpfr_cosh, -711, 711),
      unary<Tanh>("tanh", C1(std::tanh), mpfr_tanh, -20, 20),
      unary<Asinh>("asinh", C1(std::asinh), mpfr_asinh, -5, 5),
      unary<Acosh>("acosh", C1(std::acosh), mpfr_acosh, 1, 5),
      unary<Atanh>("atanh", C1(std::atanh), mpfr_atanh, -1, 1),
      unary<Erf>("erf", C1(std::erf), mpfr_erf, -6, 6),
      unary<Erfc>("erfc", C1(std::erfc), mpfr_erfc, -6, 27),
      unary<ErfInv>("erfinv", reference_erfinv, exact_erfinv, -1, 1),
      unary<Lgamma>("lgamma", C1(std::lgamma), exact_lgamma, 0, 20),
      unary<Sigmoid>("sigmoid", [](double x, double) { return static_cast<double>(1 / (1 + std::exp(-static_cast<long double>(x)))); },
                     exact_sigmoid, -740, 40),
      unary<Softplus>("softplus", reference_softplus, exact_softplus, -700, 700),
      binary<Pow>("pow", C2(std::pow), mpfr_pow, 0, 100),
      binary<Atan2>("atan2", C2(std::atan2), mpfr_atan2, -5, 5),
      binary<Hypot>("hypot", C2(std::hypot), mpfr_hypot, -5, 5),
      binary<Fmod>("fmod", C2(std::fmod), mpfr_fmod, -100, 100),
  };
}

constexpr int block = 4096;

Worst<float> measure_f32_part(const Function& f, uint64_t begin, uint64_t end, uint64_t every) {
  Worst<float> worst;
  std::vector<float> x(block), y(block), r(block);
  std::mt19937_64 random(begin);
  for (uint64_t at = begin; at < end; at += every * block) {
    const int n = static_cast<int>(std::min<uint64_t>(block, (end - at + every - 1) / every));
    for (int i = 0; i < n; ++i) {
      const auto bits = static_cast<uint32_t>(at + static_cast<uint64_t>(i) * every);
      x[i] = std::bit_cast<float>(f.binary ? static_cast<uint32_t>(random()) : bits);
      y[i] = std::bit_cast<float>(static_cast<uint32_t>(random()));
      // Half of the pairs near each other or of moderate size: that is where functions of two numbers are interesting.
      if (f.binary && (bits & 1)) {
        x[i] = static_cast<float>(std::ldexp(static_cast<double>(random() >> 11), -50));
        y[i] = static_cast<float>(std::ldexp(static_cast<double>(random() >> 11), -47) - 32);
      }
    }
    f.f32(x.data(), y.data(), r.data(), n);
    for (int i = 0; i < n; ++i) {
      const double exact = f.reference(x[i], y[i]);
      judge(worst, x[i], y[i], r[i], static_cast<float>(exact), exact, f.floor_at(x[i]));
    }
  }
  return worst;
}

template <class Part> auto in_threads(Part part) {
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<decltype(part(0u, count))> results(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) threads.emplace_back([&, t] { results[t] = part(t, count); });
  for (auto& thread : threads) thread.join();
  for (unsigned t = 1; t < count; ++t) results[0].merge(results[t]);
  return results[0];
}

/// A third anywhere in the number range, a third spread over the main range, a third around small multiples of pi/4,
/// around 1 and near 0.
double sample(const Function& f, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const uint64_t kind = random() % 3;
  if (kind == 0) return std::bit_cast<double>(random());
  if (kind == 1) return f.low + (f.high - f.low) * unit(random);
  const double spread = std::ldexp(unit(random) - 0.5, -static_cast<int>(random() % 40));
  const uint64_t centre = random() % 4;
  if (centre == 0) return 1 + spread;
  if (centre == 1) return spread;
  if (centre == 2) return -spread * 8;
  return static_cast<double>(random() % 64) * 0.78539816339744831 * (1 + spread);
}

Worst<double> measure_f64_part(const Function& f, unsigned seed, int64_t samples) {
  Worst<double> worst;
  std::vector<double> x(block), y(block), r(block);
  std::mt19937_64 random(seed + 1);
  mpfr_t a, b, exact, got;
  mpfr_inits2(200, a, b, exact, got, nullptr);
  for (int64_t at = 0; at < samples; at += block) {
    for (int i = 0; i < block; ++i) x[i] = sample(f, random), y[i] = sample(f, random);
    f.f64(x.data(), y.data(), r.data(), block);
    for (int i = 0; i < block; ++i) {
      if (std::isnan(x[i]) || (f.binary && std::isnan(y[i]))) continue;
      mpfr_set_d(a, x[i], MPFR_RNDN);
      mpfr_set_d(b, y[i], MPFR_RNDN);
      f.exact(exact, a, b);
      // 53 bits and a rest: long double holds enough of the exact value to measure with.
      const double rounded = mpfr_get_d(exact, MPFR_RNDN);
      judge(worst, x[i], y[i], r[i], rounded, mpfr_get_ld(exact, MPFR_RNDN), f.floor_at(x[i]));
    }
  }
  mpfr_clears(a, b, exact, got, nullptr);
  mpfr_free_cache();
  return worst;
}

template <class T> void print(const char* dtype, const Function& f, const Worst<T>& worst) {
  std::printf("%-9s %s  %8.4f ulp at %a", f.name.c_str(), dtype, worst.ulps, static_cast<double>(worst.at));
  if (f.binary) std::printf(", %a", static_cast<double>(worst.second));
  if (worst.wrong) std::printf("   WRONG KIND %llu times, first at %a", static_cast<unsigned long long>(worst.wrong), static_cast<double>(worst.wrong_at));
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t every = 1;
  int64_t samples = 1'000'000;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--every") && i + 1 < argc) every = std::stoull(argv[++i]);
    else if (!std::strcmp(argv[i], "--samples") && i + 1 < argc) samples = std::stoll(argv[++i]);
    else names.emplace_back(argv[i]);
  }
  for (const Function& f : functions()) {
    if (!names.empty() && std::find(names.begin(), names.end(), f.name) == names.end()) continue;
    const uint64_t values = f.binary ? std::min<uint64_t>(uint64_t{1} << 28, (uint64_t{1} << 32) / every) : uint64_t{1} << 32;
    const uint64_t step = f.binary ? 1 : every;
    print("f32", f, in_threads([&](unsigned t, unsigned count) {
            return measure_f32_part(f, values / count * t, t + 1 == count ? values : values / count * (t + 1), step);
          }));
    print("f64", f, in_threads([&](unsigned t, unsigned count) { return measure_f64_part(f, t, samples / count); }));
  }
}
