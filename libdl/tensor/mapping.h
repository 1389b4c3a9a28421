// SPDX-License-Identifier: Apache-2.0

// The host's access to a tensor's bytes, and host memory as a tensor.
#pragma once

#include "base/handle.h"
#include "tensor/export.h"
#include "tensor/tensor.h"

// Temporary access. The end of a writable one raises the version.
struct libdl_mapping : libdl::Handle<libdl_mapping> {
  libdl_mapping(const libdl::Tensor& x, bool writes);
  ~libdl_mapping();

  void* data() const { return storage ? first : const_cast<int64_t*>(value); }

  libdl::Ref<libdl::Storage> storage;  // empty for host numbers
  libdl::WritableExport written;
  void* first = nullptr;
  bool writes;
  int64_t value[2] = {};  // a host number's own
};

namespace libdl {

// Throws DEVICE for memory that the host cannot access.
void check_on_host(const Tensor& x, const char* op);

// Throws READ_ONLY for read-only memory, VALUE for host numbers.
void check_host_may_write(const Tensor& x, const char* op);

// Host memory of `bytes` bytes as a tensor whose element 0 is `offset` elements after `data`.
// release(context) runs exactly once, even when this throws. Without strides it is row-major.
Tensor from_memory(void* data, int64_t bytes, Dims shape, std::optional<Dims> strides,
                   int64_t offset, Dtype dtype, bool read_only, void (*release)(void*),
                   void* context);

// Copies the elements in row-major order; `bytes` must be exactly their size.
void copy_out(const Tensor& x, void* data, int64_t bytes);
void copy_in(const Tensor& x, const void* data, int64_t bytes);

}  // namespace libdl
