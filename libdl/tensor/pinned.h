// SPDX-License-Identifier: Apache-2.0

// Storages of the CPU in memory that a device copies from and to by itself.
#pragma once

#include "tensor/storage.h"

namespace libdl {

// Throws Error(UNSUPPORTED, DEVICE or OUT_OF_MEMORY).
Ref<Storage> allocate_pinned(size_t bytes, Device device);

bool is_pinned(const Storage& storage);
bool is_pinned_for(const Storage& storage, Device device);

// Before a copy is queued on the device's current stream: when the storage goes, its memory is kept
// until that stream's work is done. Throws Error(OUT_OF_MEMORY).
void used_by_copy(Storage& storage, Device device);

}  // namespace libdl
