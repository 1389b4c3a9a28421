// SPDX-License-Identifier: Apache-2.0

// What is to be done when a thread ends. A thread_local object with a destructor would do, but the
// C library ends the process where it finds no memory to note the destructor; here that can be
// told.
#pragma once

#include <cstdint>

namespace libdl {

// Who comes later finds what earlier ones need still in place.
enum class EndOrder : uint8_t { kState, kBlocks, kCells };

// A constinit thread_local object.
struct ThreadEnd {
  EndOrder order;
  void (*run)() noexcept;
  bool waiting = false;
  ThreadEnd* next = nullptr;
};

// run() is called once at the end of the calling thread. Asking again before that is free; asked
// from within, it runs once more. False without memory.
bool at_thread_end(ThreadEnd& end) noexcept;

}  // namespace libdl
