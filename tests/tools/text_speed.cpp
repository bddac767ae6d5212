// Times the text pipeline on a file of JSON lines with a column "text":  text_speed descriptions.jsonl
#include <chrono>
#include <cstdio>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/vocab.h"

using namespace tercet;

namespace {

template <class F> auto timed(const char* what, F f) {
  auto begin = std::chrono::steady_clock::now();
  auto result = f();
  std::printf("%-12s %8.2f ms\n", what, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: text_speed FILE.jsonl"), 2;
  for (int round = 0; round < 3; ++round) {
    Columns table = timed("read_jsonl", [&] { return read_jsonl(argv[1]); });
    Array texts;
    for (auto& [name, column] : table)
      if (name == "text") texts = column;
    Array low = timed("lower", [&] { return lower(texts); });
    Array tokens = timed("tokenize", [&] { return tokenize(low, "words"); });
    auto vocab = timed("vocab", [&] { return Vocab::build(tokens, {.max_size = 20000, .min_count = 2}); });
    Array ids = timed("encode", [&] { return encode(*vocab, tokens); });
    Array padded = timed("pad", [&] { return pad_rows(ids, -1, Array::scalar(-1)); });
    std::printf("%lld texts, %lld tokens, %lld entries, padded %s\n\n", static_cast<long long>(texts.shape[0]),
                static_cast<long long>(total_elements(tokens)), static_cast<long long>(vocab->size()), to_string(padded.shape).c_str());
  }
}
