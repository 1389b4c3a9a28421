// SPDX-License-Identifier: Apache-2.0

#include <libdl/threads.h>

#include "capi/callback.h"
#include "capi/device_arguments.h"
#include "device/pool.h"

using namespace libdl;
using namespace libdl::capi;

static_assert(LIBDL_MAX_THREADS == kMaxThreads);

libdl_error* libdl_set_threads(int32_t threads) {
  constexpr const char* function = "set_threads";
  return door(function, [&] {
    if (threads < 1 || threads > kMaxThreads) {
      fail_argument(LIBDL_ERROR_VALUE, function, 1, "threads", "is " + std::to_string(threads),
                    "1 to " + std::to_string(kMaxThreads));
    }
    set_threads(threads);
  });
}

int32_t libdl_get_threads(void) { return threads(); }

static Executor checked(const char* function, const libdl_executor* executor) {
  const libdl_executor e = take_sized(function, 1, "executor", executor, sizeof(libdl_executor));
  if (!e.run) {
    fail_argument(LIBDL_ERROR_NULL, function, 1, "executor", "has no run", "a function");
  }
  if (e.concurrency < 1) {
    fail_argument(LIBDL_ERROR_VALUE, function, 1, "executor",
                  "has concurrency " + std::to_string(e.concurrency), "1 or more");
  }
  return {e.ctx, e.run, e.concurrency, e.destroy};
}

libdl_error* libdl_set_executor(const libdl_executor* executor) {
  constexpr const char* function = "set_executor";
  Callback owner = given_callback(executor);
  return door(function, [&] {
    if (!executor) return set_executor(nullptr);
    const Executor checked_one = checked(function, executor);
    owner.let_go();
    set_executor(&checked_one);
  });
}

libdl_error* libdl_set_interruption(libdl_interruption ask, void* ctx, void (*destroy)(void* ctx)) {
  return door("set_interruption", [&] {
    const Interruption interruption = {ctx, ask, destroy};
    set_interruption(ask ? &interruption : nullptr);
    if (!ask && destroy) destroy(ctx);
  });
}
