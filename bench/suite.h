// A suite: one text with the programs of all rows of the benchmark.
//
// A row begins at a line `#= NAME TITLE`. The lines after it are its program, which is run once before anything is
// timed, and among them lines `#: KEY VALUE`:
//   input NAME DTYPE[SIZES] LOW HIGH   a global; elements are a formula of their place (input_array below)
//   time EXPR                          what is timed
//   calls N                            EXPR is evaluated N times in a loop of the program; the time is that of one
//   anything else                      for the reader of the rows (bytes, flops, tolerance, ...)
// Text before the first row belongs to all. Error: std::runtime_error naming the line.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "interpreter/runtime/array.h"

namespace tercet::bench {

struct Input {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  double low = 0, high = 1;
};

struct Row {
  std::string name, title, program, time;
  int64_t calls = 1;
  std::vector<Input> inputs;
  std::map<std::string, std::string> notes;  // the other keys
};

std::vector<Row> read_suite(const std::string& path);

/// Element i is low + (high - low) * u rounded to f32, or low + h % (high - low) for integers, where h is Wellons'
/// lowbias32 hash of i + FNV-1a(name) and u its upper 24 bits as a fraction. bench/inputs.py computes the same.
Array input_array(const Input& input);

}  // namespace tercet::bench
