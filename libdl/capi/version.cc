// SPDX-License-Identifier: Apache-2.0

// The version, how the library was built, and warnings.

#include <libdl/state.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "base/contained.h"
#include "capi/door.h"
#include "kernels/cpu/simd/isa.h"
#include "runtime/hook.h"
#include "runtime/log.h"
#include "runtime/thread_pool.h"
#include "tensor/storage.h"

using namespace libdl;
using namespace libdl::capi;

#define LIBDL_TEXT_(x) #x
#define LIBDL_TEXT(x) LIBDL_TEXT_(x)

int32_t libdl_version(void) {
  return LIBDL_VERSION_MAJOR * 10000 + LIBDL_VERSION_MINOR * 100 + LIBDL_VERSION_PATCH;
}

const char* libdl_version_string(void) {
  return LIBDL_TEXT(LIBDL_VERSION_MAJOR) "." LIBDL_TEXT(LIBDL_VERSION_MINOR) "." LIBDL_TEXT(
      LIBDL_VERSION_PATCH);
}

libdl_error* libdl_check_abi(int32_t major, int32_t minor) {
  return door("check_abi", [&] {
    const bool before_one = LIBDL_VERSION_MAJOR == 0;
    const bool fits = major == LIBDL_VERSION_MAJOR &&
                      (before_one ? minor == LIBDL_VERSION_MINOR : minor <= LIBDL_VERSION_MINOR);
    if (!fits || minor < 0)
      fail(LIBDL_ERROR_UNSUPPORTED, "check_abi",
           "the program was built against " + std::to_string(major) + "." + std::to_string(minor) +
               ", the library is " + libdl_version_string());
  });
}

const char* libdl_cpu_level(void) { return kernels::cpu::isa_name(kernels::cpu::isa()); }

const char* libdl_show_config(void) {
  static constinit thread_local char text[512] = "";
  std::snprintf(text, sizeof text, "libdl: %s\ncompiler: %s\ncpu kernels: %s\nthreads: %d\n",
                libdl_version_string(), __VERSION__, libdl_cpu_level(), threads());
  return text;
}

// -- warnings -------------------------------------------------------------------------------------

namespace {
struct Handler {
  void* ctx;
  void (*fn)(void* ctx, libdl_warning_code code, const char* message);
  void (*destroy)(void* ctx);
};
Hook<Handler> handler;

void warn_conversion(const char* op, size_t bytes) {
  const std::shared_ptr<const Handler> h = handler.get();
  if (!h) return;
  try {
    const bool back = std::strcmp(op, "plain") == 0;  // see make_plain
    const std::string message =
        back ? "plain: " + std::to_string(bytes) + " bytes were made of a layout of their own"
             : std::string(op) + ": packed " + std::to_string(bytes) +
                   " bytes into a layout of its own";
    apart([&] { h->fn(h->ctx, LIBDL_WARNING_CONVERSION, message.c_str()); });
  } catch (...) {  // no memory for a warning, or what the handler threw: it is dropped
  }
}

void warn_otherwise(const char* message) {
  if (const std::shared_ptr<const Handler> h = handler.get())
    h->fn(h->ctx, LIBDL_WARNING_OTHER, message);
}
}  // namespace

libdl_error* libdl_set_warning_handler(void (*fn)(void* ctx, libdl_warning_code code,
                                                  const char* message),
                                       void* ctx, void (*destroy_ctx)(void* ctx)) {
  return door("set_warning_handler", [&] {
    const Handler next = {ctx, fn, destroy_ctx};
    handler.set(fn ? &next : nullptr);
    if (!fn) run_destroy(destroy_ctx, ctx);
    conversion_warning = warn_conversion;
    warning_handler = fn ? warn_otherwise : nullptr;
  });
}

libdl_bool libdl_set_check_copies(libdl_bool enabled) {
  State& s = state();
  const bool before = s.mode & kModeCheckCopies;
  s.mode = enabled ? s.mode | kModeCheckCopies : s.mode & ~static_cast<uint32_t>(kModeCheckCopies);
  return before;
}

int64_t libdl_conversions(void) { return conversions(); }
