// SPDX-License-Identifier: Apache-2.0

// Who frees memory when it runs out.
#pragma once

#include <cstdint>

namespace libdl {

// Asked when memory runs out, before the request is tried once more: free what you can, on the
// calling thread. `bytes` is what is missing. One callback is the host program's (a collector may
// run in it); rooms of the library add theirs, which stay.
struct PressureCallback {
  void* ctx;
  void (*relieve)(void* ctx, int64_t bytes);
  void (*destroy)(void* ctx);
};
void set_pressure_callback(const PressureCallback* callback);
void add_pressure_handler(void (*relieve)(int64_t bytes));

void relieve_pressure(int64_t bytes);  // asks them all; nothing where one of them asks for it

}  // namespace libdl
