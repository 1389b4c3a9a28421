// SPDX-License-Identifier: Apache-2.0

#include "memory/pressure.h"

#include <pthread.h>

#include <atomic>

#include "base/contained.h"
#include "runtime/hook.h"

namespace libdl {
namespace {

constinit Hook<PressureCallback> pressure_hook;
std::atomic<void (*)(int64_t)> pressure_handlers[8];
thread_local constinit bool relieving = false;

[[maybe_unused]] const int pressure_fork_safe =
    pthread_atfork([] { pressure_hook.before_fork(); }, [] { pressure_hook.after_fork(); },
                   [] { pressure_hook.after_fork(); });

}  // namespace

void set_pressure_callback(const PressureCallback* callback) { pressure_hook.set(callback); }

void add_pressure_handler(void (*relieve)(int64_t bytes)) {
  for (auto& handler : pressure_handlers) {
    void (*expected)(int64_t) = nullptr;
    if (handler.compare_exchange_strong(expected, relieve) || expected == relieve) return;
  }
}

void relieve_pressure(int64_t bytes) {
  if (relieving) return;  // a callback that itself runs out of memory
  relieving = true;
  for (auto& handler : pressure_handlers) {
    if (auto* relieve = handler.load(std::memory_order_acquire)) relieve(bytes);
  }
  if (const auto callback = pressure_hook.get()) {
    contained([&] { callback->relieve(callback->ctx, bytes); });
  }
  relieving = false;
}

}  // namespace libdl
