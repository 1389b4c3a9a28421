// SPDX-License-Identifier: Apache-2.0

// How storages begin, are written, and end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tensor/storage.h"

namespace libdl {

// Fresh, uninitialised bytes. Throws Error(OUT_OF_MEMORY).
Ref<Storage> allocate_storage(size_t bytes, Device device);
// A storage in host memory without plain bytes: the caller gives it a form.
Ref<Storage> storage_without_bytes(size_t bytes);

// Notes that work on the current stream uses a device's memory that was allocated on another
// stream: the memory is not reused before that work is done. Throws Error(OUT_OF_MEMORY).
void used_on_current_stream(Storage& storage);

// Foreign memory; release(context) runs exactly once, on any thread, even when this throws.
Ref<Storage> adopt_storage(void* data, size_t bytes, Device device, bool read_only,
                           void (*release)(void*), void* context);

// A hidden representation was made of the storage's bytes: counts it, and warns if warnings are on
// (state mode kModeCheckCopies).
void count_conversion(Storage& storage, const char* op);
int64_t conversions();
// The warning's receiver; NULL: none.
extern std::atomic<void (*)(const char* op, size_t bytes)> conversion_warning;

// In anomaly mode: returns the host program's current line as text that is never freed; NULL: not
// set.
extern const char* (*write_site)();

// After a successful write: raises the version and records the operator.
void written(Storage& storage, const char* op);

}  // namespace libdl
