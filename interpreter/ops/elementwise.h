// Rules shared by the elementwise rows: types, evaluation by a loop, emission. A row names a functor with
//   struct Sin { template <class N> static N apply(N x) { … } };
// and gets its meaning on arrays (each1/each2/each3) and in compiled code (code1/code2/code3) from the same template.
#pragma once
#include "interpreter/ir/eval.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/runtime/polling.h"

namespace tercet {

/// Which element types a functor takes. A row's infer checks it, so that `apply` is instantiated for no other.
enum class Domain : uint8_t { Floats, Ints, Numbers, NumbersAndBool, IntsAndBool };
template <Domain D, class T> constexpr bool accepts() {
  constexpr bool floating = std::is_floating_point_v<T>, boolean = std::is_same_v<T, bool>;
  constexpr bool integer = std::is_integral_v<T> && !boolean;
  switch (D) {
    case Domain::Floats: return floating;
    case Domain::Ints: return integer;
    case Domain::Numbers: return floating || integer;
    case Domain::NumbersAndBool: return floating || integer || boolean;
    case Domain::IntsAndBool: return integer || boolean;
  }
  return false;
}
inline bool accepts(Domain d, DType t) {
  switch (d) {
    case Domain::Floats: return is_float(t);
    case Domain::Ints: return is_int(t);
    case Domain::Numbers: return is_int(t) || is_float(t);
    case Domain::NumbersAndBool: return t <= DType::F64;
    case Domain::IntsAndBool: return is_int(t) || t == DType::Bool;
  }
  return false;
}

/// The result has the operands' dtype and sizes.
template <Domain D, int Arity> std::vector<Type> infer_same(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == Arity && accepts(D, in.operands[0].dtype));
  for (const Type& t : in.operands) TERCET_CHECK(t == in.operands[0]);
  return {in.operands[0]};
}
/// As infer_same, but the result is bool.
template <Domain D, int Arity> std::vector<Type> infer_predicate(const InferInput& in) {
  return {{DType::Bool, infer_same<D, Arity>(in)[0].dims}};
}

/// An operand's memory when it may hold the result, else a new array of the result's type.
inline Array result_in_place(DType dtype, std::span<Array> operands) {
  for (Array& a : operands)
    if (size_of(a.dtype) == size_of(dtype) && a.dtype != DType::Str && a.unique()) {
      Array out = a;
      out.dtype = dtype;
      out.weak = false;
      return out;
    }
  return Array::make(dtype, operands[0].shape);
}

namespace detail {

template <class T> using ComputeType = typename Compute<T>::type;
template <class T> constexpr bool is_element = !std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>;

template <class R, class T> struct StoreAs { using type = T; };               // same kind: keep the storage type
template <class T> struct StoreAs<bool, T> { using type = bool; };            // predicates

template <Domain D, class F> void visit_domain(DType dtype, F&& f) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (is_element<T>) {
      if constexpr (accepts<D, ComputeType<T>>()) f.template operator()<T>();
    }
  });
}

}  // namespace detail

template <class Fn, Domain D>
std::vector<Array> each1(EvalContext&, const Function& f, const Op& op, std::span<Array> in) {
  Array out = result_in_place(f.type(op.output()).dtype, in);
  detail::visit_domain<D>(in[0].dtype, [&]<class T>() {
    using C = detail::ComputeType<T>;
    using R = decltype(Fn::apply(C{}));
    using S = typename detail::StoreAs<R, T>::type;
    const T* x = in[0].data<T>();
    S* y = out.data<S>();
    in_strips(in[0].count(), [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = Compute<S>::store(Fn::apply(Compute<T>::load(x[i])));
    });
  });
  return {std::move(out)};
}

template <class Fn, Domain D>
std::vector<Array> each2(EvalContext&, const Function& f, const Op& op, std::span<Array> in) {
  Array out = result_in_place(f.type(op.output()).dtype, in);
  detail::visit_domain<D>(in[0].dtype, [&]<class T>() {
    using C = detail::ComputeType<T>;
    using R = decltype(Fn::apply(C{}, C{}));
    using S = typename detail::StoreAs<R, T>::type;
    const T *a = in[0].data<T>(), *b = in[1].data<T>();
    S* y = out.data<S>();
    in_strips(in[0].count(), [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = Compute<S>::store(Fn::apply(Compute<T>::load(a[i]), Compute<T>::load(b[i])));
    });
  });
  return {std::move(out)};
}

template <class Fn, Domain D>
std::vector<Array> each3(EvalContext&, const Function& f, const Op& op, std::span<Array> in) {
  Array out = result_in_place(f.type(op.output()).dtype, in);
  detail::visit_domain<D>(in[0].dtype, [&]<class T>() {
    const T *a = in[0].data<T>(), *b = in[1].data<T>(), *c = in[2].data<T>();
    T* y = out.data<T>();
    in_strips(in[0].count(), [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        y[i] = Compute<T>::store(Fn::apply(Compute<T>::load(a[i]), Compute<T>::load(b[i]), Compute<T>::load(c[i])));
    });
  });
  return {std::move(out)};
}

template <class Fn> Num emit1(std::span<const Num> x, const Op&, DType) { return Fn::apply(x[0]); }
template <class Fn> Num emit2(std::span<const Num> x, const Op&, DType) { return Fn::apply(x[0], x[1]); }
template <class Fn> Num emit3(std::span<const Num> x, const Op&, DType) { return Fn::apply(x[0], x[1], x[2]); }

/// Operands that exercise every dtype of a domain: special values, and lengths around the vector width.
std::vector<Sample> samples_of(Domain domain, int arity);
template <Domain D, int Arity> std::vector<Sample> elementwise_samples() { return samples_of(D, Arity); }

/// A public one-operand row (the whole of it): name, text, functor, domain, promotion.
template <class Fn, Domain D>
constexpr OpDef unary_op(const char* name, const char* doc, Surface surface, Diff diff) {
  return {.name = name, .doc = doc, .surface = surface, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_same<D, 1>,
          .eval = each1<Fn, D>, .batch = BatchElementwise{}, .diff = diff, .code = CodeElementwise{emit1<Fn>},
          .samples = elementwise_samples<D, 1>};
}
template <class Fn, Domain D>
constexpr OpDef unary_predicate(const char* name, const char* doc, Surface surface) {
  return {.name = name, .doc = doc, .surface = surface, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_predicate<D, 1>,
          .eval = each1<Fn, D>, .batch = BatchElementwise{}, .diff = NotDifferentiable{"the result is bool"},
          .code = CodeElementwise{emit1<Fn>}, .samples = elementwise_samples<D, 1>};
}
template <class Fn, Domain D>
constexpr OpDef binary_op(const char* name, const char* doc, Surface surface, Diff diff) {
  return {.name = name, .doc = doc, .surface = surface, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_same<D, 2>,
          .eval = each2<Fn, D>, .batch = BatchElementwise{}, .diff = diff, .code = CodeElementwise{emit2<Fn>},
          .samples = elementwise_samples<D, 2>};
}
template <class Fn, Domain D>
constexpr OpDef binary_predicate(const char* name, const char* doc, Surface surface) {
  return {.name = name, .doc = doc, .surface = surface, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_predicate<D, 2>,
          .eval = each2<Fn, D>, .batch = BatchElementwise{}, .diff = NotDifferentiable{"the result is bool"},
          .code = CodeElementwise{emit2<Fn>}, .samples = elementwise_samples<D, 2>};
}

}  // namespace tercet
