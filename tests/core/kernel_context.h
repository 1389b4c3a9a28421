// SPDX-License-Identifier: Apache-2.0

// Launches for tests that call CPU kernels directly.
#pragma once

#include <libdl/device.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "kernels/context.h"

namespace libdl::kernels::test {

using Body = void (*)(void*, int64_t, int64_t);

// Ends where it ends, so that a sanitizer sees a step beyond, and holds NaN in every dtype.
inline void* allocate_exactly(Context& context, int64_t bytes) {
  void* data = nullptr;
  if (bytes < 0 || posix_memalign(&data, 64, static_cast<size_t>(bytes))) {
    context.stopped = 1;
    return nullptr;
  }
  return std::memset(data, 0xff, static_cast<size_t>(bytes));
}
inline void give_back(Context&, void* data, int64_t) { std::free(data); }

// How many threads kernels are told that there are.
inline int32_t told_threads = 2;
inline int32_t threads_told() { return told_threads; }

// A launch whose chunks `run(context, chunks, body, arg)` runs, a lambda that captures nothing.
template <class Run>
Context context_with(Run run) {
  static const Host host{LIBDL_DEVICE_CPU, run, allocate_exactly, give_back, threads_told};
  return {&host};
}
inline Context plain_context() {
  return context_with([](Context&, int64_t chunks, Body body, void* arg) {
    body(arg, 0, chunks);
    return true;
  });
}

}  // namespace libdl::kernels::test
