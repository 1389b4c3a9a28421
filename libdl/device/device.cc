// SPDX-License-Identifier: Apache-2.0

#include "device/device.h"

#include <climits>
#include <cstring>

#include "base/error.h"
#include "base/lock.h"
#include "device/backend_source.h"
#include "device/float_environment.h"
#include "device/futex.h"
#include "device/log.h"
#include "device/plugin.h"
#include "device/pool.h"
#include "device/stream.h"

namespace libdl {
namespace device_detail {

constinit std::atomic<const Backend*> backends[kDeviceTypes];
constinit std::atomic<uint8_t> special{0};

void missing_kernel(Device device, KernelId id) {
  static constexpr const char* kNames[] = {
#define KERNEL(name, Args) #name,
#include "kernels/kernels.def"
#undef KERNEL
  };
  fail_unnamed(LIBDL_ERROR_UNSUPPORTED, device_name(device) + ": the backend has no kernel " +
                                            kNames[static_cast<int32_t>(id)]);
}

void raise_interrupted() {
  fail_unnamed(LIBDL_ERROR_INTERRUPTED,
               "interrupted by the host; what was to be written is undefined");
}

}  // namespace device_detail

namespace {

using device_detail::backends;

const char* type_name(int32_t type) {
  switch (type) {
    case LIBDL_DEVICE_CPU:
      return "cpu";
    case LIBDL_DEVICE_CUDA:
      return "cuda";
    case LIBDL_DEVICE_CUDA_HOST:
      return "cuda_host";
    default:
      return nullptr;
  }
}

// Plugins are opened one at a time, by code of their own and of libraries that they bring, which
// may come back here. So no lock is held meanwhile: who opens leaves the process_generation() here
// (0: nobody opens), and in a forked child one that an absent thread has left counts as none.
std::atomic<uint32_t> opener{0};
constinit thread_local bool opens_here = false;

class Opening {
 public:
  explicit Opening(const char* name) {
    if (opens_here)
      fail_unnamed(LIBDL_ERROR_STATE,
                   std::string(name) + ": asked for by what runs while a plugin opens");
    const uint32_t mine = process_generation();
    for (uint32_t seen = 0; !opener.compare_exchange_weak(seen, mine, std::memory_order_acquire);) {
      if (seen != mine) continue;
      futex_wait(opener, seen);
      seen = 0;
    }
    opens_here = true;
  }
  ~Opening() {
    opens_here = false;
    opener.store(0, std::memory_order_release);
    futex_wake(opener, INT_MAX);
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
};

// One allocator for each device, made at its first use, never destroyed.
constexpr int32_t kMaxDevices = 64;
std::atomic<Allocator*> allocators[kDeviceTypes][kMaxDevices];

}  // namespace

std::string device_name(Device device) {
  const char* name = type_name(device.type);
  if (!name) return "device type " + std::to_string(device.type);
  return device.is_cpu() ? name : std::string(name) + ":" + std::to_string(device.index);
}

static const Backend& open_once(const char* name, const char* library, int32_t type) {
  try {
    const Opening alone(name);
    if (const Backend* table = backends[type].load(std::memory_order_acquire)) return *table;
    const Backend& table = open_backend(name, library, type);
    backends[type].store(&table, std::memory_order_release);
  } catch (const Error& error) {
    // Once: programs ask device_count again and again, and who needs the device gets the error.
    static std::atomic<bool> told = false;
    if (logging() && !told.exchange(true, std::memory_order_relaxed))
      log(LogLevel::kInfo, "%s: the plugin did not open: %s", name, error.message().c_str());
    throw;
  }
  log(LogLevel::kInfo, "%s: %s is open", name, library);
  return *backends[type].load(std::memory_order_acquire);
}

const Backend& backend(int32_t type) {
  if (type < 0 || type >= kDeviceTypes) {
    fail_unnamed(LIBDL_ERROR_DEVICE, "device type " + std::to_string(type) + " is unknown");
  }
  const Backend* table = backends[type].load(std::memory_order_acquire);
  if (table) return *table;
  if (type == LIBDL_DEVICE_CPU) {
    table = &cpu_backend();
  } else if (type == LIBDL_DEVICE_CUDA) {
    table = &open_once("cuda", "libdlcuda.so", LIBDL_DEVICE_CUDA);
  } else {
    fail_unnamed(LIBDL_ERROR_DEVICE, device_name({type, 0}) + ": no backend for this device type");
  }
  backends[type].store(table, std::memory_order_release);
  return *table;
}

void register_backend(const Backend& backend) {
  if (backend.device_type < 0 || backend.device_type >= kDeviceTypes) {
    fail_unnamed(LIBDL_ERROR_DEVICE,
                 "device type " + std::to_string(backend.device_type) + " is unknown");
  }
  backends[backend.device_type].store(&backend, std::memory_order_release);
}

void check_backend(libdl_error* error) {
  if (error) throw Error::take(error);
}

int32_t device_count(int32_t type) {
  int32_t count = 0;
  try {
    check_backend(backend(type).device_count(&count));
  } catch (const Error&) {
    return 0;
  }
  return count;
}

void check_device(const char* op, Device device) {
  int32_t count = 0;
  check_backend(backend(device.type).device_count(&count));
  if (device.index >= 0 && device.index < count) return;
  fail(LIBDL_ERROR_DEVICE, op,
       "device " + std::string(type_name(device.type) ? type_name(device.type) : "?") + ":" +
           std::to_string(device.index) + " does not exist; there are " + std::to_string(count));
}

DeviceProperties device_properties(Device device) {
  check_device("device_properties", device);
  DeviceProperties properties = {};
  properties.struct_size = sizeof properties;
  check_backend(backend(device.type).properties(device.index, &properties));
  return properties;
}

Allocator& allocator_for(Device device) {
  if (device.is_cpu()) return host_allocator();
  // Once made it is found without the driver, which may have failed by then: memory can always be
  // given back.
  const bool has_place = device.type >= 0 && device.type < kDeviceTypes && device.index >= 0 &&
                         device.index < kMaxDevices;
  if (has_place) {
    if (Allocator* made = allocators[device.type][device.index].load(std::memory_order_acquire))
      return *made;
  }
  check_device("allocator", device);
  if (!has_place) {
    fail_unnamed(LIBDL_ERROR_LIMIT, device_name(device) + ": more devices than libdl has room for");
  }
  std::atomic<Allocator*>& place = allocators[device.type][device.index];
  auto* fresh = new Allocator(device_name(device),
                              std::make_shared<BackendSource>(backend(device.type), device.index),
                              BackendSource::kRounding);
  Allocator* expected = nullptr;
  if (place.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *expected;
}

void synchronize(Device device) {
  check_device("synchronize", device);
  check_backend(backend(device.type).device_synchronize(device.index));
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                void* stream) {
  const Device where = to_device.is_cpu() ? from_device : to_device;
  check_backend(backend(where.type).copy(where.index, to, from, bytes, stream));
}

void read_bytes(void* to, Device device, const void* from, size_t bytes) {
  if (!bytes) return;
  void* const stream = device.is_cpu() ? nullptr : native_stream(device);
  copy_bytes(to, {}, from, device, bytes, stream);
  check_backend(backend(device.type).stream_synchronize(device.index, stream));
}

void write_bytes(Device device, void* to, Device from_device, const void* from, size_t bytes) {
  if (!bytes) return;
  void* const stream = device.is_cpu() ? nullptr : native_stream(device);
  copy_bytes(to, device, from, from_device, bytes, stream);
  check_backend(backend(device.type).stream_synchronize(device.index, stream));
}

void clear_bytes(Device device, void* data, size_t bytes) {
  if (!bytes) return;
  check_backend(backend(device.type).fill(device.index, data, 0, bytes, native_stream(device)));
}

kernels::Context context_for(Device device, bool* stopped) {
  return {.parallel = device_detail::run_chunks,
          .pool = stopped,
          .stream = device.is_cpu() ? nullptr : native_stream(device),
          .device = device.index};
}

void launch(Device device, KernelId id, const void* args) {
  const Kernel run = kernel(device, id);
  bool stopped = false;
  kernels::Context context = context_for(device, &stopped);
  const DefaultFloatEnvironment environment;
  run(&context, args);
  check_backend(static_cast<libdl_error*>(context.error));
  if (stopped) device_detail::raise_interrupted();
}

}  // namespace libdl
