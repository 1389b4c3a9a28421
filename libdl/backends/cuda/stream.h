// SPDX-License-Identifier: Apache-2.0

// The table's functions for memory, copies, streams and events.
#pragma once

#include "device/backend.h"

namespace libdl::cuda {

// The functions of the table, under the names they have there.
size_t granule(int32_t device);
libdl_error* reserve(int32_t device, size_t bytes, void** data);
libdl_error* commit(int32_t device, void* at, size_t bytes, size_t piece, int32_t* granted);
void decommit(int32_t device, void* at, size_t bytes);
void unreserve(int32_t device, void* data, size_t bytes);
libdl_error* allocate(int32_t device, size_t bytes, void** data);
void free(int32_t device, void* data);
libdl_error* host_allocate(int32_t device, size_t bytes, void** data);
void host_free(int32_t device, void* data);
libdl_error* copy(int32_t device, void* to, const void* from, size_t bytes, void* stream);
libdl_error* fill(int32_t device, void* to, int32_t byte, size_t bytes, void* stream);

libdl_error* stream_create(int32_t device, int32_t priority, void** stream);
void stream_destroy(int32_t device, void* stream);
libdl_error* stream_query(int32_t device, void* stream, int32_t* done);
libdl_error* stream_synchronize(int32_t device, void* stream);
libdl_error* device_synchronize(int32_t device);
libdl_error* event_create(int32_t device, int32_t timing, void** event);
void event_destroy(int32_t device, void* event);
libdl_error* event_record(int32_t device, void* event, void* stream);
libdl_error* stream_wait(int32_t device, void* stream, void* event);
libdl_error* event_query(int32_t device, void* event, int32_t* done);
libdl_error* event_synchronize(int32_t device, void* event);
libdl_error* event_elapsed(int32_t device, void* first, void* second, double* milliseconds);

// Multiprocessors of a device.
int32_t processors(int32_t device);

}  // namespace libdl::cuda
