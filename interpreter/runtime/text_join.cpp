// Rows -> text: join, and texts from bytes or code points.
#include <fmt/format.h>

#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/text_rows.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

/// The innermost rows of an array: row r is elements offsets[r] .. offsets[r+1]; `result` is shaped like the rest.
struct InnerRows {
  Array result;
  std::vector<int64_t> offsets;
};

InnerRows inner_rows(const Array& array) {
  TERCET_CHECK(array.rank() > 0);
  InnerRows rows;
  Array shaped = array;
  int64_t size = shaped.shape.back();
  shaped.shape.erase(shaped.shape.size() - 1);
  if (size == ragged_axis) {
    rows.offsets = array.ragged->offsets.back();
    auto rest = std::make_shared<Ragged>(*array.ragged);
    rest->offsets.pop_back();
    shaped.ragged = rest->offsets.empty() ? nullptr : std::move(rest);
  } else {
    for (int64_t r = 0; r <= total_elements(shaped); ++r) rows.offsets.push_back(r * size);
  }
  rows.result = like_texts(shaped, DType::Str);
  return rows;
}

/// result[r] = text(scratch, begin, end), appended to the empty scratch.
template <class F> Array rows_to_text(const Array& array, F f) {
  InnerRows rows = inner_rows(array);
  StringRef* to = rows.result.data<StringRef>();
  auto count = static_cast<int64_t>(rows.offsets.size()) - 1;
  std::vector<TextArena> arenas(static_cast<size_t>(chunk_count(count, text_grain)));
  parallel_chunks(count, text_grain, [&](int64_t chunk, int64_t begin, int64_t end) {
    std::string scratch;
    for (int64_t r = begin; r < end; ++r, scratch.clear()) {
      poll_at(r);
      f(scratch, r, rows.offsets[static_cast<size_t>(r)], rows.offsets[static_cast<size_t>(r) + 1]);
      to[r] = arenas[static_cast<size_t>(chunk)].add(scratch);
    }
  });
  for (TextArena& arena : arenas) arena.give_to(rows.result);
  return std::move(rows.result);
}

bool is_code_point(int64_t c) { return c >= 0 && c <= 0x10FFFF && !(c >= 0xD800 && c < 0xE000); }

}  // namespace

Array characters(const Array& numbers) {
  TERCET_CHECK(numbers.dtype == DType::I64);
  Array out = like_texts(numbers, DType::Str);
  const auto* in = numbers.data<int64_t>();
  StringRef* to = out.data<StringRef>();
  parallel_chunks(total_elements(numbers), text_grain, [&](int64_t, int64_t begin, int64_t end) {
    std::string one;
    for (int64_t i = begin; i < end; ++i, one.clear()) {
      poll_at(i);
      if (!is_code_point(in[i])) fail(Kind::Value, {}, fmt::format("{} is not a Unicode code point", in[i]), "they are 0 to 0x10FFFF, without 0xD800 to 0xDFFF");
      append_code_point(one, static_cast<uint32_t>(in[i]));
      to[i] = StringRef(one);   // short: it holds its bytes itself
    }
  });
  return out;
}

Array join(const Array& texts, std::string_view separator) {
  const StringRef* in = texts.data<StringRef>();
  return rows_to_text(texts, [&](std::string& out, int64_t, int64_t begin, int64_t end) {
    in_strips(end - begin, [&](int64_t from, int64_t to) {
      for (int64_t i = begin + from; i < begin + to; ++i) out.append(i == begin ? "" : separator).append(in[i].view());
    });
  });
}

Array text_from_bytes(const Array& rows) {
  TERCET_CHECK(rows.dtype == DType::U8);
  const auto* in = rows.data<char>();
  return rows_to_text(rows, [&](std::string& out, int64_t row, int64_t begin, int64_t end) {
    out.assign(in + begin, in + end);
    if (size_t at = find_invalid_utf8(out); at != std::string::npos)
      fail(Kind::Value, {}, fmt::format("row {}: byte {} is not part of valid UTF-8", row, at));
  });
}

Array text_from_code_points(const Array& rows) {
  TERCET_CHECK(rows.dtype == DType::I32);
  const auto* in = rows.data<int32_t>();
  return rows_to_text(rows, [&](std::string& out, int64_t row, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      poll_at(i - begin);
      int32_t c = in[i];
      if (!is_code_point(c))
        fail(Kind::Value, {}, fmt::format("row {}: {} is not a Unicode code point", row, c));
      append_code_point(out, static_cast<uint32_t>(c));
    }
  });
}

}  // namespace tercet
