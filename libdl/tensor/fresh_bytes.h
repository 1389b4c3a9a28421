// SPDX-License-Identifier: Apache-2.0

// Host memory for a form or for plain bytes that is not a storage's yet.
#pragma once

#include "memory/allocator.h"

namespace libdl {

// Freed unless a storage took it: the taker sets data to NULL.
struct FreshBytes {
  explicit FreshBytes(size_t n) : bytes(n), data(host_allocator().allocate(n)) {}
  ~FreshBytes() {
    if (data) host_allocator().deallocate(data, bytes);
  }
  FreshBytes(const FreshBytes&) = delete;
  FreshBytes& operator=(const FreshBytes&) = delete;
  size_t bytes;
  void* data;
};

}  // namespace libdl
