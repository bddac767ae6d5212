// Rows of sub-word tokens, in the family of text.cpp.
#pragma once
#include "interpreter/ir/op_def.h"

namespace tercet {

/// (texts, model u8[m]) -> numbers of pieces, a row a text; attr "defines" for one text.
extern const OpDef encode_subwords_op;
/// (ids, model) -> texts, one for each row along the last axis.
extern const OpDef decode_subwords_op;

}  // namespace tercet
