// SPDX-License-Identifier: Apache-2.0

// Host callbacks that cannot report an error: a destroy, a handler. They must not throw; if one
// does, the exception is swallowed here rather than escaping through one of our destructors.
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
