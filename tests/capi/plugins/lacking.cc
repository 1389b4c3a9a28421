// SPDX-License-Identifier: Apache-2.0

// The abacus without memory.
#define libdl_backend_open whole_backend_open
#include "examples/plugins/abacus.cc"
#undef libdl_backend_open

extern "C" __attribute__((visibility("default"))) libdl_error *libdl_backend_open(
    const BackendHost *given, const Backend **backend) {
  static Backend lacking;
  libdl_error *const error = whole_backend_open(given, backend);
  if (error) return error;
  lacking = **backend;
  lacking.allocate = nullptr;
  *backend = &lacking;
  return nullptr;
}
