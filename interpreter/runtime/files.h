// Text files as arrays of strings; those whose names end in .gz or .zst are decompressed. What is read is checked: it must be valid UTF-8 (a byte order mark at the start is
// dropped), and an error `io` names the file, and the line and byte where something is wrong.
//
// Example:  Columns docs = read_jsonl("docs.jsonl");   // {{"name", str[n]}, {"text", str[n]}}
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "interpreter/runtime/array.h"

namespace tercet {

/// A table: columns of equal length, by name.
using Columns = std::vector<std::pair<std::string, Array>>;

/// What becomes of bytes that are not UTF-8: an error `io` naming file, line and offset, or U+FFFD (replace_invalid_utf8).
enum class InvalidBytes : uint8_t { Error, Replace };

/// The whole file as one string. Error `limit` beyond 4 GiB.
Array read_text(const std::string& path, InvalidBytes invalid = InvalidBytes::Error);

/// str[n] of the lines without their breaks (\n or \r\n); a break at the very end starts no further line.
Array read_lines(const std::string& path, InvalidBytes invalid = InvalidBytes::Error);

/// One JSON object a line -> a column per key: str, i64, f64 or bool. Empty lines are skipped.
///
/// The first object says which columns there are; every other must have the same keys (in any order) with values of
/// the same type, whole numbers and others mixing to f64. Anything else (a key that is missing, new or doubled; null;
/// an array or object as value; a whole number that f64 or i64 cannot hold) is an error `io` that names line and key.
/// With `columns`, only those keys are read, and others may be there or not and hold anything.
Columns read_jsonl(const std::string& path, const std::vector<std::string>& columns = {}, InvalidBytes invalid = InvalidBytes::Error);

/// Fields between `separator`, in quotes where they hold one; columns are i64, f64 or bool where every field is one, else str.
/// The first line names the columns, or without `header` they are c0, c1, …. Error `io` naming the line.
Columns read_csv(const std::string& path, char separator, bool header, InvalidBytes invalid = InvalidBytes::Error);

/// A JSON object a row, one a line; rows of arrays are arrays, numbers that JSON has not null.
std::string json_lines(const Columns& columns);

/// Columns of single values as read_csv reads them: lines end in \n, and texts that hold the separator, quotes or breaks, that are empty
/// or that would be read as numbers or bools stand in quotes.
std::string csv_text(const Columns& columns, char separator, bool header);

/// Replaces a file's content, compressed where its name ends in .gz or .zst. Error `io` when that fails.
void write_text(const std::string& path, std::string_view text);

// ---- for other readers of files ----
/// A file in memory, padded so that simdjson may read past its end; `text` is valid UTF-8 without byte order mark.
struct FileText {
  std::string path;
  std::shared_ptr<Buffer> buffer;
  std::string_view text;
};
FileText load_text(const std::string& path, InvalidBytes invalid);
struct FileBytes {
  std::string path;
  std::shared_ptr<Buffer> buffer;
  std::string_view bytes;
};
FileBytes load_bytes(const std::string& path);
/// The lines of a text, as read_lines defines them.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace tercet
