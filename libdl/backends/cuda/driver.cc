// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "backends/cuda/host.h"

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
  const char* const other = std::getenv("LIBDL_CUDA_DRIVER");
  const char* const library = other && *other ? other : "libcuda.so.1";
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
std::mutex entering;
thread_local int32_t entered = -1;

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

libdl_error* enter(int32_t device) {
  if (entered == device) return nullptr;
  const Driver& d = opened().driver;
  CUcontext context = contexts[device].load(std::memory_order_acquire);
  if (!context) {
    const std::lock_guard lock(entering);
    context = contexts[device].load(std::memory_order_acquire);
    if (!context) {
      CUdevice number;
      if (libdl_error* error = checked(d.cuDeviceGet(&number, device), "finding the device"))
        return error;
      if (libdl_error* error =
              checked(d.cuDevicePrimaryCtxRetain(&context, number), "making the device's context"))
        return error;
      contexts[device].store(context, std::memory_order_release);
    }
  }
  if (libdl_error* error = checked(d.cuCtxSetCurrent(context), "entering the device's context"))
    return error;
  entered = device;
  return nullptr;
}

}  // namespace libdl::cuda
