// SPDX-License-Identifier: Apache-2.0

#include "device/backend_source.h"

#include <algorithm>

#include "base/error.h"
#include "device/events.h"
#include "device/tables.h"
#include "runtime/mechanism.h"

namespace libdl {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
// Each piece of memory costs some calls of the driver; large blocks fill larger ones.
constexpr size_t kLargeGranule = 16 * kMegabyte;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Memory that the driver does not have is NULL; any other failure is no lack of memory.
void check_provided(libdl_error* error) {
  if (!error) return;
  Error failure = Error::take(error);
  if (failure.code() != LIBDL_ERROR_OUT_OF_MEMORY) check_backend(failure.release());
}

}  // namespace

bool BackendSource::succeeded(libdl_error* error) {
  if (!error) return true;
  Error::take(error);
  return false;
}

BackendSource::BackendSource(const Backend& backend, int32_t device)
    : backend_(backend), device_(device) {
  if (backend.granule && !left_out(Mechanism::kAllocator) && !left_out(Mechanism::kGrowing)) {
    granule_ = backend.granule(device);
    large_granule_ = round_up(kLargeGranule, std::max<size_t>(granule_, 1)) * (granule_ > 0);
  }
  DeviceProperties properties = {};
  properties.struct_size = sizeof properties;
  if (succeeded(backend_.properties(device_, &properties))) {
    total_ = static_cast<size_t>(properties.total_memory);
  }
}

size_t BackendSource::rounding() { return left_out(Mechanism::kAllocator) ? 256 : 512; }

// With virtual memory one range as large as the device; else small blocks share 2 MB, medium ones
// 20 MB, and large ones have their own. Without the allocator each block has.
void* BackendSource::reserve(size_t& bytes, bool small) {
  void* data = nullptr;
  if (granule_) {
    const size_t requested =
        round_up(std::max(bytes, small ? total_ / 16 : total_), granule(small));
    check_provided(backend_.reserve(device_, requested, &data));
    if (!data) return nullptr;
    bytes = requested;
    return data;
  }
  const bool caches = !left_out(Mechanism::kAllocator);
  const size_t shared = !caches ? 0 : small ? 2 * kMegabyte : 20 * kMegabyte;
  const size_t least = caches ? round_up(bytes, 2 * kMegabyte) : bytes;
  for (size_t size : {least < shared / 2 ? shared : least, least}) {
    check_provided(backend_.allocate(device_, size, &data));
    if (!data) continue;
    bytes = size;
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

bool BackendSource::commit(void* at, size_t bytes, bool small) {
  int32_t granted = 0;
  check_provided(backend_.commit(device_, at, bytes, granule(small), &granted));
  return granted != 0;
}

void BackendSource::decommit(void* at, size_t bytes) { backend_.decommit(device_, at, bytes); }

// Without an event the safe way is to wait here.
void* BackendSource::record(void* stream) {
  void* event = nullptr;
  if (succeeded(take_event(backend_, device_, &event)) &&
      succeeded(backend_.event_record(device_, event, stream))) {
    return event;
  }
  if (event) give_event(backend_, device_, event);
  succeeded(backend_.stream_synchronize(device_, stream));
  return nullptr;
}

bool BackendSource::done(void* event) {
  int32_t over = 0;
  if (!succeeded(backend_.event_query(device_, event, &over)))
    succeeded(backend_.event_synchronize(device_, event));
  else if (!over)
    return false;
  give_event(backend_, device_, event);
  return true;
}

void BackendSource::wait(void* stream, void* event) {
  if (!succeeded(backend_.stream_wait(device_, stream, event))) {
    succeeded(backend_.event_synchronize(device_, event));
  }
  give_event(backend_, device_, event);
}

void BackendSource::synchronize() { succeeded(backend_.device_synchronize(device_)); }

}  // namespace libdl
