// SPDX-License-Identifier: Apache-2.0

// How the host's callbacks are called. Those that cannot report an error, a destroy or a handler,
// must not throw; if one does, the exception is swallowed here rather than escaping through one of
// our destructors.
#pragma once

#include <type_traits>

namespace libdl {

// Runs a host's code apart from what its caller has under way; set where states are known.
using Apart = void (*)(void (*run)(void*), void* arg);
inline constinit Apart run_apart = [](void (*run)(void*), void* arg) { run(arg); };

template <class F>
void apart(F&& call) {
  using Call = std::remove_reference_t<F>;
  run_apart([](void* context) { (*static_cast<Call*>(context))(); },
            const_cast<std::remove_const_t<Call>*>(&call));
}

template <class F>
void contained(F&& call) noexcept {
  try {
    apart(call);
  } catch (...) {
  }
}

inline void run_destroy(void (*destroy)(void*), void* ctx) noexcept {
  if (destroy) contained([&] { destroy(ctx); });
}

// For what an object held. Its destroy may release the next object, and that the next: a chain of
// any length takes a bounded stack, for the later ones wait until the outermost has returned. They
// have run when the call of the host that started the chain returns.
void run_destroy_in_turn(void (*destroy)(void*), void* ctx) noexcept;

}  // namespace libdl
