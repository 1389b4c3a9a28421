// SPDX-License-Identifier: Apache-2.0

// Which devices there are, and how work reaches them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/place.h"
#include "device/allocator.h"
#include "device/backend.h"
#include "device/pool.h"
#include "device/state.h"

namespace libdl {

constexpr int32_t kDeviceTypes = 16;  // DLPack's numbers that libdl may come to know

// "cpu", "cuda:1"; "device type 7" for an unknown one.
std::string device_name(Device device);

// The backend of a device type. Its plugin is opened when first asked for. Throws
// Error(BACKEND), naming what is missing, or Error(DEVICE) for a type that libdl does not know.
const Backend& backend(int32_t device_type);

// Devices of a type; 0 where the plugin or the driver is missing.
int32_t device_count(int32_t device_type);

// Throws Error(DEVICE) naming what exists, or backend()'s errors.
void check_device(const char* op, Device device);

DeviceProperties device_properties(Device device);
Allocator& allocator_for(Device device);

// Waits for all work of the device, and throws what went wrong in it.
void synchronize(Device device);

// Queues a copy of plain bytes on a native stream (of the device that is not the CPU, if one is
// not). From or to the CPU it may return before the copy is done.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                void* stream);

// Throws the error that a backend's function has returned, if any.
void check_backend(libdl_error* error);

// The same between the host and a device, on its current stream; returns when it is done.
void read_bytes(void* to, Device device, const void* from, size_t bytes);
void write_bytes(Device device, void* to, Device from_device, const void* from, size_t bytes);
// Zero bytes, queued on the current stream.
void clear_bytes(Device device, void* data, size_t bytes);

// For tests and for programs that bring a backend of their own. It must live on.
void register_backend(const Backend& backend);

namespace device_detail {
extern constinit std::atomic<const Backend*> backends[kDeviceTypes];
extern constinit std::atomic<uint8_t> special __attribute__((visibility("hidden")));
constexpr uint8_t kElsewhere = 1, kPackedOnly = 2;
LIBDL_NORETURN void missing_kernel(Device device, KernelId id);
// The pool as kernels see it; *stopped becomes true if the host interrupts.
inline bool run_chunks(void* stopped, int64_t chunks, void (*body)(void*, int64_t, int64_t),
                       void* arg) {
  const bool finished = parallel(chunks, body, arg);
  if (!finished) *static_cast<bool*>(stopped) = true;
  return finished;
}
LIBDL_NORETURN void raise_interrupted();
}  // namespace device_detail

// Whether memory of another device than the CPU was ever made or taken over: until then no operator
// needs to compare the devices of its operands.
inline bool memory_elsewhere() {
  return device_detail::special.load(std::memory_order_relaxed) & device_detail::kElsewhere;
}
inline void note_memory_elsewhere() {
  device_detail::special.fetch_or(device_detail::kElsewhere, std::memory_order_relaxed);
}

// Whether there was that or a tensor whose bytes are in a form alone (tensor/forms.h): until then the
// operands of a launch have plain bytes on the CPU.
inline bool memory_is_special() {
  return device_detail::special.load(std::memory_order_relaxed) != 0;
}
inline void note_packed_only() {
  device_detail::special.fetch_or(device_detail::kPackedOnly, std::memory_order_relaxed);
}

// An index into a table. Throws Error(UNSUPPORTED) if the device has no such kernel.
inline Kernel kernel(Device device, KernelId id) {
  const uint32_t type = static_cast<uint32_t>(device.type);
  const Backend* table =
      type < kDeviceTypes ? device_detail::backends[type].load(std::memory_order_acquire) : nullptr;
  if (!table) table = &backend(device.type);
  const Kernel found = table->kernels[static_cast<int32_t>(id)];
  if (!found) device_detail::missing_kernel(device, id);
  return found;
}

// What kernels are told about where they run: the pool, and the state's current stream.
kernels::Context context_for(Device device, bool* stopped);

template <KernelId id>
struct KernelArguments;
#define KERNEL(name, Args)                 \
  template <>                              \
  struct KernelArguments<KernelId::name> { \
    using Type = kernels::Args;            \
  };
#include "kernels/kernels.def"
#undef KERNEL

// Runs a kernel: launch<KernelId::copy>(device, {.out = …, .in = …}). On the CPU it is done on
// return. Throws Error(INTERRUPTED) if the host stopped it halfway.
void launch(Device device, KernelId id, const void* args);
template <KernelId id>
void launch(Device device, const typename KernelArguments<id>::Type& args) {
  launch(device, id, &args);
}

}  // namespace libdl
