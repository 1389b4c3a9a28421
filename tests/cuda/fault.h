// SPDX-License-Identifier: Apache-2.0

// What ends a kernel on a device, and its context with it: here it ends the running work, and the
// process goes on.
#pragma once

#include <functional>

namespace emulator {

struct Fault {
  int result = 0;  // a CUresult; 0: none
  const void* address = nullptr;
  const char* why = nullptr;
};

// Runs work on this thread. `touched` is asked about each address that is closed: it opens it, or
// returns false if the work must not touch it. One at a time.
Fault guarded(const std::function<void()>& work, bool (*touched)(const void* address));

// Ends the running work. Nothing on the stacks that are left is destroyed: kernels own nothing.
[[noreturn]] void fail(const Fault& fault);

}  // namespace emulator
