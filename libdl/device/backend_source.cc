// SPDX-License-Identifier: Apache-2.0

#include "device/backend_source.h"

#include <algorithm>

#include "base/error.h"
#include "device/device.h"

namespace libdl {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// The allocator's own waits have nobody to tell an error to: a fault of the device comes out of the
// next call that has.
bool succeeded(libdl_error* error) {
  if (!error) return true;
  Error::take(error);
  return false;
}

// Memory that the driver does not have is NULL; any other failure is no lack of memory.
void check_provided(libdl_error* error) {
  if (!error) return;
  Error failure = Error::take(error);
  if (failure.code() != LIBDL_ERROR_OUT_OF_MEMORY) check_backend(failure.release());
}

}  // namespace

BackendSource::BackendSource(const Backend& backend, int32_t device)
    : backend_(backend),
      device_(device),
      granule_(backend.granule ? backend.granule(device) : 0),
      total_(0) {
  DeviceProperties properties = {};
  properties.struct_size = sizeof properties;
  if (succeeded(backend_.properties(device_, &properties))) {
    total_ = static_cast<size_t>(properties.total_memory);
  }
}

// With virtual memory one range as large as the device; else small blocks share 2 MB, medium ones
// 20 MB, and large ones have their own.
void* BackendSource::reserve(size_t& bytes, bool small) {
  void* data = nullptr;
  if (granule_) {
    const size_t wanted = round_up(std::max(bytes, small ? total_ / 16 : total_), granule_);
    check_provided(backend_.reserve(device_, wanted, &data));
    if (!data) return nullptr;
    bytes = wanted;
    return data;
  }
  const size_t shared = small ? 2 * kMegabyte : 20 * kMegabyte;
  const size_t least = round_up(bytes, 2 * kMegabyte);
  for (size_t wanted : {least < shared / 2 ? shared : least, least}) {
    check_provided(backend_.allocate(device_, wanted, &data));
    if (!data) continue;
    bytes = wanted;
    return data;
  }
  return nullptr;
}

void BackendSource::release(void* base, size_t bytes) {
  if (granule_) {
    backend_.unreserve(device_, base, bytes);
  } else {
    backend_.free(device_, base);
  }
}

bool BackendSource::commit(void* at, size_t bytes) {
  int32_t granted = 0;
  return succeeded(backend_.commit(device_, at, bytes, &granted)) && granted;
}

void BackendSource::decommit(void* at, size_t bytes) { backend_.decommit(device_, at, bytes); }

// Without an event the safe way is to wait here.
void* BackendSource::record(void* stream) {
  void* event = nullptr;
  if (succeeded(backend_.event_create(device_, 0, &event)) &&
      succeeded(backend_.event_record(device_, event, stream))) {
    return event;
  }
  if (event) backend_.event_destroy(device_, event);
  succeeded(backend_.stream_synchronize(device_, stream));
  return nullptr;
}

void BackendSource::wait(void* stream, void* event) {
  if (!succeeded(backend_.stream_wait(device_, stream, event))) {
    succeeded(backend_.event_synchronize(device_, event));
  }
  backend_.event_destroy(device_, event);
}

void BackendSource::synchronize() { succeeded(backend_.device_synchronize(device_)); }

}  // namespace libdl
