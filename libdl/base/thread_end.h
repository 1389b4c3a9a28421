// SPDX-License-Identifier: Apache-2.0

// Cleanup when a thread ends. A thread_local object with a destructor would do, but the C library
// aborts the process if it has no memory to register the destructor; here that is reported.
#pragma once

#include <cstdint>

namespace libdl {

// Cleanups run in this order: each may still use what the later ones free.
enum class EndOrder : uint8_t { kState, kBlocks, kCells };

// A constinit thread_local object.
struct ThreadEnd {
  EndOrder order;
  void (*run)() noexcept;
  bool waiting = false;
  ThreadEnd* next = nullptr;
};

// run() is called once at the end of the calling thread. Registering it again before then costs
// nothing; if run() itself registers it, it runs once more. False if there is no memory.
bool at_thread_end(ThreadEnd& end) noexcept;

}  // namespace libdl
