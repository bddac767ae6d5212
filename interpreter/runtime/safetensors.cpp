// safetensors: 8 bytes length of a JSON header, the header {"name": {"dtype", "shape", "data_offsets"}}, the elements.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/tensor_files.h"

namespace tercet {
namespace {

struct Code { std::string_view code; DType dtype; };
constexpr Code codes[] = {{"BOOL", DType::Bool}, {"I8", DType::I8}, {"I16", DType::I16}, {"I32", DType::I32}, {"I64", DType::I64}, {"U8", DType::U8}, {"U16", DType::U16},
                          {"U32", DType::U32}, {"U64", DType::U64}, {"F16", DType::F16}, {"BF16", DType::BF16}, {"F32", DType::F32}, {"F64", DType::F64}};

[[noreturn]] void wrong(const std::string& path, const std::string& what) { fail(Kind::Io, {}, fmt::format("\"{}\" cannot be read: {}", path, what)); }

}  // namespace

NamedArrays load_safetensors(const std::string& path) {
  FileBytes file = load_bytes(path);
  if (file.bytes.size() < 8) wrong(path, fmt::format("it has {} bytes, and its header begins with 8", file.bytes.size()));
  uint64_t length = 0;
  std::memcpy(&length, file.bytes.data(), 8);
  if (length > file.bytes.size() - 8) wrong(path, fmt::format("its header should have {} bytes, and {} are left (byte 8)", length, file.bytes.size() - 8));
  std::string_view data = file.bytes.substr(8 + length);
  simdjson::padded_string header(file.bytes.data() + 8, length);
  simdjson::dom::parser parser;
  simdjson::dom::object all;
  if (auto error = parser.parse(header).get(all)) wrong(path, fmt::format("its header is no JSON object: {} (byte 8)", simdjson::error_message(error)));
  NamedArrays out;
  for (auto [key, value] : all) {
    if (key == "__metadata__") continue;
    const std::string name(key);
    auto say = [&](const char* what) { wrong(path, fmt::format("{} of {}", what, ::tercet::quoted(name))); };
    std::string_view code;
    simdjson::dom::array sizes, offsets;
    if (value["dtype"].get(code)) say("there is no dtype");
    if (value["shape"].get(sizes)) say("there is no shape");
    if (value["data_offsets"].get(offsets)) say("there are no data_offsets");
    const Code* known = nullptr;
    for (const Code& c : codes)
      if (c.code == code) known = &c;
    if (!known) wrong(path, fmt::format("{} is of dtype {}, which Tercet has not", ::tercet::quoted(name), code));
    Shape shape;
    int64_t count = 1;
    for (auto s : sizes) {
      uint64_t size = 0;
      if (s.get(size) || size > (uint64_t{1} << 48) || shape.rank() == max_rank) say("the shape is not possible");
      shape.push_back(static_cast<int64_t>(size));
      if (__builtin_mul_overflow(count, static_cast<int64_t>(size), &count) || count > (int64_t{1} << 58)) say("the shape is too large");
    }
    uint64_t place[2] = {0, 0};
    size_t n = 0;
    for (auto o : offsets)
      if (n == 2 || o.get(place[n++])) say("the data_offsets are no two numbers");
    if (n != 2 || place[0] > place[1] || place[1] > data.size()) say("the data lies outside the file, which may be cut off,");
    if (place[1] - place[0] != static_cast<uint64_t>(count) * size_of(known->dtype)) say("dtype, shape and data_offsets do not fit");
    Array array = Array::make(known->dtype, shape);
    if (place[1] > place[0]) copy_bytes(array.raw(), data.data() + place[0], place[1] - place[0]);
    if (array.dtype == DType::Bool)
      for (int64_t i = 0; i < count; ++i) poll_at(i), array.data<uint8_t>()[i] = array.data<uint8_t>()[i] != 0;
    out.emplace_back(name, std::move(array));
  }
  return out;
}

void save_safetensors(const std::string& path, const NamedArrays& arrays) {
  std::string header = "{";
  size_t at = 0;   // in the data, behind the header
  for (const auto& [name, array] : arrays) {
    std::string_view code;
    for (const Code& c : codes)
      if (c.dtype == array.dtype) code = c.code;
    if (code.empty() || array.ragged) fail(Kind::Type, {}, fmt::format("safetensors hold no {}", array.ragged ? "rows of different length" : name_of(array.dtype)));
    std::string shape;
    for (int64_t s : array.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ",", s);
    header += fmt::format("{}\"{}\":{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", header.size() > 1 ? "," : "", name, code, shape, at,
                          at + static_cast<size_t>(array.bytes()));
    at += static_cast<size_t>(array.bytes());
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string out;
  const uint64_t length = header.size();
  out.reserve(8 + length + at);
  out.append(reinterpret_cast<const char*>(&length), 8).append(header);
  constexpr size_t part = 1 << 20;
  for (const auto& [name, array] : arrays)
    for (size_t from = 0, bytes = static_cast<size_t>(array.bytes()); from < bytes; from += part, poll())
      out.append(reinterpret_cast<const char*>(array.raw()) + from, std::min(part, bytes - from));
  write_text(path, out);
}

}  // namespace tercet
