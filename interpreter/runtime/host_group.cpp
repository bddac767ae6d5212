#include "interpreter/runtime/host_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>

#include "interpreter/runtime/device.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

constexpr int64_t small_bytes = 64 << 10;   // up to here every rank combines all of it: that is one meeting, not two
constexpr auto poll_time = std::chrono::milliseconds(10);
constexpr const char* keep_in_step = "every device must come to the same collectives in the same order: keep them out of branches and loops that differ between devices";

std::string text_of(const Array& x) {
  std::string sizes;
  for (int64_t s : x.shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(s);
  return name_of(x.dtype) + (x.rank() ? "[" + sizes + "]" : std::string());
}

// ---- combination in the defined order ----
constexpr int64_t strip = 256;

/// out[0 .. count) = elements `begin` and on of all arrays, combined; out may be such a part itself.
template <class R> void combine_strip(std::span<const Array> x, int64_t begin, int64_t count, typename R::Element* out) {
  using Acc = typename R::Acc;
  const auto n = static_cast<int64_t>(x.size());
  Acc p[reduce_partials * strip], buffer[strip];
  std::fill(p, p + reduce_partials * count, R::identity());
  for (int64_t i = 0; i < n; ++i) {
    const auto* from = x[static_cast<size_t>(i)].template data<typename R::Element>() + begin;
    detail::combine_into<R>(p + i % reduce_partials * count, detail::as_accumulators<R>(from, count, buffer), count);
  }
  detail::combine_partials<R>(p, count, count);
  for (int64_t i = 0; i < count; ++i) out[i] = R::store(p[i]);
}

/// The same for at most as many arrays as there are partials: each is one, and those that are missing change nothing.
template <class R> void combine_strip_of_few(std::span<const Array> x, int64_t begin, int64_t count, typename R::Element* out) {
  using Acc = typename R::Acc;
  const size_t n = x.size();
  Acc p[reduce_partials * strip];
  const Acc* at[reduce_partials];
  for (size_t i = 0; i < n; ++i) at[i] = detail::as_accumulators<R>(x[i].template data<typename R::Element>() + begin, count, p + i * strip);
  for (size_t half = std::bit_ceil(n) / 2; half > 0; half /= 2)
    for (size_t j = 0; j < half && j + half < n; ++j) {
      const Acc *left = at[j], *right = at[j + half];
      Acc* to = p + j * strip;
      at[j] = to;
      if constexpr (std::is_same_v<Acc, typename R::Element>)
        if (half == 1) to = out;
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) to[i] = R::combine(left[i], right[i]);
      if (to == reinterpret_cast<Acc*>(out)) return;
    }
  for (int64_t i = 0; i < count; ++i) out[i] = R::store(at[0][i]);
}

template <class R> void combine_range(std::span<const Array> x, int64_t begin, int64_t end, typename R::Element* out) {
  const bool few = x.size() <= reduce_partials;
  for (int64_t at = begin; at < end; at += strip) {
    poll_at((at - begin) / strip);
    const int64_t count = std::min(strip, end - at);
    if (few) combine_strip_of_few<R>(x, at, count, out + (at - begin));
    else combine_strip<R>(x, at, count, out + (at - begin));
  }
}

/// out[at ..] = elements begin .. end of the combination.
void combine_into_part(ReduceKind kind, std::span<const Array> x, int64_t begin, int64_t end, Array& out, int64_t at) {
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>) {
      auto run = [&]<ReduceKind K>() { combine_range<ReducerFor<K, T>>(x, begin, end, out.data<T>() + at); };
      if (kind == ReduceKind::Sum) run.template operator()<ReduceKind::Sum>();
      else if (kind == ReduceKind::Prod) run.template operator()<ReduceKind::Prod>();
      else if (kind == ReduceKind::Max) run.template operator()<ReduceKind::Max>();
      else if (kind == ReduceKind::Min) run.template operator()<ReduceKind::Min>();
      else TERCET_CHECK(false);
    } else {
      TERCET_CHECK(false);
    }
  });
}

/// Elements begin .. end of the combination, as one axis.
Array combined_range(ReduceKind kind, std::span<const Array> x, int64_t begin, int64_t end) {
  Array out = Array::make(x[0].dtype, {end - begin});
  combine_into_part(kind, x, begin, end, out, 0);
  return out;
}

// ---- the group ----
/// What ranks know of each other. A meeting's arrays lie in one of two slots by turns: a rank comes to the meeting after
/// the next only when all have left this one.
class Group {
 public:
  struct Offer {
    Meeting meeting;
    Array x;
    bool any_shape = false;
    Array result = {};   // rank 0's is where all ranks put their parts
  };
  enum class State : uint8_t { Running, Ended, Failed };

  explicit Group(const HostGroupOptions& options)
      : options_(options), states_(static_cast<size_t>(options.size)), met_(states_.size(), 0), offers_{std::vector<Offer>(states_.size()), std::vector<Offer>(states_.size())} {}
  int size() const { return options_.size; }

  /// The offers of all ranks to this meeting. They stay until this rank comes to its next one.
  const std::vector<Offer>& meet(int rank, Offer offer) {
    const auto me = static_cast<size_t>(rank);
    std::unique_lock lock(mutex_);
    const uint64_t number = met_[me]++;
    std::vector<Offer>& all = offers_[number % 2];
    all[me] = std::move(offer);
    if (complete(number)) changed_.notify_all();
    wait(lock, rank, number);
    offers_[(number + 1) % 2][me] = {};
    lock.unlock();
    require_same(all);
    return all;
  }

  void end(int rank, State how) {
    {
      std::scoped_lock lock(mutex_);
      states_[static_cast<size_t>(rank)] = how;
    }
    changed_.notify_all();
  }
  /// From here on ranks after this one stop.
  void fail_from(int rank) {
    for (int known = first_failed_; rank < known && !first_failed_.compare_exchange_weak(known, rank);) {}
  }
  bool must_stop(int rank) const { return first_failed_.load(std::memory_order_relaxed) < rank || all_stop_.load(std::memory_order_relaxed); }

 private:
  bool complete(uint64_t number) const {
    return std::all_of(met_.begin(), met_.end(), [&](uint64_t m) { return m > number; });
  }

  void wait(std::unique_lock<std::mutex>& lock, int rank, uint64_t number) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.timeout_seconds);
    while (!complete(number)) {
      require_reachable(lock, rank, number);
      if (changed_.wait_for(lock, poll_time) == std::cv_status::no_timeout) continue;
      if (complete(number)) return;
      if (std::chrono::steady_clock::now() > deadline) give_up(lock, rank, number);
      lock.unlock();
      poll();
      lock.lock();
    }
  }

  /// Some that are not there yet may still come. Which one is told to be missing must not depend on who was fastest.
  void require_reachable(std::unique_lock<std::mutex>& lock, int rank, uint64_t number) {
    if (must_stop(rank)) throw RankStopped{};
    std::optional<size_t> ended;
    for (size_t q = states_.size(); q-- > 0;) {
      if (met_[q] > number) continue;
      if (states_[q] == State::Failed) throw RankStopped{};
      if (states_[q] == State::Ended) ended = q;
    }
    for (size_t q = 0; q < states_.size(); ++q)
      if (met_[q] <= number && states_[q] == State::Running) return;
    Meeting meeting = offers_[number % 2][static_cast<size_t>(rank)].meeting;
    lock.unlock();
    fail(Kind::Device, meeting.span, fmt::format("device {} waits in {}, and device {} has ended without it", rank, meeting.name, *ended), keep_in_step);
  }

  [[noreturn]] void give_up(std::unique_lock<std::mutex>& lock, int rank, uint64_t number) {
    std::string missing;
    int count = 0;
    for (size_t q = 0; q < states_.size(); ++q)
      if (met_[q] <= number) missing += fmt::format("{}{}", count++ ? ", " : "", q);
    Meeting meeting = offers_[number % 2][static_cast<size_t>(rank)].meeting;
    all_stop_ = true;
    lock.unlock();
    changed_.notify_all();
    fail(Kind::Device, meeting.span, fmt::format("device {} waited {} s in {} for device{} {}", rank, options_.timeout_seconds, meeting.name, count > 1 ? "s" : "", missing),
         "does it run a loop that does not end? --device-timeout sets how long devices wait for each other");
  }

  static void require_same(const std::vector<Offer>& all) {
    const Offer& first = all[0];
    for (size_t q = 1; q < all.size(); ++q) {
      const Offer& o = all[q];
      bool same = o.meeting.span == first.meeting.span && std::string_view(o.meeting.name) == first.meeting.name && o.any_shape == first.any_shape && o.x.dtype == first.x.dtype;
      if (same && (o.any_shape || o.x.shape == first.x.shape)) continue;
      auto place = [](const Offer& offer) { return fmt::format("{} of {}", offer.meeting.name, text_of(offer.x)); };
      bool shapes = same;
      fail(Kind::Device, first.meeting.span, fmt::format("device 0 came to {}, and device {} to {}", place(first), q, place(o)),
           shapes ? "a collective takes arrays of one shape: pad them, or reduce them to one size first" : keep_in_step);
    }
  }

  const HostGroupOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<State> states_;
  std::vector<uint64_t> met_;              // meetings that a rank has come to
  std::vector<Offer> offers_[2];
  std::atomic<int> first_failed_{INT_MAX};
  std::atomic<bool> all_stop_{false};
};

class HostCommunicator final : public Communicator {
 public:
  HostCommunicator(Group& group, int rank) : group_(group), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return group_.size(); }
  void poll() override {
    if (group_.must_stop(rank_)) throw RankStopped{};
  }

  Array all_reduce(const Meeting& meeting, ReduceKind kind, Array x) override {
    const Shape shape = x.shape;
    if (x.bytes() <= small_bytes) return combined_range(kind, meet(meeting, std::move(x)), 0, element_count(shape)).reshaped(shape);
    Array result;
    if (rank_ == 0) result = x.unique() ? x : Array::make(x.dtype, shape);
    {
      const std::vector<Group::Offer>& all = group_.meet(rank_, {meeting, std::move(x), false, std::move(result)});
      std::vector<Array> arrays;
      for (const Group::Offer& offer : all) arrays.push_back(offer.x);
      result = all[0].result;
      combine_into_part(kind, arrays, part_begin(rank_, shape), part_begin(rank_ + 1, shape), result, part_begin(rank_, shape));
    }
    meet_at_end(meeting);
    return of_all(result, shape);
  }
  /// Every rank puts its array into the one result.
  Array all_gather(const Meeting& meeting, Array x) override {
    if (x.bytes() <= small_bytes || x.dtype >= DType::Str) return stacked(meet(meeting, std::move(x)));
    Shape shape = x.shape;
    shape.insert(0, size());
    Array result = rank_ == 0 ? Array::make(x.dtype, shape) : Array();
    {
      const std::vector<Group::Offer>& all = group_.meet(rank_, {meeting, std::move(x), false, std::move(result)});
      const Array mine = all[static_cast<size_t>(rank_)].x;
      result = all[0].result;
      const auto bytes = static_cast<size_t>(mine.bytes());
      copy_bytes(result.raw() + static_cast<size_t>(rank_) * bytes, mine.raw(), bytes);
    }
    meet_at_end(meeting);
    return of_all(result, shape);
  }
  Array reduce_scatter(const Meeting& meeting, ReduceKind kind, Array x) override {
    std::vector<Array> rows;
    for (const Array& a : meet(meeting, std::move(x))) rows.push_back(row_of(a, rank_));
    Array out = combined_range(kind, rows, 0, rows[0].count());
    return out.reshaped(rows[0].shape);
  }
  Array all_to_all(const Meeting& meeting, Array x) override {
    std::vector<Array> rows;
    for (const Array& a : meet(meeting, std::move(x))) rows.push_back(row_of(a, rank_));
    return stacked(rows);
  }
  Array permute(const Meeting& meeting, Array x, std::span<const std::pair<int64_t, int64_t>> pairs) override {
    const Shape shape = x.shape;
    const DType dtype = x.dtype;
    const std::vector<Array> all = meet(meeting, std::move(x));
    for (auto [from, to] : pairs)
      if (to == rank_) return stacked({&all[static_cast<size_t>(from)], 1}).reshaped(shape);
    return Array::zeros(dtype, shape);
  }

 private:
  std::vector<Array> meet(const Meeting& meeting, Array x, bool any_shape = false) {
    std::vector<Array> out;
    for (const Group::Offer& offer : group_.meet(rank_, {meeting, std::move(x), any_shape})) out.push_back(offer.x);
    return out;
  }
  static Array stacked(std::span<const Array> arrays) {
    std::vector<Array> rows(arrays.begin(), arrays.end());
    return stack_rows(arrays[0].dtype, std::move(rows), std::vector<bool>(arrays[0].shape.size(), false), {});
  }
  /// All ranks have written their part of the result.
  void meet_at_end(const Meeting& meeting) { group_.meet(rank_, {meeting, Array::scalar(int32_t{0})}); }
  static Array of_all(const Array& result, const Shape& shape) {
    Array out;
    out.dtype = result.dtype;
    out.shape = shape;
    out.buffer = result.buffer;
    out.offset = result.offset;
    return out;
  }
  /// Where a rank's part of a result begins: no two ranks write to one line of the cache.
  int64_t part_begin(int rank, const Shape& shape) const {
    const int64_t n = element_count(shape);
    return rank == size() ? n : n * rank / size() / 64 * 64;
  }

  Group& group_;
  int rank_;
};

}  // namespace

std::shared_ptr<Communicator> lone_communicator() {
  struct Lone {
    Group group{HostGroupOptions{}};
    HostCommunicator communicator{group, 0};
  };
  auto lone = std::make_shared<Lone>();
  return {lone, &lone->communicator};
}

Array combine_arrays(ReduceKind kind, std::span<const Array> arrays) {
  return combined_range(kind, arrays, 0, arrays[0].count()).reshaped(arrays[0].shape);
}

void run_on_host_devices(const HostGroupOptions& options, const std::function<void(Communicator&)>& work,
                         const std::function<void(int)>& failed) {
  const auto n = static_cast<size_t>(options.size);
  Group group(options);
  std::vector<std::exception_ptr> failures(n);
  std::shared_ptr<MemoryBudget> budget = current_budget();
  DeviceLease devices = lease_host_devices(options.size, options.cores);
  auto run = [&](int rank) {
    HostCommunicator communicator(group, rank);
    Group::State how = Group::State::Failed;
    try {
      BudgetScope charged(budget);
      work(communicator);
      how = Group::State::Ended;
    } catch (const RankStopped&) {
    } catch (...) {
      failures[static_cast<size_t>(rank)] = std::current_exception();
      group.fail_from(rank);
    }
    group.end(rank, how);
  };
  for (size_t r = 0; r < n; ++r) devices[r].start([&run, r] { run(static_cast<int>(r)); });
  for (size_t r = 0; r < n; ++r) devices[r].wait();
  for (size_t r = 0; r < n; ++r) {
    if (!failures[r]) continue;
    if (failed) failed(static_cast<int>(r));
    std::rethrow_exception(failures[r]);
  }
}

}  // namespace tercet
