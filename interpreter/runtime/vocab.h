// Vocabularies: a numbering of tokens, and texts turned into numbers and back.
//
// Tokens are numbered by falling count, ties by first appearance. With an `unknown` token, that is number 0 and stands
// for every token the vocabulary does not have; without one, `encode` leaves such tokens out of their row.
// Example:  auto v = Vocab::build(tokens, {.max_size = 20000, .min_count = 2});  Array ids = encode(*v, tokens);
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/string_table.h"

namespace tercet {

struct VocabOptions {
  int64_t max_size = -1;                 // most entries, the unknown token included; -1: no limit
  int64_t min_count = 1;                 // tokens seen less often are left out
  std::optional<std::string> unknown = std::nullopt;
};

/// Immutable once built; any number of threads may use it.
class Vocab {
 public:
  /// From an array of strings of any shape. Error `value` for a negative option, `limit` beyond 2^31 - 1 entries.
  static std::shared_ptr<const Vocab> build(const Array& tokens, const VocabOptions& options);

  int64_t size() const { return table_.size(); }
  bool has_unknown() const { return has_unknown_; }
  /// The number of a token; without an entry, that of the unknown token, or -1.
  int32_t find(const StringRef& token) const {
    int64_t n = table_.find(token);
    return n < 0 && has_unknown_ ? 0 : static_cast<int32_t>(n);
  }
  const Array& tokens() const { return tokens_; }    // str[size], by number
  const Array& counts() const { return counts_; }    // i64[size]; the unknown token counts all that it stands for

  /// i32: the numbers of exactly the tokens it was built from (-1: left out), which building has found; null for others.
  const int32_t* numbers_of(const Array& tokens) const {
    bool same = numbers_.buffer && tokens.offset == from_offset_ && !tokens.buffer.owner_before(from_) && !from_.owner_before(tokens.buffer) && !from_.expired();
    return same && total_of(tokens) == numbers_.shape[0] ? numbers_.data<int32_t>() : nullptr;
  }

 private:
  static int64_t total_of(const Array& tokens);
  Array numbers_;
  std::weak_ptr<Buffer> from_;
  int64_t from_offset_ = 0;
  StringTable table_;
  Array tokens_, counts_;
  bool has_unknown_ = false;
};

/// i32 numbers of tokens of any shape. With an unknown token (or a single string) the shape is kept; without one, rows
/// lose the tokens that have no number: str[n, *] -> i32[n, *], str[n, m] -> i32[n, *], str[k] -> i32[j].
/// A single string without a number is an error `value` that names it.
Array encode(const Vocab& vocab, const Array& tokens);

/// The tokens of numbers of any integer dtype and shape; error `index` when one is out of range.
Array decode(const Vocab& vocab, const Array& ids);

}  // namespace tercet
