// SPDX-License-Identifier: Apache-2.0

// Messages to the host about events that are not errors of a call.
#pragma once

#include <atomic>
#include <cstdint>

namespace libdl {

enum class LogLevel : int32_t { kDebug, kInfo, kWarning, kError };

struct LogHandler {
  void* ctx;
  void (*fn)(void* ctx, int32_t level, const char* message, int64_t length);
  void (*destroy)(void* ctx);
};
void set_log_handler(const LogHandler* handler);  // NULL: nobody

// Whether a handler is set: one relaxed load. For messages that are costly to build.
bool logging();

// Never fails; messages are truncated at 1023 bytes. Do not call it while holding a lock that other
// calls take: the handler may wait for a lock of the host's whose holder waits for ours.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...) noexcept;

// Something that is right and probably not what was wanted: for the function that
// libdl_set_warning_handler was given, or where there is none for the log. The same rule for locks.
void warn(const char* message) noexcept;
extern std::atomic<void (*)(const char* message)> warning_handler;  // NULL: there is none

}  // namespace libdl
