// Numbers of tokens without a vocabulary, and signatures of sets of tokens.
#pragma once
#include "interpreter/runtime/array.h"

namespace tercet {

/// i32 0 .. size - 1, shaped like the tokens: equal tokens have equal numbers, on every machine. Error `value` unless size > 0.
Array hash_tokens(const Array& tokens, int64_t size, int64_t seed);

/// u32[…, n] of the innermost rows: the least of each of n hashes over the row's tokens (UINT32_MAX where it has none). The share of
/// equal numbers estimates the share of common tokens (Broder 1997; one hash of each token, mixed n times).
Array minhash(const Array& tokens, int64_t n, int64_t seed);

}  // namespace tercet
