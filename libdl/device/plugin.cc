// SPDX-License-Identifier: Apache-2.0

#include "device/plugin.h"

#include <dlfcn.h>

#include <cstring>

#include "base/error.h"
#include "build_info.h"
#include "device/device.h"
#include "device/pool.h"

namespace libdl {
namespace {

libdl_error* make_error(libdl_error_code code, const char* message) {
  try {
    return Error(code, message).release();
  } catch (...) {
    return out_of_memory_error();
  }
}

libdl_error* allocate(int32_t device_type, int32_t device, size_t bytes, void* stream,
                      void** data) {
  try {
    *data = allocator_for({device_type, device}).allocate(bytes, stream);
    return nullptr;
  } catch (Error& error) {
    return error.release();
  } catch (...) {
    return out_of_memory_error();
  }
}

void deallocate(int32_t device_type, int32_t device, void* data, size_t bytes) {
  allocator_for({device_type, device}).deallocate(data, bytes);
}

const BackendHost kHost = {
    .struct_size = sizeof(BackendHost),
    .build_id = LIBDL_BUILD_ID,
    .error = make_error,
    .release = libdl_error_release,
    .parallel = parallel,
    .allocate = allocate,
    .deallocate = deallocate,
};

// The folder of the shared object (or program) that holds this function, with its last slash.
std::string own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

void* open(const std::string& library, std::string& reason) {
  const std::string folder = own_folder();
  for (const std::string& path : {folder + library, library}) {
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return handle;
    const char* text = dlerror();
    // A plugin that is there but lacks a library of its own says more than one that is not found.
    const std::string said = text ? text : "unknown";
    if (reason.empty() || said.rfind(path, 0) != 0) reason = said;
  }
  return nullptr;
}

}  // namespace

const Backend& open_backend(const std::string& name, const std::string& library,
                            int32_t device_type) {
  std::string reason;
  void* const handle = open(library, reason);
  if (!handle) {
    fail_unnamed(LIBDL_ERROR_BACKEND,
                 name + ": " + library + " was not found or could not be opened (" + reason + ")");
  }
  const auto begin = reinterpret_cast<BackendOpen>(dlsym(handle, "libdl_backend_open"));
  if (!begin) {
    fail_unnamed(LIBDL_ERROR_BACKEND,
                 name + ": " + library + " is no libdl backend (it lacks libdl_backend_open)");
  }
  const Backend* table = nullptr;
  if (libdl_error* error = begin(&kHost, &table)) throw Error::take(error);
  if (!table || table->struct_size < sizeof(Backend) || table->device_type != device_type ||
      table->kernel_count != kKernels || std::strcmp(table->build_id, LIBDL_BUILD_ID) != 0) {
    fail_unnamed(LIBDL_ERROR_BACKEND, name + ": " + library + " is of build " +
                                          (table && table->build_id ? table->build_id : "(none)") +
                                          ", wanted " + LIBDL_BUILD_ID);
  }
  return *table;
}

}  // namespace libdl
