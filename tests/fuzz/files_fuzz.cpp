// Any bytes as a file of each kind: arrays (.npy, .npz, .safetensors), compressed text (.gz, .zst), tables, vocabularies and models.
// A good corpus to start from is tests/data, and what `tercet` writes of a few small values. $TMPDIR in memory makes it fast.
//
//   TMPDIR=/dev/shm build/fuzz/bin/files_fuzz -max_len=4096 -rss_limit_mb=6000 corpus tests/data
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/line_stream.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/subwords.h"
#include "interpreter/runtime/tensor_files.h"
#include "interpreter/runtime/unicode.h"
#include "tests/fuzz/try_it.h"

using namespace tercet;

namespace {

/// What was read is whole: its elements can be read, and it is written and read back.
void use(const NamedArrays& arrays, const std::string& path) {
  for (const auto& [name, array] : arrays) TERCET_CHECK(!format(array).empty());
  save_npz(path + ".again.npz", arrays);
  TERCET_CHECK(load_npz(path + ".again.npz").size() == arrays.size());
}
void use(const Columns& columns) {
  for (const auto& [name, column] : columns)
    if (column.dtype == DType::Str)
      for (int64_t i = 0; i < column.count(); ++i) TERCET_CHECK(is_valid_utf8(column.data<StringRef>()[i].view()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string path = (std::filesystem::temp_directory_path() / ("tercet_files_fuzz_" + std::to_string(getpid()))).string();
  BudgetScope budget(std::make_shared<MemoryBudget>(int64_t{1} << 30));   // a small file may ask for much
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* ending : {"", ".gz", ".zst"}) std::ofstream(path + ending, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
  try_it([] { use({{"x", load_npy(path)}}, path); });
  try_it([] { use(load_npz(path), path); });
  try_it([] { use(load_safetensors(path), path); });
  for (const char* ending : {"", ".gz", ".zst"}) {
    const std::string file = path + ending;
    try_it([&] { TERCET_CHECK(is_valid_utf8(read_text(file, InvalidBytes::Replace).data<StringRef>()->view())); });
    try_it([&] { use(read_csv(file, ending[0] ? '\t' : ',', ending[0] == 0)); });
    try_it([&] { use(read_jsonl(file)); });
    try_it([&] {
      for (int64_t at = 0; at >= 0;) at = read_line_chunk(file, at, 3, InvalidBytes::Replace).next;
    });
  }
  try_it([&] {
    Array model = Array::make(DType::U8, {static_cast<int64_t>(size)});
    std::copy(bytes.begin(), bytes.end(), model.data<char>());
    subword_model(model);
  });
  return 0;
}
