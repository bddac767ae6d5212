#include "interpreter/runtime/array.h"

#include <fmt/format.h>

#include "interpreter/runtime/block_pool.h"
#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

constexpr int64_t padding = 64;   // a whole 512-bit vector may be loaded from the last element on

/// What is charged outside of sessions. One for all threads: making a thread's own could fail where nobody expects it.
const std::shared_ptr<MemoryBudget>& unlimited_budget() {
  static const std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>();
  return budget;
}
thread_local std::shared_ptr<MemoryBudget> budget_of_thread = unlimited_budget();

}  // namespace

void Shape::push_back(int64_t size) { insert(static_cast<size_t>(rank_), size); }

void Shape::insert(size_t at, int64_t size) {
  if (rank_ == max_rank) fail(Kind::Limit, {}, fmt::format("an array may have at most {} axes", max_rank));
  for (size_t i = static_cast<size_t>(rank_++); i > at; --i) sizes_[i] = sizes_[i - 1];
  sizes_[at] = size;
}

void Shape::erase(size_t at) {
  for (size_t i = at; i + 1 < size(); ++i) sizes_[i] = sizes_[i + 1];
  --rank_;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t s : shape) {
    if (s == 0) return 0;
    overflow |= __builtin_mul_overflow(count, s, &count) || count > (int64_t{1} << 58);
  }
  if (overflow) fail(Kind::Limit, {}, fmt::format("an array of shape {} has too many elements", to_string(shape)));
  return count;
}

std::string to_string(const Shape& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += shape[i] == ragged_axis ? "*" : fmt::format("{}", shape[i]);
  }
  return out + (shape.size() == 1 ? ",)" : ")");
}

void MemoryBudget::charge(int64_t bytes) {
  int64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now <= cap_.load(std::memory_order_relaxed)) return;
  release(bytes);
  fail_bound(Kind::Limit, Bound::Memory, {}, fmt::format("this needs {} bytes more, and the memory limit is {} bytes", bytes, cap_.load()));
}

const std::shared_ptr<MemoryBudget>& current_budget() { return budget_of_thread; }

BudgetScope::BudgetScope(std::shared_ptr<MemoryBudget> budget) : previous_(std::move(budget_of_thread)) {
  budget_of_thread = std::move(budget);
}
BudgetScope::~BudgetScope() { budget_of_thread = std::move(previous_); }

std::shared_ptr<Buffer> Buffer::allocate(int64_t bytes) {
  auto out = std::make_shared<Buffer>(nullptr, bytes, nullptr);   // first: it may find no room itself
  std::shared_ptr<MemoryBudget> budget = budget_of_thread;
  budget->charge(bytes);
  out->data_ = take_block(bytes + padding);
  if (!out->data_) {
    budget->release(bytes);
    fail_bound(Kind::Limit, Bound::Memory, {}, fmt::format("out of memory: {} bytes could not be had", bytes));
  }
  out->budget_ = std::move(budget);
  return out;
}

Buffer::Buffer(std::byte* data, int64_t bytes, std::shared_ptr<MemoryBudget> budget)
    : data_(data), bytes_(bytes), budget_(std::move(budget)) {}

std::shared_ptr<Buffer> Buffer::borrow(const void* data, int64_t bytes, std::shared_ptr<const void> owner) {
  auto out = std::make_shared<Buffer>(const_cast<std::byte*>(static_cast<const std::byte*>(data)), bytes, nullptr);   // never written
  out->owner_ = std::move(owner);
  return out;
}

Buffer::~Buffer() {
  if (!budget_) return;
  give_block(data_, bytes_ + padding);
  budget_->release(bytes_);
}

StringRef::StringRef(std::string_view text) : size(static_cast<uint32_t>(text.size())), rest{} {
  if (text.empty()) return;   // its data may be null
  std::memcpy(prefix, text.data(), std::min<size_t>(4, text.size()));
  if (text.size() > 12) pointer = text.data();
  else if (text.size() > 4) std::memcpy(rest, text.data() + 4, text.size() - 4);
}

Array Array::make(DType dtype, const Shape& shape) {
  Array a;
  a.dtype = dtype;
  a.shape = shape;
  a.buffer = Buffer::allocate(element_count(shape) * static_cast<int64_t>(size_of(dtype)));
  if (dtype >= DType::Str) clear_bytes(a.raw(), static_cast<size_t>(a.buffer->size()));
  return a;
}

Array Array::zeros(DType dtype, const Shape& shape) {
  Array a = make(dtype, shape);
  clear_bytes(a.raw(), static_cast<size_t>(a.buffer->size()));
  return a;
}

Array Array::strings(std::span<const std::string_view> texts) {
  Array a = make(DType::Str, {static_cast<int64_t>(texts.size())});
  size_t total = 0;
  PollCounter polls;
  for (std::string_view t : texts) polls.add(1), total += t.size() > 12 ? t.size() : 0;
  std::shared_ptr<char[]> block(total ? new char[total] : nullptr);
  char* at = block.get();
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string_view text = texts[i];
    polls.add(4 + static_cast<int64_t>(text.size()) / 8);
    if (text.size() > 12) {
      copy_bytes(at, text.data(), text.size());
      text = {at, text.size()};
      at += text.size();
    }
    a.data<StringRef>()[i] = StringRef(text);
  }
  if (block) a.owners.push_back(std::move(block));
  return a;
}

Array Array::owned() && {
  if (unique()) return std::move(*this);
  Array copy = make(dtype, shape);
  copy_bytes(copy.raw(), raw(), static_cast<size_t>(bytes()));
  copy.weak = weak;
  copy.owners = owners;
  return copy;
}

Array Array::reshaped(const Shape& to) const {
  TERCET_CHECK(element_count(to) == count());
  Array a = *this;
  a.shape = to;
  return a;
}

Array Array::row(int64_t i) const {
  TERCET_CHECK(rank() > 0 && i >= 0 && i < shape[0] && !ragged);
  Array a = *this;
  a.shape.erase(0);
  a.offset += i * a.bytes();
  return a;
}

double Array::as_double() const {
  TERCET_CHECK(count() == 1 && dtype <= DType::F64);
  return visit_dtype(dtype, [&]<class T>() -> double {
    if constexpr (std::is_same_v<T, StringRef> || std::is_same_v<T, KeyBits>) return 0;
    else return static_cast<double>(Compute<T>::load(*data<T>()));
  });
}

int64_t Array::as_int() const {
  TERCET_CHECK(count() == 1 && dtype <= DType::F64);
  return visit_dtype(dtype, [&]<class T>() -> int64_t {
    if constexpr (std::is_same_v<T, StringRef> || std::is_same_v<T, KeyBits>) return 0;
    else return cast<int64_t>(Compute<T>::load(*data<T>()));
  });
}

Array scalar_of(DType dtype, double value) {
  Array a = Array::make(dtype, {});
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>)
      *a.data<T>() = Compute<T>::store(cast<typename Compute<T>::type>(value));
  });
  return a;
}

Array scalar_of_int(DType dtype, int64_t value) {
  Array a = Array::make(dtype, {});
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>)
      *a.data<T>() = Compute<T>::store(cast<typename Compute<T>::type>(value));
  });
  return a;
}

}  // namespace tercet
