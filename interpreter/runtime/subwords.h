// Sub-word tokens by SentencePiece models (Kudo and Richardson, 2018): unigram, BPE, word and character models.
//
// A model is the bytes of its .model file. Texts are normalised as the model says; pieces are numbered by it.
// Example:  auto model = subword_model(bytes);   encode_subwords(*model, texts);   // i32 rows
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "interpreter/runtime/array.h"

namespace tercet {

class SubwordModel;
/// The model of these bytes (u8[n]); those used last stay ready. Error `value` when they are none.
std::shared_ptr<const SubwordModel> subword_model(const Array& bytes);

/// The pieces by their numbers: str[n].
Array subword_pieces(const SubwordModel& model);
/// The numbers of each text's pieces: texts of any shape -> i32 with one axis more, ragged (of one text: a vector).
Array encode_subwords(const SubwordModel& model, const Array& texts);
/// The text of each row of numbers along the last axis, which may be ragged. Error `index` for a number that the model has not.
Array decode_subwords(const SubwordModel& model, const Array& ids);

}  // namespace tercet
