// Operations on arrays of strings. Every function takes an array of dtype str and any shape, ragged or not, and works
// on each string; rows of results are a new innermost ragged axis (str[n] -> str[n, *], one string -> str[k]).
// Large arrays are worked on by several threads.
//
// Texts are valid UTF-8; positions and lengths count code points.
// Example:  Array tokens = tokenize(lower(texts), "words");
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/runtime/array.h"

namespace tercet {

// ---- str -> str ----
Array lower(const Array& texts);
Array upper(const Array& texts);
/// Without white space at both ends.
Array strip(const Array& texts);
/// In Unicode normalisation form "NFC", "NFD", "NFKC" or "NFKD"; error `value` for any other.
Array normalize(const Array& texts, std::string_view form);
/// For each group of the RE2 pattern what it captured at the first match (of a pattern without groups: the match), empty without one.
std::vector<Array> extract(const Array& texts, std::string_view pattern);
size_t count_groups(std::string_view pattern);
/// Every occurrence of `from`, left to right; error `value` when `from` is empty.
Array replace(const Array& texts, std::string_view from, std::string_view to);

/// Every match of the RE2 pattern, left to right and without overlap, replaced; `\1` in `to` is what the first group captured, `\0` the
/// match. Error `value` for a bad pattern or for a group that it has not.
Array replace_matches(const Array& texts, std::string_view pattern, std::string_view to);

// ---- str -> number ----
Array text_lengths(const Array& texts);                          // i64, in code points
/// The numbers that texts are, white space around them aside; error `value` with the text that is none.
Array parse_integers(const Array& texts);                        // i64
Array parse_floats(const Array& texts);                          // f64
Array starts_with(const Array& texts, std::string_view prefix);  // bool
Array ends_with(const Array& texts, std::string_view suffix);    // bool
Array contains(const Array& texts, std::string_view part);       // bool
Array find(const Array& texts, std::string_view part);           // i64: first position, -1 when absent
/// Whether the RE2 pattern occurs somewhere (use ^ and $ for all of the text). Error `value` for a bad pattern.
Array matches(const Array& texts, std::string_view pattern);     // bool
/// How many insertions, deletions and replacements of code points turn a text into the one at the same place of b.
Array edit_distances(const Array& a, const Array& b);            // i32

// ---- str -> rows ----
/// "words": see next_word in unicode.h (case is kept). "chars": code points. "bytes": u8 rows, as text_bytes (a byte
/// alone is no text). Anything else is an RE2 pattern whose
/// matches are the tokens, or what its first group captured; empty tokens are left out.
Array tokenize(const Array& texts, std::string_view kind);
/// Pieces between separators; error `value` when the separator is empty.
Array split(const Array& texts, std::string_view separator);
/// Pieces between matches of the RE2 pattern that are not empty.
Array split_matches(const Array& texts, std::string_view pattern);
Array text_bytes(const Array& texts);                            // u8 rows
Array code_points(const Array& texts);                           // i32 rows

// ---- rows -> str ----
/// The strings of each innermost row with `separator` between them: str[n, *] -> str[n], str[k] -> one string.
Array join(const Array& texts, std::string_view separator);
/// Texts from rows of bytes (u8) or code points (i32). Error `value` naming the row when they are not Unicode text.
Array text_from_bytes(const Array& rows);
Array text_from_code_points(const Array& rows);

/// A text of one code point for each number (i64). Error `value` for a number that is none.
Array characters(const Array& numbers);

/// True when every string is valid UTF-8; used to check what comes from outside.
bool all_valid_utf8(const Array& texts);

}  // namespace tercet
