// Tercet in a C++ program: inline code over tercet.h, which says what things mean. C++20.
//
//   tercet::Engine engine;
//   tercet::Session s(engine, {.memory_bytes = 256 << 20, .deadline_ms = 2000});
//   s.eval("fn double(x) = x * 2");
//   auto twice = s.function("jit double");
//   tercet::Value y = twice(engine.array<float>({1, 2, 3}));     // moved in, not copied
//   for (float v : y.view<float>()) std::cout << v << "\n";
//
// What fails throws tercet::Error; each such function has a twin try_… that returns a Result and throws nothing but
// std::bad_alloc. Value and Function are handles: copying one is cheap. Threads: as in tercet.h.
#pragma once
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tercet.h"

namespace tercet {
inline namespace cpp {   // apart from the library's own names

// ---- errors ----

/// What went wrong. what() is its line; render() shows the place in the source.
class Error : public std::exception {
 public:
  explicit Error(tct_status status, tct_error* taken) : status_(status), error_(taken, tct_error_release) {}
  tct_status status() const { return status_; }
  std::string_view code() const { return text(tct_error_code(error_.get())); }
  std::string_view message() const { return text(tct_error_message(error_.get())); }
  std::string_view render() const { return text(tct_error_render(error_.get())); }
  std::string_view json() const { return text(tct_error_json(error_.get())); }
  const char* what() const noexcept override { return error_ ? tct_error_message(error_.get()).data : "out of memory"; }
  const tct_error* get() const { return error_.get(); }

 private:
  static std::string_view text(tct_str s) { return {s.data, s.size}; }
  tct_status status_;
  std::shared_ptr<tct_error> error_;
};

namespace detail {
[[noreturn]] inline void raise(Error error);
}

/// A T, or the Error why there is none.
template <class T> class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }
  /// The value; throws the error.
  T value() && {
    if (!*this) detail::raise(std::get<1>(std::move(state_)));
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

namespace detail {

inline tct_str str(std::string_view s) { return {s.data(), s.size()}; }

/// A counted handle.
template <class T, void (*Retain)(T*), void (*Release)(T*)> class Handle {
 public:
  Handle() = default;
  explicit Handle(T* taken) : handle_(taken) {}
  Handle(const Handle& other) : handle_(other.handle_) { Retain(handle_); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { Release(handle_); }
  T* get() const { return handle_; }
  T* release() { return std::exchange(handle_, nullptr); }

 private:
  T* handle_ = nullptr;
};

template <class T> constexpr tct_dtype dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return TCT_BOOL;
  else if constexpr (std::is_same_v<T, float>) return TCT_F32;
  else if constexpr (std::is_same_v<T, double>) return TCT_F64;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "an array holds numbers or bool");
    constexpr tct_dtype first = std::is_signed_v<T> ? TCT_I8 : TCT_U8;
    return first + (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3);
  }
}

/// Throws what the error stands for: what a host function of C++ threw, the same exception, or an Error.
[[noreturn]] inline void raise(Error error) {
  if (error.status() == TCT_ERR_HOST && error.get())
    if (auto* thrown = static_cast<std::exception_ptr*>(tct_error_host_data(error.get()))) std::rethrow_exception(*thrown);
  throw error;
}
/// By reference: the call that gives the status sets the error, and arguments have no order.
inline void check(tct_status status, tct_error* const& error) {
  if (status != TCT_OK) raise(Error(status, error));
}

}  // namespace detail

// ---- values ----

/// An array's elements, checked once for their type. They live as long as the Value it was taken of.
template <class T> class View {
 public:
  explicit View(const tct_array_view& v) : view_(v) {}
  const T* data() const { return static_cast<const T*>(view_.data); }
  size_t size() const { return static_cast<size_t>(view_.elements); }
  std::span<const int64_t> shape() const { return {view_.shape, static_cast<size_t>(view_.ndim)}; }
  std::span<const T> span() const { return {data(), size()}; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  /// Element i in row-major order, or by one index an axis; not checked.
  const T& operator[](size_t i) const { return data()[i]; }
  template <class... I> const T& operator()(I... index) const {
    int64_t at = 0;
    size_t axis = 0;
    ((at = at * view_.shape[axis++] + static_cast<int64_t>(index)), ...);
    return data()[at];
  }

 private:
  tct_array_view view_;
};

/// Immutable: an array, tuple, record, function, …
class Value {
 public:
  Value() = default;
  explicit Value(tct_value* taken) : handle_(taken) {}
  /// Numbers become scalars: integers i64, others f64, bool bool.
  template <class T> requires std::is_arithmetic_v<T> Value(T number) {
    tct_value* out = nullptr;
    tct_error* error = nullptr;
    if constexpr (std::is_same_v<T, bool>) detail::check(tct_array_copy(TCT_BOOL, 0, nullptr, &number, &out, &error), error);
    else if constexpr (std::is_same_v<T, float>) detail::check(tct_array_copy(TCT_F32, 0, nullptr, &number, &out, &error), error);
    else if constexpr (std::is_same_v<T, int32_t>) detail::check(tct_array_copy(TCT_I32, 0, nullptr, &number, &out, &error), error);
    else if constexpr (std::is_integral_v<T>) detail::check(tct_scalar_i64(static_cast<int64_t>(number), &out, &error), error);
    else detail::check(tct_scalar_f64(static_cast<double>(number), &out, &error), error);
    handle_ = Held(out);
  }

  explicit operator bool() const { return handle_.get() != nullptr; }
  tct_value* get() const { return handle_.get(); }
  /// The handle, which is the caller's from here on.
  tct_value* release() { return handle_.release(); }
  tct_kind kind() const { return tct_value_kind(get()); }
  std::string_view type() const { return text_of(tct_value_type(get())); }
  /// As `print` shows it.
  std::string_view text() const { return text_of(tct_value_text(get())); }
  /// Types all the way down; and type and value as a prompt shows them.
  std::string_view full_type() const { return text_of(tct_value_full_type(get())); }
  std::string_view echo() const { return text_of(tct_value_echo(get())); }
  /// Elements of a tuple, fields of a record.
  size_t size() const { return tct_value_count(get()); }
  Value operator[](size_t i) const {
    return made([&](tct_value** out, tct_error** error) { return tct_value_at(get(), i, out, error); });
  }
  Value operator[](std::string_view name) const {
    return made([&](tct_value** out, tct_error** error) { return tct_value_field(get(), detail::str(name), out, error); });
  }

  /// The elements. Throws when it is no array of T.
  template <class T> View<T> view() const& { return View<T>(checked_view(detail::dtype_of<T>())); }
  template <class T> View<T> view() && = delete;   // it would outlive the value
  /// The only element.
  template <class T> T scalar() const {
    tct_array_view v = checked_view(detail::dtype_of<T>());
    if (v.elements != 1) throw_usage("this array has more than one element, or none");
    return *static_cast<const T*>(v.data);
  }
  std::vector<std::string> texts() const {
    tct_array_view v = checked_view(TCT_TEXT);
    std::vector<std::string> out;
    for (int64_t i = 0; i < v.elements; ++i) {
      tct_str s;
      tct_error* error = nullptr;
      detail::check(tct_array_text(get(), i, &s, &error), error);
      out.emplace_back(s.data, s.size);
    }
    return out;
  }

  template <class F> static Value made(F make) {
    tct_value* out = nullptr;
    tct_error* error = nullptr;
    detail::check(make(&out, &error), error);
    return Value(out);
  }
  template <class F> static Result<Value> tried(F make) {
    tct_value* out = nullptr;
    tct_error* error = nullptr;
    tct_status status = make(&out, &error);
    if (status != TCT_OK) return Error(status, error);
    return Value(out);
  }

 private:
  using Held = detail::Handle<tct_value, tct_value_retain, tct_value_release>;
  static std::string_view text_of(tct_str s) { return {s.data, s.size}; }
  [[noreturn]] static void throw_usage(const char* message) { throw Error(TCT_ERR_USAGE, tct_host_failure(tct_str_of(message), nullptr, nullptr)); }
  tct_array_view checked_view(tct_dtype dtype) const {
    tct_array_view v;
    tct_error* error = nullptr;
    detail::check(tct_array_get_view(get(), &v, &error), error);
    if (v.dtype != dtype) throw_usage("this array has elements of another type");
    return v;
  }
  Held handle_;
};

/// Function and Value of a tuple or record.
inline Value tuple(std::initializer_list<Value> elements) {
  std::vector<tct_value*> handles;
  for (const Value& v : elements) handles.push_back(v.get());
  return Value::made([&](tct_value** out, tct_error** error) { return tct_tuple(handles.data(), handles.size(), out, error); });
}
inline Value record(std::initializer_list<std::pair<std::string_view, Value>> fields) {
  std::vector<tct_str> names;
  std::vector<tct_value*> handles;
  for (auto& [name, value] : fields) names.push_back(detail::str(name)), handles.push_back(value.get());
  return Value::made([&](tct_value** out, tct_error** error) { return tct_record(names.data(), handles.data(), handles.size(), out, error); });
}

// ---- functions ----

/// A function of a session as it was when it was taken. Threads may call it at the same time.
class Function {
 public:
  /// `keep` lives as long as the function does.
  explicit Function(tct_function* taken, std::shared_ptr<const void> keep = nullptr) : keep_(std::move(keep)), handle_(taken) {}
  template <class... A> requires (std::constructible_from<Value, const A&> && ...) Value operator()(const A&... arguments) const {
    return try_call(arguments...).value();
  }
  template <class... A> Result<Value> try_call(const A&... arguments) const {
    const std::tuple<as_value<A>...> values{arguments...};
    return std::apply([&](const auto&... v) {
      tct_value* handles[] = {get_of(v)..., nullptr};
      return Value::tried([&](tct_value** out, tct_error** error) { return tct_call(handle_.get(), handles, sizeof...(A), out, error); });
    }, values);
  }
  tct_function* get() const { return handle_.get(); }

 private:
  /// A Value is passed as it is, anything else is made one.
  template <class A> using as_value = std::conditional_t<std::is_same_v<A, Value>, const Value&, Value>;
  static tct_value* get_of(const Value& v) { return v.get(); }
  std::shared_ptr<const void> keep_;
  detail::Handle<tct_function, tct_function_retain, tct_function_release> handle_;
};

// ---- engine and session ----

/// What compiles, and what was compiled.
class Engine {
 public:
  struct Options {
    int threads = 0;              // 0: as many as the process may use
    int simd_bits = 0;            // 256 or 512; 0: the widest of the machine
    bool interpret = false;       // compile nothing
    std::string cache = {};       // a folder for compiled code; "": none
    int optimize = TCT_OPTIMIZE_AUTO;
    int compile_loops = TCT_COMPILE_LOOPS_AUTO;
  };
  Engine() : Engine(Options()) {}
  explicit Engine(const Options& options) {
    tct_engine_options o;
    tct_engine_options_init(&o, sizeof o);
    o.threads = options.threads;
    o.simd_bits = options.simd_bits;
    o.interpret = options.interpret;
    o.cache = options.cache.empty() ? nullptr : options.cache.c_str();
    o.optimize = options.optimize;
    o.compile_loops = options.compile_loops;
    tct_engine* out = nullptr;
    tct_error* error = nullptr;
    detail::check(tct_engine_create(&o, &out, &error), error);
    handle_ = Held(out);
  }
  tct_engine* get() const { return handle_.get(); }

  /// What a folder of compiled code holds; and emptying it, which gives how many programs there were.
  static Result<tct_cache_info> cache_info(std::string_view folder) {
    tct_cache_info info{};
    tct_error* error = nullptr;
    if (tct_status status = tct_cache_get_info(detail::str(folder), &info, &error)) return Error(status, error);
    return info;
  }
  static Result<int64_t> clear_cache(std::string_view folder) {
    int64_t removed = 0;
    tct_error* error = nullptr;
    if (tct_status status = tct_cache_clear(detail::str(folder), &removed, &error)) return Error(status, error);
    return removed;
  }

  /// An array that takes the vector over, without a copy. shape {}: one axis.
  template <class T> static Value array(std::vector<T> elements, std::vector<int64_t> shape = {}) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> is no memory of bools: use std::vector<uint8_t>, or copy()");
    if (shape.empty()) shape = {static_cast<int64_t>(elements.size())};
    require_count(shape, elements.size());
    auto* owner = new std::vector<T>(std::move(elements));
    return Value::made([&](tct_value** out, tct_error** error) {
      return tct_array_borrow(detail::dtype_of<T>(), static_cast<int32_t>(shape.size()), shape.data(), nullptr, owner->data(), owner,
                              [](void* v) { delete static_cast<std::vector<T>*>(v); }, out, error);
    });
  }
  /// An array over memory that stays as it is while `owner` lives.
  template <class T> static Value borrow(std::span<const T> elements, std::vector<int64_t> shape, std::shared_ptr<const void> owner) {
    require_count(shape, elements.size());
    auto* held = new std::shared_ptr<const void>(std::move(owner));
    return Value::made([&](tct_value** out, tct_error** error) {
      return tct_array_borrow(detail::dtype_of<T>(), static_cast<int32_t>(shape.size()), shape.data(), nullptr, elements.data(), held,
                              [](void* v) { delete static_cast<std::shared_ptr<const void>*>(v); }, out, error);
    });
  }
  template <class T> static Value copy(std::span<const T> elements, std::vector<int64_t> shape = {}) {
    if (shape.empty()) shape = {static_cast<int64_t>(elements.size())};
    require_count(shape, elements.size());
    return Value::made([&](tct_value** out, tct_error** error) {
      return tct_array_copy(detail::dtype_of<T>(), static_cast<int32_t>(shape.size()), shape.data(), elements.data(), out, error);
    });
  }
  /// An array of strings.
  static Value texts(const std::vector<std::string>& texts) {
    std::vector<tct_str> list;
    for (const std::string& s : texts) list.push_back(detail::str(s));
    auto n = static_cast<int64_t>(texts.size());
    return Value::made([&](tct_value** out, tct_error** error) { return tct_array_texts(1, &n, list.data(), out, error); });
  }

 private:
  using Held = detail::Handle<tct_engine, tct_engine_retain, tct_engine_release>;
  static void require_count(const std::vector<int64_t>& shape, size_t elements) {
    uint64_t count = 1;
    for (int64_t s : shape) count *= static_cast<uint64_t>(s);
    if (count != elements) throw Error(TCT_ERR_USAGE, tct_host_failure(tct_str_of("the shape has another number of elements"), nullptr, nullptr));
  }
  Held handle_;
};

struct Limits {
  int64_t memory_bytes = 0;       // 0: none
  int64_t deadline_ms = 0;
  int call_depth = 0;
  bool files = false;             // may the program read files?
};

/// Does the source end inside of a bracket, string or block?
inline bool is_incomplete(std::string_view source) { return tct_is_incomplete(detail::str(source)) != 0; }

/// What a session may be told beyond its limits.
struct SessionOptions {
  Limits limits = {};
  std::function<void(std::string_view)> write = {};   // gets what the program prints; must not throw
  std::function<bool()> stop = {};                    // asked now and then, from any thread: true stops the program
  std::function<void(const tct_progress*, const tct_progress*)> progress = {};   // how far loops are, as in tercet.h
  std::vector<std::string> arguments = {};            // of the program
  bool jit_all = false;
  int devices = 0;                                    // of pmap; 0: as many as one asks for
  double device_timeout_s = 0;                        // 0: 600
};

/// The names of a running program. One thread at a time, but for interrupt().
class Session {
 public:
  using Write = std::function<void(std::string_view)>;
  /// `write` gets what the program prints; it must not throw.
  explicit Session(const Engine& engine, const Limits& limits = {}, Write write = {})
      : Session(engine, SessionOptions{.limits = limits, .write = std::move(write)}) {}
  Session(const Engine& engine, SessionOptions options) : callbacks_(std::make_shared<Callbacks>(Callbacks{std::move(options.write), std::move(options.stop), std::move(options.progress)})) {
    tct_session_options o;
    tct_session_options_init(&o, sizeof o);
    const Limits& limits = options.limits;
    if (limits.files) o.capabilities = TCT_CAP_FILES;
    o.limits = {limits.memory_bytes, limits.deadline_ms, limits.call_depth, 0};
    o.jit_all = options.jit_all;
    o.devices = options.devices;
    o.device_timeout_s = options.device_timeout_s;
    o.write_context = o.stop_context = o.progress_context = callbacks_.get();
    if (callbacks_->progress)
      o.progress = [](void* c, const tct_progress* loop, const tct_progress* inner) { static_cast<Callbacks*>(c)->progress(loop, inner); };
    if (callbacks_->write) o.write = [](void* c, const char* text, size_t size) { static_cast<Callbacks*>(c)->write({text, size}); };
    if (callbacks_->stop) o.stop = [](void* c) { return static_cast<int32_t>(static_cast<Callbacks*>(c)->stop()); };
    std::vector<tct_str> arguments;
    for (const std::string& s : options.arguments) arguments.push_back(detail::str(s));
    o.arguments = arguments.data();
    o.argument_count = arguments.size();
    tct_session* out = nullptr;
    tct_error* error = nullptr;
    detail::check(tct_session_create(engine.get(), &o, &out, &error), error);
    handle_ = Held(out);
  }
  Session(Session&&) = default;
  Session& operator=(Session&&) = default;

  /// Runs a program; the value of its last statement, if it is an expression.
  Value eval(std::string_view source, std::string_view name = "program") { return try_eval(source, name).value(); }
  Result<Value> try_eval(std::string_view source, std::string_view name = "program") {
    return Value::tried([&](tct_value** out, tct_error** error) { return tct_eval(get(), detail::str(source), detail::str(name), out, error); });
  }
  /// As try_eval, for measurements: random keys are as if it had not run.
  Result<Value> try_measure(std::string_view source, std::string_view name = "program") {
    return Value::tried([&](tct_value** out, tct_error** error) { return tct_measure(get(), detail::str(source), detail::str(name), out, error); });
  }
  /// What a name is; the names that begin so; what a function becomes: as tct_help, tct_complete, tct_show.
  Result<std::string> try_help(std::string_view name) {
    return tried_text([&](tct_value** out, tct_error** error) { return tct_help(get(), detail::str(name), out, error); });
  }
  std::vector<std::string> complete(std::string_view prefix) {
    return Value::made([&](tct_value** out, tct_error** error) { return tct_complete(get(), detail::str(prefix), out, error); }).texts();
  }
  Result<std::string> try_show(std::string_view expression, std::string_view argument_types, std::string_view stage) {
    return tried_text([&](tct_value** out, tct_error** error) {
      return tct_show(get(), detail::str(expression), detail::str(argument_types), detail::str(stage), out, error);
    });
  }
  struct Checked { std::optional<Error> error; bool incomplete = false; };
  Checked check(std::string_view source, std::string_view name = "program") {
    int32_t incomplete = 0;
    tct_error* error = nullptr;
    tct_status status = tct_check(get(), detail::str(source), detail::str(name), &incomplete, &error);
    if (status == TCT_OK) return {std::nullopt, incomplete != 0};
    return {Error(status, error), incomplete != 0};
  }
  Value get(std::string_view name) const {
    return Value::made([&](tct_value** out, tct_error** error) { return tct_get(get(), detail::str(name), out, error); });
  }
  void set(std::string_view name, const Value& value) {
    tct_error* error = nullptr;
    detail::check(tct_set(get(), detail::str(name), value.get(), &error), error);
  }
  /// The function that an expression gives, as in function("jit vmap encode").
  Function function(std::string_view expression) { return try_function(expression).value(); }
  Result<Function> try_function(std::string_view expression) {
    tct_function* out = nullptr;
    tct_error* error = nullptr;
    tct_status status = tct_function_get(get(), detail::str(expression), &out, &error);
    if (status != TCT_OK) return Error(status, error);
    return Function(out, callbacks_);
  }
  /// Makes f callable under a name. It takes `const Value&`s, as many as the signature has, and returns a Value; what it
  /// throws comes out of the call of the program, the same exception.
  template <class F> void define(std::string_view name, std::string_view signature, F f);
  /// From any thread, and from signal handlers.
  void interrupt() { tct_session_interrupt(get()); }
  int64_t memory() const { return tct_session_memory(get()); }
  tct_session* get() const { return handle_.get(); }

 private:
  using Held = detail::Handle<tct_session, tct_session_retain, tct_session_release>;
  struct Callbacks { Write write; std::function<bool()> stop; std::function<void(const tct_progress*, const tct_progress*)> progress; };
  template <class F> static Result<std::string> tried_text(F make) {
    Result<Value> text = Value::tried(make);
    if (!text) return text.error();
    return text->texts()[0];
  }
  std::shared_ptr<Callbacks> callbacks_;
  Held handle_;
};

// ---- functions of the host ----

namespace detail {

template <class F, size_t... I> Value call_with(F& f, const std::vector<Value>& arguments, std::index_sequence<I...>) { return f(arguments[I]...); }

/// How many Values f takes: 0 to 8.
template <class F, size_t N = 0> constexpr size_t arity() {
  static_assert(N <= 8, "a host function takes up to 8 `const Value&` and returns a Value");
  constexpr bool fits = []<size_t... I>(std::index_sequence<I...>) { return std::is_invocable_r_v<Value, F&, std::enable_if_t<I + 1, const Value&>...>; }(std::make_index_sequence<N>());
  if constexpr (fits) return N;
  else return arity<F, N + 1>();
}

template <class F> tct_status call_host(void* context, tct_value* const* arguments, size_t count, tct_value** out_result, tct_error** out_error) {
  try {
    std::vector<Value> values;
    for (size_t i = 0; i < count; ++i) {
      tct_value_retain(arguments[i]);
      values.emplace_back(arguments[i]);
    }
    if (count != arity<F>()) throw std::bad_function_call();
    Value result = call_with(*static_cast<F*>(context), values, std::make_index_sequence<arity<F>()>());
    *out_result = result.release();
    return TCT_OK;
  } catch (...) {
    std::string message = "the host function failed";
    try {
      throw;
    } catch (const std::exception& e) {
      message = e.what();
    } catch (...) {
    }
    auto* thrown = new (std::nothrow) std::exception_ptr(std::current_exception());
    if (out_error) *out_error = tct_host_failure(str(message), thrown, [](void* p) { delete static_cast<std::exception_ptr*>(p); });
    else delete thrown;
    return TCT_ERR_HOST;
  }
}

}  // namespace detail

template <class F> void Session::define(std::string_view name, std::string_view signature, F f) {
  auto* held = new F(std::move(f));
  tct_error* error = nullptr;
  detail::check(tct_define(get(), detail::str(name), detail::str(signature), detail::call_host<F>, held, [](void* p) { delete static_cast<F*>(p); }, &error), error);
}

}  // namespace cpp
}  // namespace tercet
