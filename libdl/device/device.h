// SPDX-License-Identifier: Apache-2.0

// Which devices exist, and how work reaches them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/source_location.h"
#include "device/backend.h"
#include "device/state.h"
#include "memory/allocator.h"

namespace libdl {

constexpr int32_t kDeviceTypes = 32;  // DLPack's numbers, and room for more

// "cpu", "meta", "cuda:1"; "device type 7" for an unknown one.
std::string device_name(Device device);

// The backend of a device type. Its plugin is opened on first use. Throws Error(BACKEND), naming
// what is missing, or Error(DEVICE) for a type that libdl does not know.
const Backend& backend(int32_t device_type);

// The number of devices of a type; 0 if the plugin or the driver is missing.
int32_t device_count(int32_t device_type);

// Throws Error(DEVICE), naming the devices that exist, or backend()'s errors.
void check_device(const char* op, Device device);

DeviceProperties device_properties(Device device);
Allocator& allocator_for(Device device);

// Waits for all work on the device, and throws its errors.
void synchronize(Device device);

// Queues a copy of plain bytes on a native stream, of from_device unless that is the CPU. It may
// return before the copy is done.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                void* stream);

// Throws the error that a backend's function returned, if any.
void check_backend(libdl_error* error);
// Likewise of a call that waited for a stream; then throws what finished kernels complain of.
void check_waited(Device device, void* stream, libdl_error* error);

// A LIBDL_SYNC_ constant: what a wait that nobody asked for does.
extern std::atomic<int32_t> sync_debug_mode;
// To be called before one: may warn, or throw Error(STATE). why: what the host waits for.
void about_to_wait(Device device, const char* why);

// Copies between the host and a device, on its current stream. read_bytes returns when the copy is
// done, write_bytes when `from` may change.
void read_bytes(void* to, Device device, const void* from, size_t bytes);
void write_bytes(Device device, void* to, const void* from, size_t bytes);
// Zero bytes, queued on the current stream.
void clear_bytes(Device device, void* data, size_t bytes);

// Registers a kind of device; the table must stay valid. Throws Error(DEVICE) for a type or a name
// that is taken, Error(BACKEND) for a table that lacks an entry.
void register_backend(const Backend& backend);

// A device type's number by its name (0 if unknown), and its name by number (NULL if unknown). The
// core knows the names of plugins that it has not opened yet.
int32_t device_type_named(const char* name);
const char* device_type_name(int32_t type);

namespace device_detail {
extern constinit std::atomic<const Backend*> backends[kDeviceTypes];
extern constinit std::atomic<uint8_t> special __attribute__((visibility("hidden")));
constexpr uint8_t kElsewhere = 1, kPackedOnly = 2, kProviders = 4;
inline uint8_t special_now() { return special.load(std::memory_order_relaxed); }
inline void note(uint8_t what) { special.fetch_or(what, std::memory_order_relaxed); }
}  // namespace device_detail

// Whether memory of any device other than the CPU was ever allocated or adopted: until then no
// operator needs to compare the devices of its operands.
inline bool memory_elsewhere() { return device_detail::special_now() & device_detail::kElsewhere; }
inline void note_memory_elsewhere() { device_detail::note(device_detail::kElsewhere); }

// Whether there was such memory, or a tensor whose bytes exist only as a packed form
// (tensor/forms.h): until then all operands of a launch have plain bytes on the CPU.
inline bool memory_is_special() {
  using namespace device_detail;
  return special_now() & (kElsewhere | kPackedOnly);
}
inline void note_packed_only() { device_detail::note(device_detail::kPackedOnly); }

// Whether there was memory elsewhere or a provider: until then the CPU's own kernels run every
// launch.
inline bool launches_are_special() {
  using namespace device_detail;
  return special_now() & (kElsewhere | kProviders);
}
inline void note_providers() { device_detail::note(device_detail::kProviders); }

}  // namespace libdl
