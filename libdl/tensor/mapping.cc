// SPDX-License-Identifier: Apache-2.0

#include "tensor/mapping.h"

#include <cstring>

#include "base/contained.h"
#include "device/device.h"
#include "device/meta.h"
#include "tensor/row_major.h"

using namespace libdl;

libdl_mapping::libdl_mapping(const Tensor& x, bool writing)
    : Handle(Tag::kMapping), writes(writing) {
  if (writing) check_host_may_write(x, "tensor_map");
  if (x.is_number()) {
    std::memcpy(value, x.read_plain(), sizeof value);
    return;
  }
  check_on_host(x, "tensor_map");
  storage = Ref<Storage>::share(&x.storage());
  first = x.plain(writing ? Access::kUpdate : Access::kRead);
  if (writes) begin_export(written, x);
}

libdl_mapping::~libdl_mapping() {
  if (writes) end_export(written, "tensor_unmap");
}

namespace libdl {

void check_on_host(const Tensor& x, const char* op) {
  if (!x.device().is_cpu())
    fail_argument(LIBDL_ERROR_DEVICE, op, "tensor", "is on " + device_name(x.device()),
                  "one on the CPU: copy it there first");
}

void check_host_may_write(const Tensor& x, const char* op) {
  if (x.is_number())
    fail_argument(LIBDL_ERROR_VALUE, op, "tensor", "is a host number", "a tensor to write to");
  if (x.storage().read_only)
    fail_argument(LIBDL_ERROR_READ_ONLY, op, "tensor", "may not be written",
                  "one that may, or access for reading");
}

namespace {

struct Release {
  void (*release)(void*);
  void* context;
  ~Release() { run_destroy(release, context); }
};

void check_memory(const void* data, int64_t bytes, Dtype dtype) {
  const char* const op = "tensor_from_memory";
  if (bytes < 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "data", "has " + std::to_string(bytes) + " bytes",
                  "0 or more");
  if (!data && bytes)
    fail_argument(LIBDL_ERROR_NULL, op, "data", "is NULL", "memory of `bytes` bytes");
  const auto alignment = static_cast<uintptr_t>(size_of(real_of(dtype)));
  if (reinterpret_cast<uintptr_t>(data) % alignment)
    fail_argument(LIBDL_ERROR_VALUE, op, "data", "is not aligned to its elements",
                  "a multiple of " + std::to_string(alignment) + " for " + name_of(dtype));
}

void check_bytes(const char* op, const Tensor& x, const void* data, int64_t bytes) {
  if (!data && bytes) fail_argument(LIBDL_ERROR_NULL, op, "data", "is NULL", "a buffer");
  if (bytes != byte_count(x))
    fail_argument(LIBDL_ERROR_VALUE, op, "data", "has " + std::to_string(bytes) + " bytes",
                  std::to_string(byte_count(x)) + " for " + name_of(x.dtype()) + " of shape " +
                      to_string(x.shape()));
}

}  // namespace

Tensor from_memory(void* data, int64_t bytes, Dims shape, std::optional<Dims> strides,
                   int64_t offset, Dtype dtype, bool read_only, void (*release)(void*),
                   void* context) {
  const char* const op = "tensor_from_memory";
  Release guard{release, context};
  check_memory(data, bytes, dtype);
  const int64_t numel = checked_numel(shape, dtype, op, "shape");
  if (strides && strides->size() != shape.size())
    fail_argument(LIBDL_ERROR_SHAPE, op, "strides",
                  "has " + std::to_string(strides->size()) + " entries",
                  std::to_string(shape.size()) + ", one a dimension");
  const Shape row_major = contiguous_strides(shape);
  if (offset < 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "offset", "is " + std::to_string(offset), "0 or more");
  const int64_t capacity = bytes / static_cast<int64_t>(size_of(dtype));
  if (!strides && numel > 0 && (numel > capacity || offset > capacity - numel))
    fail(LIBDL_ERROR_VALUE, op,
         "data has " + std::to_string(bytes) + " bytes, wanted room for " + name_of(dtype) +
             " of shape " + to_string(shape) + " behind " + std::to_string(offset) + " elements");
  guard.release = nullptr;  // adopt_storage answers for it from here on
  Ref<Storage> storage =
      adopt_storage(data, static_cast<size_t>(bytes), {}, read_only, release, context);
  export_for_good(*storage);  // read-only is a promise of ours: its owner may write at any time
  return over_storage(std::move(storage), shape,
                      strides ? *strides : Dims(row_major.data(), row_major.size()), offset, dtype,
                      op, strides ? "strides" : nullptr);
}

void copy_out(const Tensor& x, void* data, int64_t bytes) {
  check_has_values("tensor_copy_out", x.device());
  check_bytes("tensor_copy_out", x, data, bytes);
  read_elements(x, data);
}

void copy_in(const Tensor& x, const void* data, int64_t bytes) {
  const char* const op = "tensor_copy_in";
  check_host_may_write(x, op);
  check_bytes(op, x, data, bytes);
  if (overlaps_itself(x))
    fail_argument(LIBDL_ERROR_OVERLAP, op, "tensor", "overlaps itself",
                  "elements with addresses of their own");
  write_elements(x, data);
  written(x, op);
}

void destroy(libdl_mapping* mapping) { delete mapping; }

}  // namespace libdl
