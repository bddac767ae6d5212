#include "interpreter/runtime/vocab.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/text_rows.h"

namespace tercet {
namespace {

constexpr int64_t count_grain = 1 << 16;    // tokens; a smaller table of its own would cost more than it saves
constexpr int64_t encode_grain = 1 << 12;

/// The distinct tokens in order of first appearance, and how often each occurs.
struct TokenCounts {
  StringTable table;
  std::vector<int64_t> counts;

  int32_t add(const StringRef& token, int64_t times) { return add(token, times, hash_text(token)); }
  int32_t add(const StringRef& token, int64_t times, uint64_t hash) {
    auto n = static_cast<size_t>(table.insert(token, hash));
    if (n == counts.size()) counts.push_back(0);
    counts[n] += times;
    return static_cast<int32_t>(n);
  }
};

/// Every thread counts a stretch of the tokens; merging the stretches in order keeps the order of first appearance.
/// `numbers` (unless null) gets each token's place among the distinct ones.
TokenCounts count_tokens(const Array& tokens, int32_t* numbers) {
  const StringRef* in = tokens.data<StringRef>();
  int64_t total = total_elements(tokens);
  const int64_t grain = std::max(count_grain, total / (2 * available_threads()));   // each part's distinct tokens are merged one by one
  std::vector<TokenCounts> parts(static_cast<size_t>(chunk_count(total, grain)));
  parallel_chunks(total, grain, [&](int64_t chunk, int64_t begin, int64_t end) {
    TokenCounts& part = parts[static_cast<size_t>(chunk)];
    constexpr int64_t ahead = 8;
    uint64_t hashes[ahead];   // of this token and the next ones, around
    auto ask = [&](int64_t i) {
      if (i < end) part.table.prefetch(hashes[i % ahead] = hash_text(in[i]));
    };
    for (int64_t i = begin; i < begin + ahead; ++i) ask(i);
    for (int64_t i = begin; i < end; ++i) {
      poll_at(i);
      const uint64_t hash = hashes[i % ahead];
      ask(i + ahead);
      const int32_t n = part.add(in[i], 1, hash);
      if (numbers) numbers[i] = n;
    }
  });
  TokenCounts all;
  if (!parts.empty()) all = std::move(parts.front());
  std::vector<std::vector<int32_t>> merged(parts.size());
  for (size_t p = 1; p < parts.size(); ++p)
    for (size_t n = 0; n < parts[p].counts.size(); ++n)
      poll_at(static_cast<int64_t>(n)), merged[p].push_back(all.add(parts[p].table.text(static_cast<int64_t>(n)), parts[p].counts[n]));
  if (numbers)
    parallel_chunks(total, grain, [&](int64_t chunk, int64_t begin, int64_t end) {
      const std::vector<int32_t>& names = merged[static_cast<size_t>(chunk)];
      for (int64_t i = begin; i < end && chunk > 0; ++i) numbers[i] = names[static_cast<size_t>(numbers[i])];
    });
  return all;
}

/// Numbers of the tokens to keep, most frequent first.
std::vector<size_t> chosen_tokens(const TokenCounts& all, const VocabOptions& options) {
  std::vector<size_t> chosen;
  int64_t unknown = options.unknown ? all.table.find(StringRef(*options.unknown)) : -1;
  for (size_t n = 0; n < all.counts.size(); ++n)
    if (all.counts[n] >= options.min_count && static_cast<int64_t>(n) != unknown) chosen.push_back(n);
  PollCounter polls;
  std::stable_sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) { return polls.add(1), all.counts[a] > all.counts[b]; });
  if (options.max_size >= 0) {
    int64_t places = std::max<int64_t>(0, options.max_size - options.unknown.has_value());
    chosen.resize(std::min(chosen.size(), static_cast<size_t>(places)));
  }
  return chosen;
}

Array encode_same_shape(const Vocab& vocab, const Array& tokens) {
  if (std::shared_ptr<Buffer> known = vocab.take_numbers(tokens)) {
    Array out;
    out.dtype = DType::I32;
    out.shape = tokens.shape;
    out.ragged = tokens.ragged;
    out.buffer = std::move(known);
    return out;
  }
  Array out = like_texts(tokens, DType::I32);
  const StringRef* in = tokens.data<StringRef>();
  int32_t* to = out.data<int32_t>();
  parallel_chunks(total_elements(tokens), encode_grain, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) poll_at(i), to[i] = vocab.find(in[i]);
  });
  return out;
}

/// Offsets of the innermost rows of an array of one or more axes, and an array shaped like its other axes.
std::pair<Array, std::vector<int64_t>> innermost_rows(const Array& tokens) {
  Array outer;
  outer.shape = tokens.shape;
  outer.shape.erase(outer.shape.size() - 1);
  std::vector<int64_t> offsets;
  if (tokens.shape.back() == ragged_axis) {
    offsets = tokens.ragged->offsets.back();
    auto rest = std::make_shared<Ragged>(*tokens.ragged);
    rest->offsets.pop_back();
    if (!rest->offsets.empty()) outer.ragged = std::move(rest);
  } else {
    outer.ragged = tokens.ragged;
    for (int64_t r = 0; r <= total_elements(outer); ++r) offsets.push_back(r * tokens.shape.back());
  }
  return {std::move(outer), std::move(offsets)};
}

}  // namespace

std::shared_ptr<Buffer> Vocab::take_numbers(const Array& tokens) const {
  std::scoped_lock lock(mutex_);
  if (!numbers_ || from_ != tokens.buffer || from_offset_ != tokens.offset || from_total_ != total_elements(tokens)) return nullptr;
  from_ = nullptr;
  return std::exchange(numbers_, nullptr);
}

std::shared_ptr<const Vocab> Vocab::build(const Array& tokens, const VocabOptions& options) {
  if (options.max_size < -1 || options.min_count < 0)
    fail(Kind::Value, {}, fmt::format("vocab: max_size={} and min_count={} must not be negative", options.max_size, options.min_count));
  constexpr int64_t most_numbers = 1 << 28;   // of tokens, 4 bytes each
  const int64_t total = total_elements(tokens);
  Array numbers = total <= most_numbers ? Array::make(DType::I32, {total}) : Array();
  int32_t* number = numbers.buffer ? numbers.data<int32_t>() : nullptr;
  TokenCounts all = count_tokens(tokens, number);
  std::vector<size_t> chosen = chosen_tokens(all, options);
  if (chosen.size() >= INT32_MAX) fail(Kind::Limit, {}, "a vocabulary may have at most 2,147,483,646 entries");

  auto vocab = std::make_shared<Vocab>();
  std::vector<std::string_view> texts;
  std::vector<int64_t> counts;
  if (options.unknown) {
    int64_t known = 0;
    for (size_t n : chosen) known += all.counts[n];
    texts.push_back(*options.unknown);
    counts.push_back(total_elements(tokens) - known);
  }
  for (size_t n : chosen) {
    poll_at(static_cast<int64_t>(texts.size()));
    texts.push_back(all.table.text(static_cast<int64_t>(n)).view());
    counts.push_back(all.counts[n]);
  }
  // A copy of the texts: the vocabulary must not keep a whole corpus alive.
  vocab->tokens_ = Array::strings(texts);
  vocab->counts_ = Array::vector<int64_t>(counts);
  vocab->has_unknown_ = options.unknown.has_value();
  const StringRef* entries = vocab->tokens_.data<StringRef>();
  for (size_t n = 0; n < texts.size(); ++n) poll_at(static_cast<int64_t>(n)), vocab->table_.insert(entries[n]);
  if (!number) return vocab;
  std::vector<int32_t> ids(all.counts.size(), options.unknown ? 0 : -1);
  for (size_t n = 0; n < chosen.size(); ++n) ids[chosen[n]] = static_cast<int32_t>(n + options.unknown.has_value());
  parallel_chunks(total, count_grain, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) number[i] = ids[static_cast<size_t>(number[i])];
  });
  vocab->numbers_ = numbers.buffer;
  vocab->from_ = tokens.buffer;
  vocab->from_offset_ = tokens.offset;
  vocab->from_total_ = total;
  return vocab;
}

Array encode(const Vocab& vocab, const Array& tokens) {
  if (vocab.has_unknown()) return encode_same_shape(vocab, tokens);
  Array ids = encode_same_shape(vocab, tokens);
  const int32_t* in = ids.data<int32_t>();
  if (tokens.rank() == 0) {
    if (*in < 0)
      fail(Kind::Value, {}, fmt::format("{} is not in the vocabulary", quoted(tokens.data<StringRef>()->view())),
           "build the vocabulary with unknown=\"<unk>\"");
    return ids;
  }
  int64_t total = total_elements(ids), kept = std::count_if(in, in + total, [](int32_t id) { return id >= 0; });
  auto [outer, offsets] = innermost_rows(tokens);
  std::vector<int64_t> lengths(offsets.size() - 1);
  for (size_t r = 0; r < lengths.size(); ++r)
    lengths[r] = std::count_if(in + offsets[r], in + offsets[r + 1], [](int32_t id) { return id >= 0; });
  if (kept == total) {
    ids.shape = tokens.shape;
    ids.ragged = tokens.ragged;
    if (tokens.rank() == 1 || tokens.shape.back() == ragged_axis) return ids;
  }
  Array values = Array::make(DType::I32, {kept});
  std::copy_if(in, in + total, values.data<int32_t>(), [](int32_t id) { return id >= 0; });
  return tokens.rank() == 1 ? values : ragged_under(outer, std::move(values), lengths);
}

Array decode(const Vocab& vocab, const Array& ids) {
  TERCET_CHECK(is_int(ids.dtype));
  Array out = like_texts(ids, DType::Str);
  StringRef* to = out.data<StringRef>();
  const StringRef* entries = vocab.tokens().data<StringRef>();
  visit_dtype(ids.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* in = ids.data<T>();
      parallel_chunks(total_elements(ids), encode_grain, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          poll_at(i);
          if (std::cmp_less(in[i], 0) || std::cmp_greater_equal(in[i], vocab.size()))
            fail(Kind::Index, {}, fmt::format("token number {} is out of range for a vocabulary of size {}", in[i], vocab.size()));
          to[i] = entries[in[i]];
        }
      });
    }
  });
  share_owners(out, vocab.tokens());
  return out;
}

}  // namespace tercet
