// Any bytes as a file of JSON lines, as a regular expression, and as a text to take apart.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/line_stream.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/unicode.h"
#include "interpreter/runtime/vocab.h"
#include "tests/fuzz/try_it.h"

using namespace tercet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string path = (std::filesystem::temp_directory_path() / ("tercet_fuzz_" + std::to_string(getpid()))).string();
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  write_text(path, bytes);
  try_it([] { read_jsonl(path); });
  try_it([] { read_jsonl(path, {"a"}); });
  try_it([] { format(read_lines(path)); });
  try_it([] { read_csv(path, ',', true); });
  // Replaced, every file is text; its lines are the same whole and in chunks.
  Array lines = read_lines(path, InvalidBytes::Replace);
  try_it([] { read_jsonl(path, {}, InvalidBytes::Replace); });
  try_it([] { read_csv(path, ',', false, InvalidBytes::Replace); });
  TERCET_CHECK(is_valid_utf8(read_text(path, InvalidBytes::Replace).data<StringRef>()->view()));
  int64_t streamed = 0;
  for (int64_t at = 0; at >= 0;) {
    LineChunk chunk = read_line_chunk(path, at, 2, InvalidBytes::Replace);
    for (int64_t i = 0; i < chunk.lines.count(); ++i, ++streamed)
      TERCET_CHECK(streamed < lines.count() && chunk.lines.data<StringRef>()[i].view() == lines.data<StringRef>()[streamed].view());
    at = chunk.next;
  }
  TERCET_CHECK(streamed == lines.count());
  if (!is_valid_utf8(bytes)) return 0;
  std::string_view list[] = {bytes, bytes.substr(0, bytes.find(' '))};
  Array texts = Array::strings(list);
  Array words = tokenize(lower(texts), "words");
  try_it([&] { tokenize(texts, list[1]); });
  decode(*Vocab::build(words, {}), encode(*Vocab::build(words, {}), words));
  TERCET_CHECK(format(text_from_code_points(code_points(texts))) == format(texts));
  try_it([&] { format(Array::scalar(1.5f), bytes, {}); });
  return 0;
}
