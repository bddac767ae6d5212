// What a written index is made of.
#pragma once
#include "interpreter/elaborate/elaborator.h"

namespace tercet {

/// How each axis of x is read.
struct Elaborator::IndexPart {
  /// Gap: `...` that stands for no axis; it keeps index arrays apart all the same.
  enum class Form : uint8_t { Whole, Slice, Fixed, Window, Array, NewAxis, Gap } form = Form::Whole;
  /// It stands for an axis of x.
  bool has_axis() const { return form != Form::NewAxis && form != Form::Gap; }
  int64_t axis = 0;
  Dim start, size;         // Slice, Fixed (one element), Window (size)
  int64_t step = 1;
  Leaf index;              // Array: integers; Window: the start
  bool strided = false;   // a slice whose step is known only when it runs
};

}  // namespace tercet
