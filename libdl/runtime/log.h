// SPDX-License-Identifier: Apache-2.0

// What the library tells its host about events that are no errors of a call.
#pragma once

#include <cstdint>

namespace libdl {

enum class LogLevel : int32_t { kDebug, kInfo, kWarning, kError };

struct LogHandler {
  void* ctx;
  void (*fn)(void* ctx, int32_t level, const char* message, int64_t length);
  void (*destroy)(void* ctx);
};
void set_log_handler(const LogHandler* handler);  // NULL: nobody

// Whether anybody listens: one relaxed load. For messages whose parts cost something.
bool logging();

// Never fails; a message is cut at 1023 bytes. Not to be called under a lock that other calls take:
// the handler may wait for a lock of the host's, whose holder waits for ours.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...) noexcept;

}  // namespace libdl
