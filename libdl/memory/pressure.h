// SPDX-License-Identifier: Apache-2.0

// Callbacks that free memory when it runs out.
#pragma once

#include <cstdint>

namespace libdl {

// Called on the requesting thread when memory runs out, to free what it can before the request is
// retried once. `bytes` is the size of the request. The host program may set one callback (which
// may run a garbage collector); parts of the library add handlers of their own, which stay.
struct PressureCallback {
  void* ctx;
  void (*relieve)(void* ctx, int64_t bytes);
  void (*destroy)(void* ctx);
};
void set_pressure_callback(const PressureCallback* callback);
void add_pressure_handler(void (*relieve)(int64_t bytes));

void relieve_pressure(int64_t bytes);  // calls them all; does nothing when called from one of them

}  // namespace libdl
