// Arrays over memory of the host's.
#pragma once
#include "embed/handles.h"

namespace tercet::embed {

/// The array of a value; Misuse when it is none.
Array array_of(const tct_value* value);
DType dtype_of(tct_dtype dtype);
Shape shape_of(int32_t ndim, const int64_t* shape);
/// An array over the memory, which `owner` keeps; a copy where it is not row-major (strides in elements, null: it is) or
/// not aligned to its elements.
Array borrow(DType dtype, const Shape& shape, const int64_t* strides, const void* data, Owner owner);

}  // namespace tercet::embed
