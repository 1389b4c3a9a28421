// SPDX-License-Identifier: Apache-2.0

// Setting the log handler, which is first told the settings in effect.

#include "runtime/log.h"

#include <libdl/state.h>

#include <cstdlib>
#include <cstring>

#include "base/contained.h"
#include "capi/door.h"
#include "device/provider.h"
#include "kernels/cpu/simd/isa.h"
#include "memory/host_source.h"
#include "runtime/mechanism.h"
#include "runtime/thread_pool.h"

using namespace libdl;
using namespace libdl::capi;

static_assert(LIBDL_LOG_DEBUG == static_cast<int>(LogLevel::kDebug));
static_assert(LIBDL_LOG_INFO == static_cast<int>(LogLevel::kInfo));
static_assert(LIBDL_LOG_WARNING == static_cast<int>(LogLevel::kWarning));
static_assert(LIBDL_LOG_ERROR == static_cast<int>(LogLevel::kError));

static void tell_ignored(const char* variable, const char* value, const char* wanted) {
  log(LogLevel::kWarning, "environment: %s=%.100s is not in effect, wanted %s", variable, value,
      wanted);
}

// A plugin that is loaded later may have the name. split_products is read by the kernels.
static void tell_unknown(void*, std::string_view name) {
  if (name == "split_products" || has_provider(name)) return;
  const std::string shown(name.substr(0, 100));
  log(LogLevel::kWarning,
      "environment: LIBDL_DISABLE=%s names no mechanism, and no provider that is loaded so far",
      shown.c_str());
}

static void tell_set_up() {
  const char* const isa = libdl_cpu_level();
  log(LogLevel::kInfo, "cpu: kernels for %s", isa);
  log(LogLevel::kInfo, "threads: %d", threads());
  if (const char* text = std::getenv("LIBDL_CPU"); text && std::strcmp(text, isa) != 0)
    tell_ignored("LIBDL_CPU", text, "baseline, avx2 or avx512, and none that the machine lacks");
  if (const char* text = std::getenv("LIBDL_NUM_THREADS"); text && !parse_threads(text))
    tell_ignored("LIBDL_NUM_THREADS", text, "1 to 1024");
  if (const char* text = std::getenv("LIBDL_MEMORY_LIMIT"); text && parse_bytes(text) == 0)
    tell_ignored("LIBDL_MEMORY_LIMIT", text, "bytes, or a number with K, M, G or T");
  if (const char* text = std::getenv("LIBDL_MEMORY_KEEP"); text && !is_kept_at_most(text))
    tell_ignored("LIBDL_MEMORY_KEEP", text, "0, bytes, or a number with K, M, G or T");
  if (const char* text = std::getenv("LIBDL_DEBUG_HANDLES"); text && !handles_are_tracked)
    tell_ignored("LIBDL_DEBUG_HANDLES", text, "1");
  for_each_other_name(tell_unknown, nullptr);
}

libdl_error* libdl_set_log_handler(void (*fn)(void* ctx, libdl_log_level level, const char* message,
                                              int64_t length),
                                   void* ctx, void (*destroy_ctx)(void* ctx)) {
  return door("set_log_handler", [&] {
    const LogHandler handler = {ctx, fn, destroy_ctx};
    set_log_handler(fn ? &handler : nullptr);
    if (fn) tell_set_up();
    if (!fn) run_destroy(destroy_ctx, ctx);
  });
}
