// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "backends/cuda/host.h"
#include "backends/cuda/test_hooks.h"

namespace libdl::cuda {

namespace {

// The oldest driver whose API the headers' structs fit: that of the toolkit's major version.
constexpr int kOldestDriver = CUDA_VERSION / 1000 * 1000;

struct Opened {
  Driver driver;
  bool serves = false;
  std::string why;
};

std::string result_text(const Driver& driver, CUresult result) {
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  return std::string(name ? name : "CUDA error " + std::to_string(result)) + " (" +
         (text ? text : "unknown") + ")";
}

void open(Opened& opened) {
  const char* const other = other_driver();
  const char* const library = other ? other : "libcuda.so.1";
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char* const reason = dlerror();
    opened.why = std::string("no NVIDIA driver: ") + library + " could not be opened (" +
                 (reason ? reason : "unknown") + ")";
    return;
  }
  Driver& driver = opened.driver;
  const char* missing = nullptr;
// The header's macros stand for the newest version of a function: the symbol is the expanded name.
#define LIBDL_TEXT(name) #name
#define DRIVER(name)                                                                      \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(handle, LIBDL_TEXT(name))); \
  if (!driver.name && !missing) missing = LIBDL_TEXT(name);
  LIBDL_CUDA_DRIVER_FUNCTIONS(DRIVER)
#undef DRIVER
#undef LIBDL_TEXT
  if (missing) {
    opened.why = std::string("the NVIDIA driver is too old: ") + library + " lacks " + missing;
    return;
  }
  driver.simulated_access =
      reinterpret_cast<decltype(driver.simulated_access)>(dlsym(handle, "libdl_simulated_access"));
  if (const CUresult result = driver.cuInit(0)) {
    opened.why = "the NVIDIA driver does not start: " + result_text(driver, result);
    return;
  }
  int version = 0;
  driver.cuDriverGetVersion(&version);
  if (version < kOldestDriver) {
    opened.why = "the NVIDIA driver is too old: it knows CUDA " + std::to_string(version / 1000) +
                 "." + std::to_string(version % 1000 / 10) + ", wanted " +
                 std::to_string(kOldestDriver / 1000) + ".0 or later";
    return;
  }
  opened.serves = true;
}

const Opened& opened() {
  static const Opened* const once = [] {
    auto* const made = new Opened;
    open(*made);
    return made;
  }();
  return *once;
}

std::atomic<CUcontext> contexts[kMostDevices];
std::mutex retaining;

libdl_error* retain(int32_t device, CUcontext* context) {
  const Driver& d = opened().driver;
  const std::lock_guard lock(retaining);
  *context = contexts[device].load(std::memory_order_acquire);
  if (*context) return nullptr;
  CUdevice number;
  if (libdl_error* error = checked(d.cuDeviceGet(&number, device), "finding the device"))
    return error;
  if (libdl_error* error =
          checked(d.cuDevicePrimaryCtxRetain(context, number), "making the device's context"))
    return error;
  contexts[device].store(*context, std::memory_order_release);
  return nullptr;
}

// The kernels queued last on a device. Threads that queue at once may lose each other's.
struct Recent {
  static constexpr uint32_t kKept = 8;
  std::atomic<uint32_t> count{0};
  std::atomic<const char*> names[kKept] = {};
};
Recent recent[kMostDevices];

// After these a context does no more work, until the process ends.
bool is_fault(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ECC_UNCORRECTABLE: return true;
    default: return false;
  }
}

std::string suspects(int32_t device) {
  const Recent& r = recent[device];
  const uint32_t count = r.count.load(std::memory_order_relaxed);
  std::string text;
  for (uint32_t i = 1; i <= std::min(count, Recent::kKept); ++i) {
    const char* const name = r.names[(count - i) % Recent::kKept].load(std::memory_order_relaxed);
    if (name) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace

const Driver* driver(const char** why) {
  const Opened& found = opened();
  if (found.serves) return &found.driver;
  if (why) *why = found.why.c_str();
  return nullptr;
}

libdl_error* checked(CUresult result, const char* doing) {
  if (result == CUDA_SUCCESS) return nullptr;
  const std::string text =
      std::string("cuda: ") + doing + " failed: " + result_text(opened().driver, result);
  const auto code =
      result == CUDA_ERROR_OUT_OF_MEMORY ? LIBDL_ERROR_OUT_OF_MEMORY : LIBDL_ERROR_BACKEND;
  return host().error(code, text.c_str());
}

libdl_error* checked(int32_t device, CUresult result, const char* doing) {
  if (!is_fault(result)) return checked(result, doing);
  const std::string text =
      "cuda: " + std::string(doing) + " failed: " + result_text(opened().driver, result) +
      ". A kernel failed on cuda:" + std::to_string(device) +
      ", which does no more work in this process. Queued last, the latest first: " +
      suspects(device);
  return host().error(LIBDL_ERROR_BACKEND, text.c_str());
}

void note_launch(int32_t device, const char* kernel) {
  Recent& r = recent[device];
  const uint32_t at = r.count.load(std::memory_order_relaxed);
  r.names[at % Recent::kKept].store(kernel, std::memory_order_relaxed);
  r.count.store(at + 1, std::memory_order_relaxed);
}

Entered::Entered(int32_t device) : error(nullptr) {
  const Driver& d = opened().driver;
  CUcontext own = contexts[device].load(std::memory_order_acquire), now = nullptr;
  if (!own && (error = retain(device, &own))) return;
  if ((error = checked(d.cuCtxGetCurrent(&now), "asking for the current context"))) return;
  if (now == own) return;
  error = checked(d.cuCtxSetCurrent(own), "entering the device's context");
  if (!error) before_ = now;
}

}  // namespace libdl::cuda
