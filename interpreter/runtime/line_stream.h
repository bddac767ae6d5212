// The lines of a file, some at a time, so that memory is bounded by a chunk and not by the file.
//
// A place in a file is the number of lines read so far, -1 behind the last one. The stream that stands there is kept open
// between calls; asking for another place opens the file again and skips.
// Example:  LineChunk c = read_line_chunk("big.txt.gz", 0, 64'000);   // then read_line_chunk(path, c.next, …) until c.next < 0
#pragma once
#include <string>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/files.h"

namespace tercet {

struct LineChunk {
  Array lines;        // str[up to count]
  int64_t next = -1;  // where the rest begins
  double share = -1;  // of the file's bytes, read so far; -1: its size is not known
};
/// Lines as read_lines has them, of files that end in .gz and .zst too. Error `io` with line and byte for what is not UTF-8.
LineChunk read_line_chunk(const std::string& path, int64_t from, int64_t count, InvalidBytes invalid = InvalidBytes::Error);

}  // namespace tercet
