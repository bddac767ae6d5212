// Arrays as values: dtype, shape, and a shared block of memory. Always row-major and contiguous.
//
// An axis may be ragged: its entry in `shape` is `ragged_axis` and `ragged` holds its offsets; the elements of all rows
// then lie one after another. Strings are elements of 16 bytes whose text lives in blocks that the array keeps alive.
// Example:  Array a = Array::make(DType::F32, {2, 3});  float* p = a.data<float>();
#pragma once
#include <array>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "interpreter/runtime/dtype.h"
#include "interpreter/runtime/number.h"

namespace tercet {

inline constexpr int max_rank = 16;
inline constexpr int64_t ragged_axis = -1;

/// Sizes of the axes, outermost first. No allocation.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes) { for (int64_t s : sizes) push_back(s); }
  explicit Shape(std::span<const int64_t> sizes) { for (int64_t s : sizes) push_back(s); }
  int rank() const { return rank_; }
  size_t size() const { return static_cast<size_t>(rank_); }
  bool empty() const { return rank_ == 0; }
  int64_t& operator[](size_t i) { return sizes_[i]; }
  int64_t operator[](size_t i) const { return sizes_[i]; }
  int64_t* begin() { return sizes_.data(); }
  int64_t* end() { return sizes_.data() + rank_; }
  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + rank_; }
  int64_t back() const { return sizes_[static_cast<size_t>(rank_ - 1)]; }
  void push_back(int64_t size);                       // error limit beyond max_rank
  void insert(size_t at, int64_t size);
  void erase(size_t at);
  std::span<const int64_t> span() const { return {sizes_.data(), size()}; }
  friend bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  std::array<int64_t, max_rank> sizes_{};
  int rank_ = 0;
};
/// Number of elements; error `limit` when it does not fit in 2^62.
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);            // "(2, 3)", "(5,)", "()"

/// Counts the bytes of live buffers against a cap. One per session; thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t cap = INT64_MAX) : cap_(cap) {}
  void set_cap(int64_t bytes) { cap_ = bytes; }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  void charge(int64_t bytes);                         // error `limit` when it does not fit, nothing is charged then
  void release(int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> used_{0}, cap_;
};
/// The budget that allocations of this thread charge; set for the duration of a call by the engine.
const std::shared_ptr<MemoryBudget>& current_budget();
class BudgetScope {
 public:
  explicit BudgetScope(std::shared_ptr<MemoryBudget> budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;

 private:
  std::shared_ptr<MemoryBudget> previous_;
};

/// A block of bytes, 64-byte aligned, uninitialised at first; padded so that a whole vector may be read past the end.
class Buffer {
 public:
  /// Error `limit` when the budget or the machine has no room.
  static std::shared_ptr<Buffer> allocate(int64_t bytes);
  /// Memory of others, which is only read, aligned to its elements. `owner` keeps it; nothing is charged.
  static std::shared_ptr<Buffer> borrow(const void* data, int64_t bytes, std::shared_ptr<const void> owner);
  Buffer(std::byte* data, int64_t bytes, std::shared_ptr<MemoryBudget> budget);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  std::byte* data() { return data_; }
  int64_t size() const { return bytes_; }
  bool borrowed() const { return !budget_; }

 private:
  std::byte* data_;
  int64_t bytes_;
  std::shared_ptr<MemoryBudget> budget_;   // null: borrowed
  std::shared_ptr<const void> owner_;
};

/// One string element: Arrow's Utf8View. Up to 12 bytes lie inside it, longer text in a block kept by the array.
struct StringRef {
  uint32_t size = 0;
  char prefix[4] = {};                                // first bytes of the text
  union {
    char rest[8];                                     // bytes 4..11 of a short text
    const char* pointer;                              // whole text when size > 12
  };
  StringRef() : rest{} {}
  /// Refers to `text` (which must outlive it) when longer than 12 bytes, else copies it inside.
  explicit StringRef(std::string_view text);
  std::string_view view() const { return {size <= 12 ? prefix : pointer, size}; }
};
static_assert(sizeof(StringRef) == 16);

/// What has become of a random key (keys.h).
using KeyState = uint64_t;

/// A random key element (language.md section 8): two words, and a state that its copies share, in a block that the array
/// keeps alive. `marks` are of this copy.
struct KeyBits {
  /// Same: meant to be the same in every lane. Common: it is the same in every lane. Opaque: as Common, where it could not
  /// be told that keys split from it are the same as well.
  enum Mark : uint8_t { None = 0, Same = 1, Common = 2, Opaque = 3 };
  uint32_t high = 0, low = 0;

  KeyBits() = default;
  KeyBits(uint32_t first, uint32_t second, KeyState* state) : high(first), low(second), state_(reinterpret_cast<uintptr_t>(state)) {}
  KeyState* state() const { return reinterpret_cast<KeyState*>(state_ & ~uintptr_t{3}); }   // null: it is never used up
  Mark mark() const { return static_cast<Mark>(state_ & 3); }
  KeyBits marked(Mark m) const {
    KeyBits out = *this;
    out.state_ = (state_ & ~uintptr_t{3}) | m;
    return out;
  }

 private:
  uintptr_t state_ = 0;
};
static_assert(sizeof(KeyBits) == 16);

/// Offsets of the ragged axes, outermost ragged axis first. offsets[r] .. offsets[r+1] is row r of that axis.
struct Ragged {
  std::vector<std::vector<int64_t>> offsets;
};

/// Where a value of a session lies: in pieces along an axis, or a copy on each device (axis -1). None: wherever.
struct Placement {
  uint8_t devices = 0;
  int8_t axis = -1;
  friend bool operator==(const Placement&, const Placement&) = default;
};

struct Array {
  DType dtype = DType::F32;
  bool weak = false;                                  // value of a literal: takes the dtype of what it meets
  Placement placement = {};
  Shape shape;
  std::shared_ptr<Buffer> buffer;
  int64_t offset = 0;                                 // bytes from the start of the buffer
  std::shared_ptr<const Ragged> ragged;               // null for dense arrays
  std::vector<std::shared_ptr<const void>> owners;    // blocks that hold the text of strings and the states of keys

  static Array make(DType dtype, const Shape& shape);            // uninitialised (strings: empty)
  static Array zeros(DType dtype, const Shape& shape);
  template <class T> static Array scalar(T value) {
    Array a = make(dtype_for<T>(), {});
    *a.data<T>() = value;
    return a;
  }
  template <class T> static Array vector(std::span<const T> values);
  static Array strings(std::span<const std::string_view> texts);  // copies the texts

  int rank() const { return shape.rank(); }
  int64_t count() const { return element_count(shape); }
  int64_t bytes() const { return count() * static_cast<int64_t>(size_of(dtype)); }
  template <class T> T* data() { return reinterpret_cast<T*>(buffer->data() + offset); }
  template <class T> const T* data() const { return reinterpret_cast<const T*>(buffer->data() + offset); }
  const std::byte* raw() const { return buffer->data() + offset; }
  std::byte* raw() { return buffer->data() + offset; }
  /// Nobody else holds the memory: it may be overwritten.
  bool unique() const { return buffer.use_count() == 1 && !buffer->borrowed(); }
  /// This array if unique, else a copy.
  Array owned() &&;
  /// Same elements under another shape of equal count.
  Array reshaped(const Shape& to) const;
  /// Element i along axis 0 (shares memory).
  Array row(int64_t i) const;
  /// The only element, converted; error `internal` unless the count is 1.
  double as_double() const;
  int64_t as_int() const;
};

template <class T> Array Array::vector(std::span<const T> values) {
  Array a = make(dtype_for<T>(), {static_cast<int64_t>(values.size())});
  if (!values.empty()) std::memcpy(a.data<T>(), values.data(), values.size_bytes());
  return a;
}

/// A 0-dimensional array of `dtype` holding `value` converted.
Array scalar_of(DType dtype, double value);
Array scalar_of_int(DType dtype, int64_t value);

/// Calls f.template operator()<T>() with the C++ storage type of dtype (bool, int8_t, …, Half, BFloat, float, double,
/// StringRef, KeyBits).
template <class F> decltype(auto) visit_dtype(DType dtype, F&& f) {
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
    case DType::F16: return f.template operator()<Half>();
    case DType::BF16: return f.template operator()<BFloat>();
    case DType::F32: return f.template operator()<float>();
    case DType::F64: return f.template operator()<double>();
    case DType::Str: return f.template operator()<StringRef>();
    case DType::Key: break;
  }
  return f.template operator()<KeyBits>();
}

/// Element access through the arithmetic type: f16 and bf16 compute in float.
template <class T> struct Compute { using type = T; static T load(T x) { return x; } static T store(T x) { return x; } };
template <> struct Compute<Half> {
  using type = float;
  static float load(Half h) { return to_float(h); }
  static Half store(float f) { return to_half(f); }
};
template <> struct Compute<BFloat> {
  using type = float;
  static float load(BFloat h) { return to_float(h); }
  static BFloat store(float f) { return to_bfloat(f); }
};

}  // namespace tercet
