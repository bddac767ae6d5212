// Arrays in and out: views, borrowed memory, copies, strings.
#include "embed/arrays.h"

#include <cstring>

#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/unicode.h"

using namespace tercet;
using namespace tercet::embed;

namespace tercet::embed {

Array array_of(const tct_value* value) {
  require(value, "the value is NULL");
  const Array* a = value->value.leaf();
  require(a, "the value is no array");
  return *a;
}

DType dtype_of(tct_dtype dtype) {
  require(dtype >= TCT_BOOL && dtype <= TCT_F64, "an unknown dtype, or one that is not made of numbers");
  return static_cast<DType>(dtype);
}

Shape shape_of(int32_t ndim, const int64_t* shape) {
  require(ndim >= 0 && ndim <= max_rank, "an array has 0 to 16 axes");
  require(shape || ndim == 0, "the shape is NULL");
  Shape out;
  for (int32_t k = 0; k < ndim; ++k) {
    require(shape[k] >= 0, "a size is negative");
    out.push_back(shape[k]);
  }
  element_count(out);   // refuses what does not fit
  return out;
}

namespace {

bool is_row_major(const Shape& shape, const int64_t* strides) {
  if (!strides) return true;
  int64_t step = 1;
  for (size_t k = shape.size(); k-- > 0; step *= shape[k])
    if (shape[k] != 1 && strides[k] != step) return false;
  return true;
}

/// Elements of a strided array in row-major order.
void gather(const Shape& shape, const int64_t* strides, const std::byte* from, size_t width, std::byte* to) {
  const int64_t n = element_count(shape);
  std::array<int64_t, max_rank> index{};
  for (int64_t i = 0; i < n; ++i, to += width) {
    int64_t at = 0;
    for (size_t k = 0; k < shape.size(); ++k) at += index[k] * strides[k];
    std::memcpy(to, from + at * static_cast<int64_t>(width), width);
    for (size_t k = shape.size(); k-- > 0;)
      if (++index[k] < shape[k]) break;
      else index[k] = 0;
  }
}

}  // namespace

Array borrow(DType dtype, const Shape& shape, const int64_t* strides, const void* data, Owner owner) {
  const int64_t n = element_count(shape);
  require(data || n == 0, "the data is NULL");
  const size_t width = size_of(dtype);
  bool fits = reinterpret_cast<uintptr_t>(data) % width == 0;
  if (n && fits && is_row_major(shape, strides)) {
    Array out;
    out.dtype = dtype;
    out.shape = shape;
    out.buffer = Buffer::borrow(data, n * static_cast<int64_t>(width), std::move(owner));
    return out;
  }
  Array out = Array::make(dtype, shape);
  const auto* from = static_cast<const std::byte*>(data);
  if (n && is_row_major(shape, strides)) std::memcpy(static_cast<void*>(out.raw()), from, static_cast<size_t>(out.bytes()));
  else if (n) gather(shape, strides, from, width, out.raw());
  return out;
}

}  // namespace tercet::embed

extern "C" {

TCT_API tct_status tct_array_get_view(const tct_value* value, tct_array_view* out_view, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_view, "out_view is NULL");
    require(value && value->value.leaf(), "the value is no array");
    const Array& a = *value->value.leaf();
    *out_view = {a.buffer ? a.raw() : nullptr, a.shape.begin(), total_elements(a), a.rank(), static_cast<tct_dtype>(a.dtype)};
    return TCT_OK;
  });
}

TCT_API tct_status tct_array_offsets(const tct_value* value, int32_t axis, const int64_t** out_offsets, size_t* out_rows, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_offsets && out_rows, "out_offsets or out_rows is NULL");
    require(value && value->value.leaf(), "the value is no array");
    const Array& a = *value->value.leaf();
    require(a.ragged && axis >= 0 && static_cast<size_t>(axis) < a.ragged->offsets.size(), "the array has no such axis with rows of different length");
    const std::vector<int64_t>& offsets = a.ragged->offsets[static_cast<size_t>(axis)];
    *out_offsets = offsets.data();
    *out_rows = offsets.size() - 1;
    return TCT_OK;
  });
}

TCT_API tct_status tct_array_text(const tct_value* value, int64_t index, tct_str* out_text, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_text, "out_text is NULL");
    require(value && value->value.leaf(), "the value is no array");
    const Array& a = *value->value.leaf();
    require(a.dtype == DType::Str, "the array holds no strings");
    require(index >= 0 && index < total_elements(a), "the index is out of range");
    std::string_view text = a.data<StringRef>()[index].view();
    *out_text = {text.data(), text.size()};
    return TCT_OK;
  });
}

TCT_API tct_status tct_array_borrow(tct_dtype dtype, int32_t ndim, const int64_t* shape, const int64_t* strides, const void* data,
                                    void* owner, void (*drop)(void*), tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    Owner taken = take_owner(owner, drop);
    require(out_value, "out_value is NULL");
    *out_value = new_value(borrow(dtype_of(dtype), shape_of(ndim, shape), strides, data, std::move(taken)));
    return TCT_OK;
  });
}

TCT_API tct_status tct_array_copy(tct_dtype dtype, int32_t ndim, const int64_t* shape, const void* data, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_value, "out_value is NULL");
    Array out = Array::make(dtype_of(dtype), shape_of(ndim, shape));
    require(data || out.count() == 0, "the data is NULL");
    if (out.count()) std::memcpy(static_cast<void*>(out.raw()), data, static_cast<size_t>(out.bytes()));
    *out_value = new_value(std::move(out));
    return TCT_OK;
  });
}

TCT_API tct_status tct_array_texts(int32_t ndim, const int64_t* shape, const tct_str* texts, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_value, "out_value is NULL");
    Shape sizes = shape_of(ndim, shape);
    const int64_t n = element_count(sizes);
    require(texts || n == 0, "the texts are NULL");
    std::vector<std::string_view> views;
    for (int64_t i = 0; i < n; ++i) {
      views.push_back(view_of(texts[i]));
      if (!is_valid_utf8(views.back())) fail(Kind::Value, {}, "text " + std::to_string(i) + " is not UTF-8");
    }
    *out_value = new_value(Array::strings(views).reshaped(sizes));
    return TCT_OK;
  });
}

TCT_API tct_status tct_scalar_f64(double number, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_value, "out_value is NULL");
    *out_value = new_value(Array::scalar(number));
    return TCT_OK;
  });
}
TCT_API tct_status tct_scalar_i64(int64_t number, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_value, "out_value is NULL");
    *out_value = new_value(Array::scalar(number));
    return TCT_OK;
  });
}

}  // extern "C"
