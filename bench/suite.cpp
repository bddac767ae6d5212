#include "bench/suite.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "interpreter/runtime/parallel.h"

namespace tercet::bench {
namespace {

uint32_t fnv1a(const std::string& text) {
  uint32_t h = 2166136261u;
  for (unsigned char c : text) h = (h ^ c) * 16777619u;
  return h;
}

uint32_t lowbias32(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// "x f32[1000, 8] -1 1"
Input read_input(const std::string& text) {
  Input out;
  auto open = text.find('['), close = text.find(']');
  if (close == std::string::npos || open > close) throw std::runtime_error("an input is NAME DTYPE[SIZES] LOW HIGH");
  std::string dtype;
  std::istringstream(text.substr(0, open)) >> out.name >> dtype;
  if (!parse_dtype(dtype, &out.dtype)) throw std::runtime_error("unknown dtype " + dtype);
  std::istringstream sizes(text.substr(open + 1, close - open - 1));
  for (std::string size; std::getline(sizes, size, ',');) out.shape.push_back(std::stoll(size));
  if (!(std::istringstream(text.substr(close + 1)) >> out.low >> out.high))
    throw std::runtime_error("an input needs LOW HIGH");
  return out;
}

void read_note(Row& row, const std::string& line) {
  std::istringstream words(line.substr(2));
  std::string key, value;
  words >> key >> std::ws;
  std::getline(words, value);
  if (key == "input")
    row.inputs.push_back(read_input(value));
  else if (key == "time")
    row.time = value;
  else if (key == "calls")
    row.calls = std::stoll(value);
  else
    row.notes[key] = value;
}

}  // namespace

std::vector<Row> read_suite(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Row> rows;
  std::string common;
  int number = 0;
  for (std::string line; std::getline(file, line);) try {
      ++number;
      if (line.starts_with("#=")) {
        Row& row = rows.emplace_back();
        std::istringstream words(line.substr(2));
        words >> row.name >> std::ws;
        std::getline(words, row.title);
        row.program = common;
      } else if (rows.empty()) {
        common += line + "\n";
      } else if (line.starts_with("#:")) {
        read_note(rows.back(), line);
      } else {
        rows.back().program += line + "\n";
      }
    } catch (const std::exception& e) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, e.what()));
    }
  return rows;
}

Array input_array(const Input& input) {
  Array out = Array::make(input.dtype, input.shape);
  const uint32_t seed = fnv1a(input.name);
  const auto low = static_cast<float>(input.low), scale = static_cast<float>(input.high) - low;
  const auto first = static_cast<int64_t>(input.low);
  const auto range = static_cast<uint32_t>(static_cast<int64_t>(input.high) - first);
  visit_dtype(input.dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      parallel_chunks(out.count(), 1 << 16, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          auto u = static_cast<float>(lowbias32(static_cast<uint32_t>(i) + seed) >> 8) * 0x1p-24f;
          out.data<T>()[i] = low + scale * u;
        }
      });
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      for (int64_t i = 0; i < out.count(); ++i)
        out.data<T>()[i] = static_cast<T>(first + lowbias32(static_cast<uint32_t>(i) + seed) % range);
    else
      throw std::runtime_error("no inputs of this dtype");
  });
  return out;
}

}  // namespace tercet::bench
