#include "interpreter/runtime/keys.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

// A state is one word: the use (2 bits), where it stands in a program (22 bits), and the number of the attempt (40 bits).
constexpr unsigned site_bits = 22, attempt_shift = 2 + site_bits;
constexpr uint64_t site_mask = (1u << site_bits) - 1;
KeyUse use_of(uint64_t state) { return static_cast<KeyUse>(state & 3); }
size_t site_of(uint64_t state) { return state >> 2 & site_mask; }
uint64_t attempt_of(uint64_t state) { return state >> attempt_shift; }

/// Numbers for places in programs. Number 0 is an unknown place; so are all when the numbers are used up.
class Sites {
 public:
  uint64_t number(Span span) {
    std::scoped_lock lock(mutex_);
    if (spans_.size() > site_mask) return 0;
    auto [at, fresh] = numbers_.try_emplace({span.file, span.begin, span.end}, spans_.size());
    if (fresh) spans_.push_back(span);
    return at->second;
  }
  Span span(size_t number) {
    std::scoped_lock lock(mutex_);
    return spans_[number];
  }

 private:
  std::mutex mutex_;
  std::vector<Span> spans_{Span{}};
  std::map<std::array<uint32_t, 3>, uint64_t> numbers_;
};
Sites& sites() {
  static Sites all;
  return all;
}

/// The attempts that failed. Few: what fails ends a statement, or is run again by the reference evaluator once.
class Failed {
 public:
  bool contains(uint64_t attempt) {
    if (count_.load(std::memory_order_acquire) == 0) return false;
    std::shared_lock lock(mutex_);
    return numbers_.count(attempt) != 0;
  }
  void add(std::span<const uint64_t> attempts) {
    if (attempts.empty()) return;
    std::unique_lock lock(mutex_);
    numbers_.insert(attempts.begin(), attempts.end());
    count_.store(numbers_.size(), std::memory_order_release);
  }

 private:
  std::shared_mutex mutex_;
  std::set<uint64_t> numbers_;
  std::atomic<size_t> count_{0};
};
Failed& failed() {
  static Failed all;
  return all;
}

bool is_fresh(uint64_t state) { return use_of(state) == KeyUse::Fresh || failed().contains(attempt_of(state)); }

}  // namespace

Array fresh_keys(const Array& words, KeyBits::Mark mark) {
  TERCET_CHECK(words.dtype == DType::U64);
  Array out = Array::make(DType::Key, words.shape);
  auto count = static_cast<size_t>(words.count());
  std::shared_ptr<Buffer> block = Buffer::allocate(static_cast<int64_t>(count * sizeof(KeyState)));
  auto* states = reinterpret_cast<KeyState*>(block->data());
  in_strips(static_cast<int64_t>(count), [&](int64_t begin, int64_t end) {
    std::fill(states + begin, states + end, KeyState{0});
    for (int64_t i = begin; i < end; ++i) out.data<KeyBits>()[i] = key_of(words.data<uint64_t>()[i], states + i).marked(mark);
  });
  out.owners.push_back(std::move(block));
  return out;
}

Array words_of(const Array& keys) {
  Array out = Array::make(DType::U64, keys.shape);
  in_strips(keys.count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out.data<uint64_t>()[i] = word_of(keys.data<KeyBits>()[i]);
  });
  return out;
}

uint64_t KeyLedger::attempt() {
  static std::atomic<uint64_t> next{1};
  if (open_) attempts_.push_back(next.fetch_add(1)), open_ = false;
  return attempts_.back();
}

void KeyLedger::take_back(size_t mark) {
  failed().add(std::span(attempts_).subspan(std::min(mark, attempts_.size())));
  attempts_.resize(std::min(mark, attempts_.size()));
  open_ = true;
}

void KeyLedger::keep() {
  if (trial_) return take_back(0);
  attempts_.clear();
  open_ = true;
}

void KeyLedger::take_over(KeyLedger& other) {
  attempts_.insert(attempts_.end(), other.attempts_.begin(), other.attempts_.end());
  other.attempts_.clear();
  open_ = other.open_ = true;
}

KeyState KeyLedger::used(KeyUse what, Span where) {
  return attempt() << attempt_shift | sites().number(where) << 2 | static_cast<uint64_t>(what);
}

std::optional<KeyConflict> KeyLedger::use(const KeyBits& key, KeyState used) {
  if (!key.state()) return std::nullopt;   // stands in for a value that a failed check, or no lane, gives
  std::atomic_ref<KeyState> state(*key.state());
  KeyState now = state.load();
  for (;;) {
    if (!is_fresh(now)) {
      if (use_of(used) == KeyUse::Folded && use_of(now) == KeyUse::Folded) return std::nullopt;
      bool before = std::find(attempts_.begin(), attempts_.end(), attempt_of(now)) == attempts_.end();
      if (trial_ && before) return std::nullopt;
      return KeyConflict{use_of(now), sites().span(site_of(now))};
    }
    if (state.compare_exchange_weak(now, used)) return std::nullopt;
  }
}

std::optional<KeyConflict> KeyLedger::use_in_lane(const KeyBits& key, KeyState used, const std::vector<int64_t>& lane) {
  auto [last, first] = lanes_.try_emplace(key.state(), lane);
  if (!first && last->second < lane) {
    last->second = lane;
    return std::nullopt;
  }
  auto conflict = use(key, used);
  if (conflict && first) lanes_.erase(last);
  return conflict;
}

}  // namespace tercet
