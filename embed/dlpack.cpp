// DLPack 1.x (https://dmlc.github.io/dlpack): tensors handed from library to library. The structures are those of its
// specification, for memory of the CPU.
#include "embed/arrays.h"

using namespace tercet;
using namespace tercet::embed;

extern "C" {

struct DLPackVersion { uint32_t major, minor; };
struct DLDevice { int32_t device_type, device_id; };
struct DLDataType { uint8_t code, bits; uint16_t lanes; };
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;      // in elements; null: row-major (before 1.2)
  uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

namespace {

constexpr uint32_t our_major = 1, our_minor = 0;
constexpr uint64_t flag_read_only = 1;
constexpr int32_t cpu = 1, cpu_pinned = 3;   // kDLCPU, kDLCUDAHost
enum Code : uint8_t { Int = 0, UInt = 1, Float = 2, Bfloat = 4, Bool = 6 };

Code code_of(DType t) {
  if (t == DType::Bool) return Bool;
  if (t == DType::BF16) return Bfloat;
  return is_float(t) ? Float : is_signed_int(t) ? Int : UInt;
}

DType dtype_from(DLDataType t) {
  require(t.lanes == 1, "a DLPack tensor of vectors");
  for (int d = 0; d <= static_cast<int>(DType::F64); ++d) {
    auto dtype = static_cast<DType>(d);
    if (code_of(dtype) == t.code && size_of(dtype) * 8 == t.bits) return dtype;
  }
  throw Misuse{"a DLPack tensor of a dtype that Tercet does not have"};
}

/// What a tensor that goes out keeps.
struct Exported {
  Array array;
  DLManagedTensorVersioned tensor{};
  std::array<int64_t, max_rank> strides{};
};

void delete_exported(DLManagedTensorVersioned* tensor) { delete static_cast<Exported*>(tensor->manager_ctx); }

void delete_imported(void* tensor) {
  auto* t = static_cast<DLManagedTensorVersioned*>(tensor);
  if (t->deleter) t->deleter(t);
}

}  // namespace

extern "C" {

TCT_API tct_status tct_to_dlpack(const tct_value* value, DLManagedTensorVersioned** out_tensor, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_tensor, "out_tensor is NULL");
    auto out = std::make_unique<Exported>();
    out->array = array_of(value);
    Array& a = out->array;
    require(a.dtype <= DType::F64, "DLPack has numbers and bools only");
    require(!a.ragged, "DLPack has no rows of different length");
    int64_t step = 1;
    for (size_t k = a.shape.size(); k-- > 0; step *= a.shape[k]) out->strides[k] = step;
    DLManagedTensorVersioned& t = out->tensor;
    t.version = {our_major, our_minor};
    t.manager_ctx = out.get();
    t.deleter = delete_exported;
    t.flags = flag_read_only;   // other values may share the memory
    t.dl_tensor = {a.count() ? a.raw() : nullptr, {cpu, 0}, a.rank(), {code_of(a.dtype), static_cast<uint8_t>(size_of(a.dtype) * 8), 1}, a.shape.begin(), out->strides.data(), 0};
    *out_tensor = &out.release()->tensor;
    return TCT_OK;
  });
}

TCT_API tct_status tct_from_dlpack(DLManagedTensorVersioned* tensor, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(tensor, "the tensor is NULL");
    if (tensor->version.major != our_major) {   // nothing behind the version can be relied on but the deleter's place
      delete_imported(tensor);
      throw Misuse{"a DLPack tensor of another major version than 1"};
    }
    Owner owner = take_owner(tensor, delete_imported);
    require(out_value, "out_value is NULL");
    const DLTensor& t = tensor->dl_tensor;
    require(t.device.device_type == cpu || t.device.device_type == cpu_pinned, "a DLPack tensor that is not in memory of the CPU");
    const auto* data = static_cast<const std::byte*>(t.data);
    Shape shape = shape_of(t.ndim, t.shape);
    *out_value = new_value(borrow(dtype_from(t.dtype), shape, t.strides, data ? data + t.byte_offset : nullptr, std::move(owner)));
    return TCT_OK;
  });
}

}  // extern "C"
