// SPDX-License-Identifier: Apache-2.0

#include <libdl/exchange.h>

#include <cstring>

#include "base/contained.h"
#include "capi/arguments.h"
#include "capi/history.h"
#include "capi/options.h"
#include "capi/scope.h"
#include "device/device.h"
#include "device/meta.h"
#include "device/stream.h"
#include "tensor/dlpack.h"
#include "tensor/mapping.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

bool for_writing(const char* function, libdl_access access) {
  if (access != LIBDL_ACCESS_READ && access != LIBDL_ACCESS_WRITE)
    fail_argument(LIBDL_ERROR_VALUE, function, "access", "is " + std::to_string(access),
                  "LIBDL_ACCESS_READ or LIBDL_ACCESS_WRITE");
  return access == LIBDL_ACCESS_WRITE;
}

CopyPolicy copy_policy(const char* function, const char* name, libdl_copy_policy copy) {
  if (copy < LIBDL_COPY_IF_NEEDED || copy > LIBDL_COPY_NEVER)
    fail_argument(LIBDL_ERROR_VALUE, function, name, "says copy " + std::to_string(copy),
                  "a LIBDL_COPY_ constant");
  return static_cast<CopyPolicy>(copy);
}

void refuse_history(const char* function, const Tensor& x, const char* wanted) {
  if (current_history(x))
    fail_argument(LIBDL_ERROR_AUTOGRAD, function, "tensor", "requires grad", wanted);
}

ExportOptions export_options(const char* function, const Tensor& x,
                             const libdl_dlpack_options* source) {
  const libdl_dlpack_options options = read_options(function, source);
  if (!options.detach) refuse_history(function, x, "a detached tensor, or the option detach");
  ExportOptions to;
  to.copy = copy_policy(function, "options", options.copy);
  to.device = {options.device.type, options.device.index};
  to.stream = options.stream;
  to.max_major = options.max_major;
  to.max_minor = options.max_minor;
  to.read_only = options.read_only;
  return to;
}

// Refuses a live handle passed instead of a struct. A struct begins with its version or with
// the address of its data, and a tag followed by a count is neither.
void refuse_handle(const char* function, const void* managed) {
  uint64_t word;
  std::memcpy(&word, managed, sizeof word);
  const auto tag = static_cast<uint32_t>(word);
  const uint64_t count = word >> 32;
  if (tag < static_cast<uint32_t>(Tag::kTensor) || tag > static_cast<uint32_t>(Tag::kText)) return;
  if (count < 1 || count > 0xffff) return;
  fail_argument(LIBDL_ERROR_KIND, function, "managed", "is " + kind_of(managed),
                "a struct of DLPack's");
}

// The struct is taken over in any case.
template <class M>
libdl_error* import(const char* function, M* managed, libdl_copy_policy copy, libdl_tensor** out) {
  return door(function, [&] {
    not_null(function, "managed", managed, "a struct");
    refuse_handle(function, managed);
    try {
      output(function, "out", out);
      copy_policy(function, "copy", copy);
    } catch (...) {
      if (managed->deleter) contained([&] { managed->deleter(managed); });
      throw;
    }
    *out = to_c(from_dlpack(managed, static_cast<CopyPolicy>(copy)));
  });
}

}  // namespace

// -- bytes ----------------------------------------------------------------------------------

libdl_error* libdl_tensor_map(const libdl_tensor* tensor, libdl_access access, void** data,
                              libdl_mapping** out) {
  constexpr const char* name = "tensor_map";
  return door(name, [&] {
    const Tensor& x = live_tensor(name, "tensor", tensor);
    const bool writes = for_writing(name, access);
    output(name, "data", data);
    output(name, "out", out);
    libdl_mapping* const mapping = new libdl_mapping(x, writes);
    *data = mapping->data();
    *out = mapping;
  });
}

void libdl_tensor_unmap(libdl_mapping* mapping) {
  if (is_kind("libdl_tensor_unmap", "mapping", mapping, Tag::kMapping)) delete mapping;
}

libdl_error* libdl_tensor_data(const libdl_tensor* tensor, libdl_access access, void** out) {
  constexpr const char* name = "tensor_data";
  return door(name, [&] {
    const Tensor& x = live_tensor(name, "tensor", tensor);
    output(name, "out", out);
    check_has_values(name, x.device());
    if (for_writing(name, access)) {
      check_host_may_write(x, name);
      export_for_good(x.storage());
    }
    if (!x.is_number()) x.storage().pointed_at.store(true, std::memory_order_relaxed);
    *out = x.plain(access == LIBDL_ACCESS_READ ? Access::kRead : Access::kUpdate);
  });
}

libdl_error* libdl_tensor_from_memory(void* data, int64_t bytes, const int64_t* shape, int32_t ndim,
                                      const int64_t* strides, int32_t strides_count, int64_t offset,
                                      libdl_dtype dtype, libdl_bool read_only, void* ctx,
                                      void (*destroy)(void* ctx), libdl_tensor** out) {
  constexpr const char* name = "tensor_from_memory";
  return door(name, [&] {
    std::optional<Dims> steps;
    try {
      if (ndim < 0 || strides_count < 0)
        fail_argument(LIBDL_ERROR_VALUE, name, ndim < 0 ? "shape" : "strides",
                      "has the length " + std::to_string(ndim < 0 ? ndim : strides_count),
                      "one that is not negative");
      if (ndim > 0) not_null(name, "shape", shape, "sizes");
      if (!is_dtype(dtype))
        fail_argument(LIBDL_ERROR_DTYPE, name, "dtype", "is " + std::to_string(dtype),
                      "a LIBDL_DTYPE_ constant other than NONE");
      output(name, "out", out);
      if (strides) steps = Dims(strides, static_cast<size_t>(strides_count));
    } catch (...) {
      run_destroy(destroy, ctx);
      throw;
    }
    *out = to_c(from_memory(data, bytes, Dims(shape, static_cast<size_t>(ndim)), steps, offset,
                            static_cast<Dtype>(dtype), read_only, destroy, ctx));
  });
}

libdl_error* libdl_tensor_copy_out(const libdl_tensor* tensor, void* data, int64_t bytes) {
  constexpr const char* name = "tensor_copy_out";
  return door(name, [&] { copy_out(live_tensor(name, "tensor", tensor), data, bytes); });
}

libdl_error* libdl_tensor_copy_in(libdl_tensor* tensor, const void* data, int64_t bytes) {
  constexpr const char* name = "tensor_copy_in";
  return door(name, [&] {
    const libdl_tensor* const handle = tensor;
    const Tensor& x = live_tensor(name, "tensor", handle);
    if (state().mode & kModeGrad) refuse_history(name, x, "recording to be off, or a detached one");
    copy_in(x, data, bytes);
  });
}

// -- DLPack ---------------------------------------------------------------------------------

libdl_error* libdl_tensor_to_dlpack(const libdl_tensor* tensor, const libdl_dlpack_options* options,
                                    struct DLManagedTensorVersioned** out) {
  constexpr const char* name = "tensor_to_dlpack";
  return door(name, [&] {
    const Tensor& x = live_tensor(name, "tensor", tensor);
    output(name, "out", out);
    *out =
        reinterpret_cast<DLManagedTensorVersioned*>(to_dlpack(x, export_options(name, x, options)));
  });
}

libdl_error* libdl_tensor_to_dlpack_unversioned(const libdl_tensor* tensor,
                                                const libdl_dlpack_options* options,
                                                struct DLManagedTensor** out) {
  constexpr const char* name = "tensor_to_dlpack_unversioned";
  return door(name, [&] {
    const Tensor& x = live_tensor(name, "tensor", tensor);
    output(name, "out", out);
    *out = reinterpret_cast<DLManagedTensor*>(
        to_dlpack_unversioned(x, export_options(name, x, options)));
  });
}

libdl_error* libdl_tensor_from_dlpack(struct DLManagedTensorVersioned* managed,
                                      libdl_copy_policy copy, libdl_tensor** out) {
  return import("tensor_from_dlpack", reinterpret_cast<dlpack::ManagedVersioned*>(managed), copy,
                out);
}

libdl_error* libdl_tensor_from_dlpack_unversioned(struct DLManagedTensor* managed,
                                                  libdl_copy_policy copy, libdl_tensor** out) {
  return import("tensor_from_dlpack_unversioned", reinterpret_cast<dlpack::Managed*>(managed), copy,
                out);
}

libdl_error* libdl_tensor_borrow_dlpack(const libdl_tensor* tensor, libdl_access access,
                                        void* dl_tensor) {
  constexpr const char* name = "tensor_borrow_dlpack";
  return door(name, [&] {
    const Tensor& x = live_tensor(name, "tensor", tensor);
    const bool writes = for_writing(name, access);
    output(name, "dl_tensor", dl_tensor);
    refuse_history(name, x, "a detached tensor");
    *static_cast<dlpack::Tensor*>(dl_tensor) = borrow_dlpack(x, writes);
  });
}

libdl_error* libdl_dlpack_allocate(const void* prototype, struct DLManagedTensorVersioned** out) {
  constexpr const char* name = "dlpack_allocate";
  return door(name, [&] {
    not_null(name, "prototype", prototype, "a DLTensor");
    output(name, "out", out);
    *out = reinterpret_cast<DLManagedTensorVersioned*>(
        allocate_dlpack(*static_cast<const dlpack::Tensor*>(prototype)));
  });
}

libdl_error* libdl_dlpack_current_stream(int32_t device_type, int32_t device_index, void** out) {
  constexpr const char* name = "dlpack_current_stream";
  return door(name, [&] {
    output(name, "out", out);
    const Device device{device_type, device_index};
    check_device(name, device);
    *out = device.is_cpu() ? nullptr : native_stream(device);
  });
}
