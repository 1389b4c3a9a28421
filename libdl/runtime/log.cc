// SPDX-License-Identifier: Apache-2.0

#include "runtime/log.h"

#include <pthread.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "base/contained.h"
#include "runtime/hook.h"

namespace libdl {
namespace {

constinit Hook<LogHandler> log_hook;
thread_local constinit bool telling = false;

[[maybe_unused]] const int log_fork_safe = pthread_atfork(
    [] { log_hook.before_fork(); }, [] { log_hook.after_fork(); }, [] { log_hook.after_fork(); });

}  // namespace

std::atomic<void (*)(const char* message)> warning_handler{nullptr};

void warn(const char* message) noexcept {
  auto* const handler = warning_handler.load(std::memory_order_acquire);
  if (!handler) return log(LogLevel::kWarning, "%s", message);
  contained([&] { handler(message); });
}

void set_log_handler(const LogHandler* handler) { log_hook.set(handler); }

bool logging() { return log_hook.is_set(); }

void log(LogLevel level, const char* format, ...) noexcept {
  if (telling) return;
  const auto handler = log_hook.get();
  if (!handler) return;
  char message[1024];
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(message, sizeof message, format, values);
  va_end(values);
  if (length < 0) return;
  telling = true;
  contained([&] {
    handler->fn(handler->ctx, static_cast<int32_t>(level), message,
                std::min<int64_t>(length, sizeof message - 1));
  });
  telling = false;
}

}  // namespace libdl
