// Native operations stop soon after they are asked to, and leave nothing behind.
#include <catch2/catch.hpp>
#include <chrono>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/vocab.h"

using namespace tercet;

namespace {

/// A poll that fails from its nth call on, and remembers when it first did.
struct Stopper {
  explicit Stopper(int after) : left(after) {}
  void ask() {
    if (left.fetch_sub(1) > 0) return;
    if (!failed.exchange(true)) at = std::chrono::steady_clock::now();
    fail(Kind::Interrupt, {}, "interrupted");
  }
  std::atomic<int> left;
  std::atomic<bool> failed{false};
  std::chrono::steady_clock::time_point at;
};

/// Milliseconds from the failing poll to the return; -1 when the work ended unhindered.
template <class F> double milliseconds_to_stop(F work) {
  Stopper stopper(2);
  Poll poll = [&] { stopper.ask(); };
  PollScope scope(&poll);
  try {
    work();
  } catch (const Failure& failure) {
    CHECK(failure.diagnostics().front().kind == Kind::Interrupt);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - stopper.at).count();
  }
  return -1;
}

Array many_texts() {
  static std::string text = "Some Words, of a text that is repeated OFTEN enough to take a while.";
  std::vector<std::string_view> list(200'000, text);
  return Array::strings(list);
}

}  // namespace

TEST_CASE("text operations stop when asked", "[interrupt]") {
  Array texts = many_texts(), tokens = tokenize(texts, "words");
  auto vocab = Vocab::build(tokens, {});
  Array ids = encode(*vocab, tokens), others = tokenize(texts, "words"), one_text = join(texts, " ");
  int64_t used = current_budget()->used();
  auto stops = [&](auto work) {
    double ms = milliseconds_to_stop(work);
    CHECK(ms >= 0);
    CHECK(ms < 50);
    CHECK(current_budget()->used() == used);
  };
  stops([&] { lower(texts); });
  stops([&] { replace(texts, "Words", "w"); });
  stops([&] { text_lengths(texts); });
  stops([&] { matches(texts, "a.*e"); });
  stops([&] { tokenize(texts, "words"); });
  stops([&] { tokenize(texts, R"(\w+)"); });
  stops([&] { tokenize(one_text, "words"); });
  stops([&] { tokenize(one_text, "chars"); });
  stops([&] { code_points(texts); });
  stops([&] { join(tokens, " "); });
  stops([&] { Vocab::build(tokens, {}); });
  stops([&] { encode(*vocab, others); });   // not those it was built from, whose numbers it has
  stops([&] { decode(*vocab, ids); });
  stops([&] { pad_rows(ids, -1, Array::scalar(0)); });
}
