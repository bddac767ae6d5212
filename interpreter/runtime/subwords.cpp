#include "interpreter/runtime/subwords.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <cstring>
#include <list>
#include <mutex>

#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/text_rows.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {

class SubwordModel {
 public:
  explicit SubwordModel(std::string_view bytes) {
    bool good = false;
    try {
      good = processor.LoadFromSerializedProto(bytes).ok();
    } catch (const std::exception&) {   // its tries throw at keys that cannot be
    }
    if (!good) fail(Kind::Value, {}, "these bytes are no SentencePiece model", "load_subwords(path) reads a .model file");
  }
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

std::string_view bytes_of(const Array& a) { return {reinterpret_cast<const char*>(a.raw()), static_cast<size_t>(a.count())}; }

/// Models made of the arrays used last: found by the array, else by its bytes.
class RecentModels {
 public:
  std::shared_ptr<const SubwordModel> find(const Array& bytes) {
    std::scoped_lock lock(mutex_);
    for (const Entry& e : entries_)
      if ((e.bytes.buffer == bytes.buffer && e.bytes.offset == bytes.offset && e.bytes.shape == bytes.shape) || bytes_of(e.bytes) == bytes_of(bytes)) return e.model;
    return nullptr;
  }
  void add(const Array& bytes, std::shared_ptr<const SubwordModel> model) {
    std::scoped_lock lock(mutex_);
    if (entries_.size() >= 4) entries_.pop_back();
    entries_.push_front({bytes, std::move(model)});
  }

 private:
  struct Entry { Array bytes; std::shared_ptr<const SubwordModel> model; };
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace

std::shared_ptr<const SubwordModel> subword_model(const Array& bytes) {
  TERCET_CHECK(bytes.dtype == DType::U8 && bytes.rank() == 1);
  static RecentModels recent;
  if (auto known = recent.find(bytes)) return known;
  auto made = std::make_shared<const SubwordModel>(bytes_of(bytes));
  recent.add(bytes, made);
  return made;
}

Array subword_pieces(const SubwordModel& model) {
  std::vector<std::string> pieces;
  for (int i = 0; i < model.processor.GetPieceSize(); ++i) pieces.push_back(replace_invalid_utf8(model.processor.IdToPiece(i)));
  std::vector<std::string_view> views(pieces.begin(), pieces.end());
  return Array::strings(views);
}

Array encode_subwords(const SubwordModel& model, const Array& texts) {
  return map_to_rows<int32_t>(texts, DType::I32, [&](const StringRef& text, RowBuffer<int32_t>& row) {
    std::vector<int> ids;
    const auto status = model.processor.Encode(text.view(), &ids);
    if (!status.ok()) fail(Kind::Value, {}, fmt::format("the model cannot take this text apart: {}", status.error_message()));
    row.append(ids.data(), ids.size());
  });
}

Array decode_subwords(const SubwordModel& model, const Array& ids) {
  TERCET_CHECK(ids.dtype == DType::I32 && ids.rank() > 0);
  Array out;
  std::vector<int64_t> offsets{0};
  if (ids.shape[ids.shape.size() - 1] == ragged_axis) {
    out = row_lengths(ids);   // the shape of the results
    offsets = ids.ragged->offsets.back();
  } else {
    out = ids;
    const int64_t n = ids.shape.back();
    out.shape.erase(out.shape.size() - 1);
    for (int64_t r = 0, rows = total_elements(out); r < rows; ++r) offsets.push_back((r + 1) * n);
  }
  const auto count = static_cast<int64_t>(offsets.size()) - 1;
  std::vector<std::string> texts(static_cast<size_t>(count));
  parallel_chunks(count, 64, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      poll_at(r);
      std::vector<int> row;
      for (int64_t i = offsets[static_cast<size_t>(r)]; i < offsets[static_cast<size_t>(r) + 1]; ++i) {
        const int32_t id = ids.data<int32_t>()[i];
        if (id < 0 || id >= model.processor.GetPieceSize()) fail(Kind::Index, {}, fmt::format("piece {} is out of range for a model of {}", id, model.processor.GetPieceSize()));
        row.push_back(id);
      }
      const auto status = model.processor.Decode(row, &texts[static_cast<size_t>(r)]);
      if (!status.ok()) fail(Kind::Value, {}, fmt::format("the model cannot put these pieces together: {}", status.error_message()));
      if (!is_valid_utf8(texts[static_cast<size_t>(r)])) texts[static_cast<size_t>(r)] = replace_invalid_utf8(texts[static_cast<size_t>(r)]);   // pieces of bytes
    }
  });
  std::vector<std::string_view> views(texts.begin(), texts.end());
  Array made = Array::strings(views);
  made.shape = out.shape;
  made.ragged = out.ragged;
  return made;
}

}  // namespace tercet
