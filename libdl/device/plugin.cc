// SPDX-License-Identifier: Apache-2.0

#include "device/plugin.h"

#include <dlfcn.h>

#include <atomic>
#include <climits>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/lock.h"
#include "base/source_location.h"
#include "base/uncancelled.h"
#include "build_info.h"
#include "device/provider.h"
#include "device/tables.h"
#include "runtime/futex.h"
#include "runtime/log.h"

namespace libdl {
namespace {

libdl_error* make_error(libdl_error_code code, const char* message) {
  try {
    // It makes a code that is none VALUE, as OK. Who calls the backend knows what for.
    auto error = Ref<libdl_error>::take(libdl_error_new(code, message, -1, nullptr, nullptr));
    error->unnamed = !error->is_static;
    return error.release();
  } catch (...) {
    return out_of_memory_error();
  }
}

const BackendHost kHost = {
    .struct_size = sizeof(BackendHost),
    .build_id = LIBDL_BUILD_ID,
    .error = make_error,
    .release = libdl_error_release,
    .warn = warn,
};

// The folder of the shared object (or program) that holds this function, with its last slash.
std::string own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

void* load(const std::string& library, std::string& reason) {
  const bool path = library.find('/') != std::string::npos;
  for (const std::string& at : {path ? library : own_folder() + library, library}) {
    if (void* handle = dlopen(at.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return handle;
    const char* text = dlerror();
    // The error of a plugin that exists but lacks a library is more useful than that of one not
    // found.
    const std::string said = text ? text : "unknown";
    if (reason.empty() || said.rfind(at, 0) != 0) reason = said;
  }
  return nullptr;
}

LIBDL_NORETURN void refuse(const std::string& name, const std::string& why LIBDL_SOURCE_LOCATION) {
  fail_unnamed(LIBDL_ERROR_BACKEND, name + ": " + why LIBDL_SAME_SOURCE_LOCATION);
}

template <class Table>
const Table* opened(void* handle, const char* symbol, const std::string& name,
                    const std::string& library) {
  using Open = libdl_error* (*)(const BackendHost*, const Table**);
  const auto open = reinterpret_cast<Open>(dlsym(handle, symbol));
  if (!open) return nullptr;
  const Table* table = nullptr;
  if (libdl_error* error = open(&kHost, &table)) throw Error::take(error);
  const char* const build = table && table->build_id ? table->build_id : "(none)";
  if (!table || std::strcmp(build, LIBDL_BUILD_ID) != 0)
    refuse(name, library + " is of build " + build + ", wanted " + LIBDL_BUILD_ID);
  if (table->struct_size < sizeof(Table))
    refuse(name, library + " gives a table with struct_size " + std::to_string(table->struct_size) +
                     ", wanted at least " + std::to_string(sizeof(Table)));
  if (table->kernel_count != kKernels)
    refuse(name, library + " gives a table of " + std::to_string(table->kernel_count) +
                     " kernels, wanted " + std::to_string(kKernels));
  return table;
}

struct Plugin {
  void* handle;
  const Backend* backend;    // NULL: it brings none
  const Provider* provider;  // likewise
};

// With Opening held: plugins are asked for their tables once.
Plugin open_tables(const std::string& name, const std::string& library) {
  constexpr int kMost = 64;
  static Plugin all[kMost];  // of plain data: a forked child finds it whole
  static int count = 0;
  std::string reason;
  void* const handle = load(library, reason);
  if (!handle) refuse(name, library + " was not found or could not be opened (" + reason + ")");
  for (int i = 0; i < count; ++i)
    if (all[i].handle == handle) return all[i];
  if (count == kMost) refuse(name, "64 plugins are open, and there is no room for " + library);
  const Plugin plugin = {handle, opened<Backend>(handle, "libdl_backend_open", name, library),
                         opened<Provider>(handle, "libdl_provider_open", name, library)};
  if (!plugin.backend && !plugin.provider)
    refuse(name, library +
                     " is no libdl plugin (it lacks libdl_backend_open and "
                     "libdl_provider_open)");
  all[count] = plugin;
  return all[count++];
}

// Plugins are opened one at a time. Opening runs code of theirs and of their libraries, which may
// call back here, so no lock is held meanwhile. Instead the opening thread stores the
// process_generation() here (0: none is opening); in a forked child the parent's value counts as 0.
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

 private:
  Uncancelled uncancelled_;
};

}  // namespace

const Backend& open_known(const KnownPlugin& known) {
  try {
    const Opening alone(known.name);
    const Plugin plugin = open_tables(known.name, known.library);
    if (!plugin.backend || plugin.backend->device_type != known.device_type)
      refuse(known.name, std::string(known.library) + " brings no such device");
    register_backend(*plugin.backend);
    log(LogLevel::kInfo, "%s: %s is open", known.name, known.library);
    return *plugin.backend;
  } catch (const Error& error) {
    // Once: programs ask device_count again and again, and who needs the device gets the error.
    static std::atomic<bool> reported = false;
    if (logging() && !reported.exchange(true, std::memory_order_relaxed))
      log(LogLevel::kInfo, "%s: the plugin did not open: %s", known.name, error.message().c_str());
    throw;
  }
}

void open_plugin(const char* library) {
  const Opening alone("plugin_open");
  const Plugin plugin = open_tables("plugin_open", library);
  if (plugin.provider) check_provider(*plugin.provider);  // before the device is there: all or none
  if (plugin.backend) register_backend(*plugin.backend);
  if (plugin.provider) register_provider(*plugin.provider);
  log(LogLevel::kInfo, "%s is open", library);
}

}  // namespace libdl
