// SPDX-License-Identifier: Apache-2.0

// Sleeping on a word. The kernel keeps the queue, so a fork cannot leave anything here
// inconsistent.
#pragma once

#include <atomic>
#include <cstdint>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace libdl {

// Sleeps while the word holds `seen`; may wake early, so callers loop.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t seen) {
#ifdef __linux__
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
#else
  word.wait(seen);
#endif
}

inline void futex_wake(std::atomic<uint32_t>& word, int sleepers) {
#ifdef __linux__
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, sleepers, nullptr, nullptr, 0);
#else
  sleepers == 1 ? word.notify_one() : word.notify_all();
#endif
}

}  // namespace libdl
