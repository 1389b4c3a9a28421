// SPDX-License-Identifier: Apache-2.0

#include "device/transfer.h"

#include <cstring>
#include <string>

#include "base/error.h"
#include "device/meta.h"
#include "device/staging.h"
#include "device/stream.h"
#include "runtime/log.h"

namespace libdl {

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                void* stream) {
  if (is_meta(from_device) && !is_meta(to_device)) fail_without_values("copy");
  const Device where = from_device.is_cpu() ? to_device : from_device;
  check_backend(backend(where.type).copy(where.index, to, from, bytes, stream));
}

std::atomic<int32_t> sync_debug_mode{LIBDL_SYNC_ALLOWED};

void about_to_wait(Device device, const char* why) {
  const int32_t mode = sync_debug_mode.load(std::memory_order_relaxed);
  if (mode == LIBDL_SYNC_ALLOWED) return;
  const std::string message = "the host waits for " + device_name(device) + ": " + why;
  if (mode == LIBDL_SYNC_FAILS) fail_unnamed(LIBDL_ERROR_STATE, message);
  warn(message.c_str());
}

void read_bytes(void* to, Device device, const void* from, size_t bytes) {
  if (!bytes) return;
  if (device.is_cpu()) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (is_meta(device)) fail_without_values("copy");
  about_to_wait(device, "its values are copied to the host");
  void* const stream = native_stream(device);
  copy_bytes(to, {}, from, device, bytes, stream);
  check_waited(device, stream, backend(device.type).stream_synchronize(device.index, stream));
}

void write_bytes(Device device, void* to, const void* from, size_t bytes) {
  if (!bytes) return;
  if (device.is_cpu())
    std::memcpy(to, from, bytes);
  else
    copy_to_device(device, to, from, bytes, native_stream(device));
}

void clear_bytes(Device device, void* data, size_t bytes) {
  if (!bytes) return;
  check_backend(backend(device.type).fill(device.index, data, 0, bytes, native_stream(device)));
}

}  // namespace libdl
