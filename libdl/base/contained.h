// SPDX-License-Identifier: Apache-2.0

// Callbacks of the host's that can tell no error: a destroy, a handler. They must not throw; where
// one does, its exception ends here, and not in a destructor of ours.
#pragma once

namespace libdl {

template <class F>
void contained(F&& call) noexcept {
  try {
    call();
  } catch (...) {
  }
}

inline void run_destroy(void (*destroy)(void*), void* ctx) noexcept {
  if (destroy) contained([&] { destroy(ctx); });
}

}  // namespace libdl
