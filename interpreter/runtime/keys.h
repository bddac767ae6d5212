// Random keys that are used once (language.md section 8): what has become of each key, and how a use is taken back.
//
// A key element is its two words and the address of a state, which lies in a block that the array keeps alive; copies and
// views of an element share its state. A use marks the state, for good, unless what the use was part of fails: then it
// did not happen. Uses are therefore numbered by attempt, and an attempt that fails gives its numbers up.
// Example:  KeyLedger ledger;  Array k = fresh_keys(words);
//           ledger.use(k.data<KeyBits>()[0], ledger.used(KeyUse::Drawn, span))   // nullopt: it was not used before
#pragma once
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/source.h"
#include "interpreter/runtime/array.h"

namespace tercet {

/// What a key was used for. Folding may be repeated; everything else uses a key up.
enum class KeyUse : uint8_t { Fresh, Drawn, Split, Folded };

/// An earlier use that a new one does not go with.
struct KeyConflict {
  KeyUse before;
  Span where;
};

/// The threefry word of a key: its first u32 above its second.
inline uint64_t word_of(const KeyBits& k) { return uint64_t{k.high} << 32 | k.low; }
inline KeyBits key_of(uint64_t word, KeyState* state) { return {static_cast<uint32_t>(word >> 32), static_cast<uint32_t>(word), state}; }
/// Keys of these words (u64) that nothing has used yet, in the same shape.
Array fresh_keys(const Array& words, KeyBits::Mark mark = KeyBits::None);
/// The words of keys.
Array words_of(const Array& keys);

/// The keys that one session uses. One thread at a time; sessions on other threads may use the same keys.
class KeyLedger {
 public:
  KeyLedger() = default;
  KeyLedger(const KeyLedger&) = delete;
  /// Uses that nobody kept did not happen.
  ~KeyLedger() { take_back(0); }

  /// What the state of a key that is used like this, here and now, becomes.
  KeyState used(KeyUse what, Span where);
  /// Marks the key as used. What forbids it is returned, and the key is left as it was.
  std::optional<KeyConflict> use(const KeyBits& key, KeyState used);
  /// As use(), for a key that all lanes use together, and the lanes run one after another: `lane` may use what the lanes
  /// before it have used.
  std::optional<KeyConflict> use_in_lane(const KeyBits& key, KeyState used, const std::vector<int64_t>& lane);
  /// The lanes that ran one after another have ended.
  void end_lanes() { lanes_.clear(); }

  /// Where an attempt begins; uses after it can be taken back.
  size_t mark() { return open_ = true, attempts_.size(); }
  void take_back(size_t mark);
  /// All uses so far are final (but those of a trial).
  void keep();
  /// Takes over the uses of another ledger, which is then empty.
  void take_over(KeyLedger& other);
  bool trial() const { return trial_; }
  /// From here on, until false: nothing is used up, and what was used up before may be used again. For measurements.
  void set_trial(bool on) { trial_ = on; }

 private:
  uint64_t attempt();
  std::vector<uint64_t> attempts_;   // numbers under which keys were marked since the last keep()
  bool open_ = true;                 // the next use begins a new number
  bool trial_ = false;
  std::map<const KeyState*, std::vector<int64_t>> lanes_;   // of keys that lanes use together: the lane that did last
};

/// An attempt for the duration of a scope: its uses of keys are taken back unless keep() is called.
class KeyAttempt {
 public:
  explicit KeyAttempt(KeyLedger& ledger) : ledger_(ledger), mark_(ledger.mark()) {}
  ~KeyAttempt() { if (!kept_) ledger_.take_back(mark_); }
  KeyAttempt(const KeyAttempt&) = delete;
  void keep() { kept_ = true; }

 private:
  KeyLedger& ledger_;
  size_t mark_;
  bool kept_ = false;
};

}  // namespace tercet
